package metrics

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
	"ccbot/recovery"
)

// scrape reads the metrics as Prometheus does, by name and labels.
func scrape(t *testing.T, addr string) map[string]string {
	t.Helper()
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	values := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		if i := strings.LastIndexByte(line, ' '); i > 0 && !strings.HasPrefix(line, "#") {
			values[line[:i]] = strings.TrimSpace(line[i+1:])
		}
	}
	return values
}

// serve runs the metrics until the end of the test, and returns their address.
func serve(t *testing.T, m *Metrics) (addr string) {
	t.Helper()
	if m.listener == nil {
		require.NoError(t, m.Listen(t.Context(), "127.0.0.1:0"))
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	t.Cleanup(func() {
		stop()
		assert.NoError(t, <-ended)
	})
	return m.listener.Addr().String()
}

func TestReadingsAreBounded(t *testing.T) {
	readings := 0
	m := New(func() map[session.State]int { readings++; return nil })
	now := time.Unix(1, 0)
	m.now = func() time.Time { return now }
	addr := serve(t, m)
	for range 50 {
		scrape(t, addr)
	}
	assert.Equal(t, len(session.States()), readings, "one reading asks once for each state")
	now = now.Add(time.Second - 1)
	scrape(t, addr)
	assert.Equal(t, len(session.States()), readings, "not a second later")
	now = now.Add(1)
	scrape(t, addr)
	assert.Equal(t, 2*len(session.States()), readings)
}

// counting counts the open connections of a listener.
type counting struct {
	net.Listener
	open, most atomic.Int32
}

func (c *counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.most.Store(max(c.most.Load(), c.open.Add(1)))
	}
	return counted{conn, c}, err
}

type counted struct {
	net.Conn
	of *counting
}

func (c counted) Close() error {
	c.of.open.Add(-1)
	return c.Conn.Close()
}

func TestConnectionsAreBounded(t *testing.T) {
	m := New(func() map[session.State]int { return nil })
	require.NoError(t, m.Listen(t.Context(), "127.0.0.1:0"))
	count := &counting{Listener: m.listener}
	m.listener = count
	addr := serve(t, m)
	open := make([]net.Conn, 2*maxConnections)
	for n := range open {
		var err error
		open[n], err = net.Dial("tcp", addr)
		require.NoError(t, err)
		defer open[n].Close()
		_, err = io.WriteString(open[n], "GET /metrics HTTP/1.1\r\n") // the rest never comes
		require.NoError(t, err)
	}
	assert.Contains(t, scrape(t, addr), "go_goroutines", "a reader is served once the deadlines have ended the others")
	assert.EqualValues(t, maxConnections, count.most.Load())

	// A connection carries one request.
	resp, err := http.Get("http://" + addr + "/metrics")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.True(t, resp.Close)
}

