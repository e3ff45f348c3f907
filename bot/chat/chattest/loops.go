package chattest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// FakeLoops are loops that only a test moves.
type FakeLoops struct {
	Held    error               // of Start and Change; nil: they succeed
	Offered []port.LoopTemplate // to each session

	mu       sync.Mutex
	all      []port.Loop
	requests []port.LoopRequest
	changes  []port.LoopChange
}

// Start implements port.Loops.
func (f *FakeLoops) Start(_ context.Context, q port.LoopRequest) (port.Loop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.Held != nil {
		return port.Loop{}, f.Held
	}
	f.requests = append(f.requests, q)
	l := port.Loop{ID: q.Key, Session: q.Session, Task: q.Task, Check: q.Check, Bounds: q.Bounds, State: port.LoopRunning, Step: port.LoopAsk, Iteration: 1,
		Attempt: 1, CreatedAt: Started}
	f.all = append(f.all, l)
	return l, nil
}

// All implements port.Loops.
func (f *FakeLoops) All(context.Context) ([]port.Loop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all), nil
}

// Change implements port.Loops.
func (f *FakeLoops) Change(_ context.Context, c port.LoopChange) (port.Loop, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := slices.IndexFunc(f.all, func(l port.Loop) bool { return l.ID == c.Loop })
	switch {
	case f.Held != nil:
		return port.Loop{}, f.Held
	case i < 0:
		return port.Loop{}, refusal.New(refusal.Changed, "gone")
	}
	f.changes = append(f.changes, c)
	return f.all[i], nil
}

// Templates implements port.LoopTemplates.
func (f *FakeLoops) Templates(context.Context, uuid.UUID, time.Time) ([]port.LoopTemplate, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.Offered), nil
}

// Requests returns the loops that were started.
func (f *FakeLoops) Requests() []port.LoopRequest {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.requests)
}

// Changes returns the decisions of people.
func (f *FakeLoops) Changes() []port.LoopChange {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.changes)
}

// Remove removes a loop, as a purge does.
func (f *FakeLoops) Remove(id uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = slices.DeleteFunc(f.all, func(l port.Loop) bool { return l.ID == id })
}

// live returns the live loop of a session.
func (f *FakeLoops) live(id uuid.UUID) *port.Loop {
	all, _ := f.All(context.Background())
	for _, l := range all {
		if l.Session == id && l.State.Live() {
			return &l
		}
	}
	return nil
}

// put changes a loop, or adds it.
func (f *FakeLoops) put(l port.Loop) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if i := slices.IndexFunc(f.all, func(o port.Loop) bool { return o.ID == l.ID }); i >= 0 {
		f.all[i] = l
		return
	}
	f.all = append(f.all, l)
}

// Loops changes a loop; news: the chat is told, as of a start, a pause or an end.
func (w *World) Loops(t *testing.T, r session.Record, l port.Loop, told bool) {
	t.Helper()
	w.Looping.put(l)
	w.Bot.Loops.Wake()
	if told {
		require.NoError(t, w.SessionNews(t.Context(), r, news.Looped{Loop: l}))
	}
	w.Work(t)
}
