package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ccbot/internal/clip"
	"ccbot/internal/logkey"
	"ccbot/internal/sysfault"
)

// The limits of one event.
const (
	Burst           = 300
	Interval        = 10 * time.Second
	SummaryInterval = time.Minute
	FaultInterval   = time.Minute // between two lines of one event with one fault of the machine
	MaxValue        = 16 << 10    // bytes; a stack has fewer

	debugBurst    = 10_000
	debugInterval = 10 * time.Millisecond

	// maxWindows is the largest number of windows that a machine can have at once: each has a
	// pseudo-terminal, and Linux has 4,096 of them (kernel.pty.max).
	maxWindows = 4096
)

// Handler passes lines on to another handler, within the limits.
type Handler struct {
	next   slog.Handler
	limits *limits // shared by all handlers that WithAttrs and WithGroup make
}

// New limits the lines that reach next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, limits: &limits{log: slog.New(next), events: make(map[event]*limit), faults: make(map[faulty]*repeated)}}
}

// Enabled implements [slog.Handler].
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	cut := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		cut[i] = short(a)
	}
	return &Handler{h.next.WithAttrs(cut), h.limits}
}

// WithGroup implements [slog.Handler].
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.limits}
}

// Handle implements [slog.Handler].
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	line, fault := slog.NewRecord(r.Time, r.Level, r.Message, r.PC), sysfault.Kind("")
	r.Attrs(func(a slog.Attr) bool {
		if a = short(a); a.Key == logkey.Error {
			fault = sysfault.In(a.Value.String())
		}
		line.AddAttrs(a)
		return true
	})
	e := event{r.Message, r.Level < slog.LevelInfo}
	if fault != "" && !e.debug && h.limits.repeats(faulty{e.name, fault}, h.next, line) || !h.limits.allow(e) {
		return nil
	}
	return h.next.Handle(ctx, line)
}

// short cuts the text of an attribute.
func short(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(clip.Bytes(a.Value.String(), MaxValue, "…"))
	case slog.KindAny:
		if text := a.Value.String(); len(text) > MaxValue {
			a.Value = slog.StringValue(clip.Bytes(text, MaxValue, "…"))
		}
	}
	return a
}

// event is the unit of a limit. Messages are constants of the program, so there are few events.
type event struct {
	name  string
	debug bool
}

// BurstOf returns how many lines an event gets at once. A start logs each orphan window.
func BurstOf(event string) int {
	if event == "orphan_window" {
		return maxWindows
	}
	return Burst
}

// faulty is an event that a fault of the machine has caused.
type faulty struct {
	name string
	kind sysfault.Kind
}

// limits are the limits of all events.
type limits struct {
	log *slog.Logger // without limits

	mu     sync.Mutex
	events map[event]*limit
	faults map[faulty]*repeated // faults of the last minute
}

// repeated are the lines of a fault that were left out since its last line.
type repeated struct {
	count int
	next  slog.Handler // of the last one
	line  slog.Record
}

// repeats reports whether a line repeats a line of the last FaultInterval. Such a line is left out,
// and the last of them is logged at the end of the interval, with their count.
func (l *limits) repeats(f faulty, next slog.Handler, line slog.Record) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one := l.faults[f]; one != nil {
		one.count, one.next, one.line = one.count+1, next, line
		return true
	}
	l.faults[f] = &repeated{}
	time.AfterFunc(FaultInterval, func() { l.repeat(f) })
	return false
}

// repeat logs the last line of a fault that was left out, with the count of them.
func (l *limits) repeat(f faulty) {
	l.mu.Lock()
	last := *l.faults[f]
	if last.count == 0 {
		delete(l.faults, f)
	} else {
		*l.faults[f] = repeated{}
		time.AfterFunc(FaultInterval, func() { l.repeat(f) })
	}
	l.mu.Unlock()
	if last.count > 0 {
		last.line.AddAttrs(slog.Int(logkey.Count, last.count))
		_ = last.next.Handle(context.Background(), last.line) // as the caller of a log does
	}
}

// limit is the state of one event.
type limit struct {
	bucket  *rate.Limiter
	leftOut int // since the last summary
}

// allow reports whether a line may be logged now, and counts it otherwise.
func (l *limits) allow(e event) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.events[e]
	if one == nil {
		one = &limit{bucket: rate.NewLimiter(rate.Every(Interval), BurstOf(e.name))}
		if e.debug {
			one.bucket = rate.NewLimiter(rate.Every(debugInterval), debugBurst)
		}
		l.events[e] = one
	}
	if one.bucket.Allow() {
		return true
	}
	if one.leftOut++; one.leftOut == 1 {
		time.AfterFunc(SummaryInterval, func() { l.summarise(e, one) })
	}
	return false
}

// summarise logs how many lines of an event were left out.
func (l *limits) summarise(e event, one *limit) {
	l.mu.Lock()
	count := one.leftOut
	one.leftOut = 0
	l.mu.Unlock()
	l.log.Warn("log_lines_left_out", logkey.Name, e.name, logkey.Count, count)
}