// TestMetricsTellTheReport, and the sessions as they are at the reading.
func TestMetricsTellTheReport(t *testing.T) {
	counts := map[session.State]int{session.Running: 1, session.Lost: 0}
	m := New(func() map[session.State]int { return counts })
	seconds := 0
	m.now = func() time.Time { seconds++; return time.Unix(int64(seconds), 0) }
	addr := serve(t, m)

	report := recovery.Report{Took: 1500 * time.Millisecond,
		Ages: []recovery.AgeBucket{{UpTo: time.Hour, Count: 1}, {UpTo: 24 * time.Hour}, {Count: 2}},
		Results: []recovery.Result{{Action: recovery.Action{Do: lifecycle.MarkLost}},
			{Action: recovery.Action{Do: lifecycle.Discard}, Err: errors.New("no room")}},
		Notices: []recovery.Notice{{Kind: recovery.OrphanWindow}}}
	m.Recovered(report)
	for _, outcome := range []string{"hup", "failed", "hup"} {
		m.End(outcome)
	}
	for _, ok := range []bool{true, false, true} {
		m.WorktreeCleaned(ok)
	}
	got := scrape(t, addr)
	for name, want := range map[string]string{
		`ccbot_processes_ended_total{outcome="hup"}`:                 "2",
		`ccbot_processes_ended_total{outcome="failed"}`:              "1",
		`ccbot_loop_worktrees_total{result="ok"}`:                    "2",
		`ccbot_loop_worktrees_total{result="failed"}`:                "1",
		`ccbot_recovery_duration_seconds`:                            "1.5",
		`ccbot_recovery_actions_total{do="mark_lost",result="ok"}`:   "1",
		`ccbot_recovery_actions_total{do="discard",result="failed"}`: "1",
		`ccbot_recovery_notices{kind="orphan_window"}`:               "1",
		`ccbot_recovery_session_age_seconds_bucket{le="3600"}`:       "1",
		`ccbot_recovery_session_age_seconds_bucket{le="86400"}`:      "1",
		`ccbot_recovery_session_age_seconds_bucket{le="+Inf"}`:       "3",
		`ccbot_recovery_session_age_seconds_count`:                   "3",
		`ccbot_sessions{state="running"}`:                            "1",
		`ccbot_sessions{state="lost"}`:                               "0",
	} {
		assert.Equal(t, want, got[name], name)
	}
	assert.Contains(t, got, "go_goroutines")

	counts = map[session.State]int{session.Running: 0, session.Lost: 1}
	m.Recovered(recovery.Report{Results: report.Results})
	got = scrape(t, addr)
	assert.Equal(t, "1", got[`ccbot_sessions{state="lost"}`], "at the reading, not at the recovery")
	assert.Equal(t, "2", got[`ccbot_recovery_actions_total{do="mark_lost",result="ok"}`])
	assert.NotContains(t, got, `ccbot_recovery_notices{kind="orphan_window"}`, "of the last one only")
	assert.Equal(t, "0", got[`ccbot_recovery_session_age_seconds_count`])

	m.Forgot(session.Lost, 40*24*time.Hour)
	got = scrape(t, addr)
	assert.Equal(t, "0", got[`ccbot_session_purged_age_seconds_bucket{state="lost",le="2.592e+06"}`])
	assert.Equal(t, "1", got[`ccbot_session_purged_age_seconds_bucket{state="lost",le="7.776e+06"}`])

	m.Acted(report.Results) // of one that was cut short
	assert.Equal(t, "3", scrape(t, addr)[`ccbot_recovery_actions_total{do="mark_lost",result="ok"}`])

	resp, err := http.Post("http://"+addr+"/metrics", "", nil)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	assert.Equal(t, http.StatusMethodNotAllowed, resp.StatusCode)
}

func TestMetricsThatCannotBeServed(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	m := New(func() map[session.State]int { return nil })
	err = m.Listen(t.Context(), taken.Addr().String())
	require.ErrorContains(t, err, "METRICS_ADDR")
	assert.Equal(t, exit.Misuse, exit.Code(err))

	require.NoError(t, m.Listen(t.Context(), ""))
	require.NoError(t, m.Run(t.Context()), "nothing is served")
}

// TestRemedyOfListenError: each cause has its own.
func TestRemedyOfListenError(t *testing.T) {
	for err, want := range map[error]string{
		syscall.EADDRINUSE:    "choose another port, or end the program that listens there",
		syscall.EACCES:        "choose a port above 1023",
		syscall.EADDRNOTAVAIL: "choose an address of this machine, as 127.0.0.1:9095",
	} {
		assert.Equal(t, want, Remedy(&net.OpError{Op: "listen", Err: os.NewSyscallError("bind", err)}))
	}
}

// TestPageHasLabels compares the labels of each metric in docs/configuration.md with the program's.
func TestPageHasLabels(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	m := New(func() map[session.State]int { return nil })
	m.End("hup")
	m.Forgot(session.Archived, time.Hour)
	m.LoopEnded(port.LoopDone, time.Hour)
	m.LoopPurged(port.LoopDone, time.Hour)
	m.WorktreeCleaned(true)
	m.Recovered(recovery.Report{Results: []recovery.Result{{}}, Notices: []recovery.Notice{{}}})
	families, err := m.registry.Gather()
	require.NoError(t, err)
	seen := 0
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "ccbot_") {
			continue
		}
		var labels []string
		for _, l := range f.GetMetric()[0].GetLabel() {
			labels = append(labels, l.GetName())
		}
		documented := f.GetName()
		if seen++; labels != nil {
			documented += "{" + strings.Join(labels, ",") + "}"
		}
		assert.Contains(t, string(page), "`"+documented+"`")
	}
	assert.Greater(t, seen, 8)
}
