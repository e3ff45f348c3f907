package loglimit

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"ccbot/internal/clip"
	"ccbot/internal/logkey"
)

// The limits of one event.
const (
	Burst           = 300
	Interval        = 10 * time.Second
	SummaryInterval = time.Minute
	MaxValue        = 16 << 10 // bytes; a stack has fewer

	debugBurst    = 10_000
	debugInterval = 10 * time.Millisecond
)

// Handler passes lines on to another handler, within the limits.
type Handler struct {
	next   slog.Handler
	limits *limits // shared by all handlers that WithAttrs and WithGroup make
}

// New limits the lines that reach next.
func New(next slog.Handler) *Handler {
	return &Handler{next: next, limits: &limits{log: slog.New(next), events: make(map[event]*limit)}}
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
	if !h.limits.allow(event{r.Message, r.Level < slog.LevelInfo}) {
		return nil
	}
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		line.AddAttrs(short(a))
		return true
	})
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

// limits are the limits of all events.
type limits struct {
	log *slog.Logger // without limits

	mu     sync.Mutex
	events map[event]*limit
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
		one = &limit{bucket: rate.NewLimiter(rate.Every(Interval), Burst)}
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
