package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"
	"golang.org/x/net/netutil"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/recovery"
)

// Metrics are the numbers that Prometheus may read of this ccbot. They hold counts and times, no
// names and no texts.
type Metrics struct {
	registry *prometheus.Registry
	now      func() time.Time
	reading  sync.Mutex
	readAt   time.Time // of page
	page     []byte    // the last reading, which serves everyone for a second
	took     prometheus.Gauge
	actions  *prometheus.CounterVec
	notices  *prometheus.GaugeVec
	ages     atomic.Pointer[prometheus.Metric]
	purged   *prometheus.HistogramVec
	loops    *prometheus.HistogramVec // ages at their ends
	loopsOut *prometheus.HistogramVec // ages since their ends, when they were removed
	cleaned  *prometheus.CounterVec   // worktrees of loops
	ended    *prometheus.CounterVec
	in       prometheus.Histogram
	out      prometheus.Histogram
	asked    prometheus.Counter
	listener net.Listener // nil: disabled
}

// New makes the metrics; states counts the sessions at each reading.
func New(states func() map[session.State]int) *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), now: time.Now,
		took: prometheus.NewGauge(prometheus.GaugeOpts{Name: "ccbot_recovery_duration_seconds",
			Help: "How long the last recovery took."}),
		actions: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ccbot_recovery_actions_total",
			Help: "Actions of recoveries on sessions; result is ok or failed."}, []string{"do", "result"}),
		notices: prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: "ccbot_recovery_notices",
			Help: "Findings of the last recovery that it left unchanged."}, []string{"kind"})}
	const day = 24 * 60 * 60
	m.purged = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ccbot_session_purged_age_seconds",
		Help: "How long after their end records went, by state.", Buckets: []float64{day, 7 * day, 30 * day, 90 * day, 365 * day}},
		[]string{"state"})
	m.loops = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ccbot_loop_age_seconds",
		Help: "How old loops were at their end, by outcome.", Buckets: []float64{60, 600, 3600, 6 * 3600, day, 7 * day}}, []string{"outcome"})
	m.loopsOut = prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "ccbot_loop_purged_age_seconds",
		Help: "How long after their end loops went, by outcome.", Buckets: []float64{day, 7 * day, 30 * day, 90 * day, 365 * day}}, []string{"outcome"})
	m.cleaned = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ccbot_loop_worktrees_total",
		Help: "Removals of worktrees of loops; result is ok or failed."}, []string{"result"})
	m.ended = prometheus.NewCounterVec(prometheus.CounterOpts{Name: "ccbot_processes_ended_total",
		Help: "Processes that /kill, /done, the idle sweep and retries tried to end; outcome is hup, term, kill, failed or spared."},
		[]string{"outcome"})
	m.measureWays()
	m.setAges(nil)
	m.registry.MustRegister(m.in, m.out, m.asked, m.ended, m.took, m.actions, m.notices, m.purged, m.loops, m.loopsOut, m.cleaned, prometheus.CollectorFunc(func(out chan<- prometheus.Metric) { out <- *m.ages.Load() }),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, state := range session.States() {
		m.registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "ccbot_sessions", Help: "Sessions by state.",
			ConstLabels: prometheus.Labels{"state": string(state)}}, func() float64 { return float64(states()[state]) }))
	}
	return m
}

// Recovered notes what a recovery did.
func (m *Metrics) Recovered(r recovery.Report) {
	m.took.Set(r.Took.Seconds())
	m.Acted(r.Results)
	m.notices.Reset()
	for _, n := range r.Notices {
		m.notices.WithLabelValues(string(n.Kind)).Inc()
	}
	m.setAges(r.Ages)
}

var agesDesc = prometheus.NewDesc("ccbot_recovery_session_age_seconds",
	"Time since the last sign of life of the open sessions, at the last recovery.", nil, nil)

// setAges rebuilds the histogram of the ages in a report. Each of its buckets counts those before
// as well; the sum is unknown.
func (m *Metrics) setAges(ages []recovery.AgeBucket) {
	buckets, count := make(map[float64]uint64), uint64(0)
	for _, a := range ages {
		count += uint64(max(a.Count, 0))
		if a.UpTo > 0 {
			buckets[a.UpTo.Seconds()] = count
		}
	}
	histogram := prometheus.MustNewConstHistogram(agesDesc, count, math.NaN(), buckets)
	m.ages.Store(&histogram)
}

// Forgot counts a record that has gone.
func (m *Metrics) Forgot(state session.State, age time.Duration) {
	m.purged.WithLabelValues(string(state)).Observe(age.Seconds())
}

// LoopEnded counts a loop that has ended.
func (m *Metrics) LoopEnded(outcome port.LoopState, age time.Duration) {
	m.loops.WithLabelValues(string(outcome)).Observe(age.Seconds())
}

// LoopPurged counts a loop that was removed.
func (m *Metrics) LoopPurged(outcome port.LoopState, age time.Duration) {
	m.loopsOut.WithLabelValues(string(outcome)).Observe(age.Seconds())
}

// WorktreeCleaned counts a removal of a worktree of a loop, or its failure.
func (m *Metrics) WorktreeCleaned(ok bool) {
	result := "failed"
	if ok {
		result = "ok"
	}
	m.cleaned.WithLabelValues(result).Inc()
}

// End counts an attempt to end a process, by the outcome.
func (m *Metrics) End(outcome string) { m.ended.WithLabelValues(outcome).Inc() }

// Acted counts the actions of a recovery, also of one that was cut short.
func (m *Metrics) Acted(results []recovery.Result) {
	for _, result := range results {
		word := "ok"
		if result.Err != nil {
			word = "failed"
		}
		m.actions.WithLabelValues(string(result.Action.Do), word).Inc()
	}
}

// Listen opens METRICS_ADDR; empty: metrics are disabled.
func (m *Metrics) Listen(ctx context.Context, addr string) (err error) {
	if addr != "" {
		m.listener, err = Open(ctx, addr)
	}
	return err
}

// Open listens at METRICS_ADDR. Only a person removes the cause of an error.
func Open(ctx context.Context, addr string) (net.Listener, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, exit.Usage(fmt.Errorf("METRICS_ADDR: %w; %s", err, Remedy(err)))
	}
	return l, nil
}

// Remedy returns the next step after an error of Open.
func Remedy(err error) string {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return "choose another port, or end the program that listens there"
	case errors.Is(err, syscall.EACCES):
		return "choose a port above 1023"
	}
	return "choose an address of this machine, as 127.0.0.1:9095"
}

// The bounds of what readers can cost: each connection carries one request, and ends in time.
const (
	maxConnections  = 16
	readingInterval = time.Second // a reading looks at all processes
	headerTimeout   = 5 * time.Second
	replyTimeout    = 30 * time.Second
)

// serve writes the text format, which every reader takes; promhttp would link all others.
func (m *Metrics) serve(w http.ResponseWriter, _ *http.Request) {
	page, err := m.read()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	_, _ = w.Write(page) // an error means that the reader has gone
}

// read returns the figures of at most a second ago.
func (m *Metrics) read() ([]byte, error) {
	m.reading.Lock()
	defer m.reading.Unlock()
	now := m.now()
	if m.page != nil && now.Sub(m.readAt) < readingInterval {
		return m.page, nil
	}
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	var page bytes.Buffer
	for _, f := range families {
		if _, err := expfmt.MetricFamilyToText(&page, f); err != nil {
			return nil, err
		}
	}
	m.page, m.readAt = page.Bytes(), now
	return m.page, nil
}

// Run serves /metrics until ctx ends.
func (m *Metrics) Run(ctx context.Context) error {
	if m.listener == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", m.serve)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: replyTimeout + headerTimeout, MaxHeaderBytes: 16 << 10}
	server.SetKeepAlivesEnabled(false)
	stop := context.AfterFunc(ctx, func() { _ = server.Close() })
	defer stop()
	if err := server.Serve(netutil.LimitListener(m.listener, maxConnections)); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}
