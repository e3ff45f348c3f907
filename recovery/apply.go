package recovery

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/tmux"
)

// Tmux tells what windows there are.
type Tmux interface {
	Panes(ctx context.Context) ([]tmux.Pane, error)
	Server(ctx context.Context) (tmux.ServerID, error)
}

// Processes tells whether a bound process still is.
type Processes interface {
	Liveness(id process.Identity) process.Liveness
}

// Recovery looks, plans and applies.
type Recovery struct {
	Instance  string
	Session   string // tmux session
	Store     *session.Store
	Tmux      Tmux
	Processes Processes
	Lifecycle *lifecycle.Service
	// Events has what hooks noted while ccbot was away taken in. It comes after
	// the agents are bound again, and before a session is called over: its last
	// events may say that it has moved to another conversation.
	Events func(ctx context.Context) error
	Now    func() time.Time
	Log    *slog.Logger

	mu      sync.Mutex
	watched map[uuid.UUID]process.Identity // agents handed to Lifecycle
}

// Look collects the world. The panes come first: a window that a start makes
// meanwhile has its record already, the other way round it would look like an
// orphan.
func (v *Recovery) Look(ctx context.Context) World {
	w := World{Now: v.Now(), Instance: v.Instance, Session: v.Session,
		Alive: make(map[uuid.UUID]process.Liveness), Watched: make(map[uuid.UUID]bool)}
	v.lookAtTmux(ctx, &w)
	w.Records = v.Store.List()
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, r := range w.Records {
		if r.Binding != nil {
			w.Alive[r.ID] = v.Processes.Liveness(r.Binding.Agent)
			w.Watched[r.ID] = v.watched[r.ID] == r.Binding.Agent
		}
	}
	return w
}

func (v *Recovery) lookAtTmux(ctx context.Context, w *World) {
	server, err := v.Tmux.Server(ctx)
	if errors.Is(err, tmux.ErrNoServer) {
		w.Tmux = TmuxAbsent
		return
	}
	if err != nil {
		v.Log.Warn("tmux_unclear", "error", err.Error())
		return
	}
	panes, err := v.Tmux.Panes(ctx)
	if err != nil {
		v.Log.Warn("tmux_unclear", "error", err.Error())
		return
	}
	w.Server, w.Panes, w.Tmux = server, panes, TmuxAnswers
}

// Run recovers: it is done before any update is handled. An action that fails
// is logged and leaves its record as it is; the others go on.
func (v *Recovery) Run(ctx context.Context) (World, error) {
	started := v.Now()
	w := v.Look(ctx)
	actions, notices := Plan(w)
	for _, n := range notices {
		v.tell(n)
	}
	failed := v.applyAll(ctx, actions, binds)
	if err := v.Events(ctx); err != nil {
		v.Log.Error("events_not_taken_in", "error", err.Error()) // they stay, and are given again
	}
	failed += v.applyAll(ctx, actions, func(d Do) bool { return !binds(d) })
	v.Log.Info("recovery_done", "duration", v.Now().Sub(started), "records", len(w.Records),
		"actions", len(actions), "notices", len(notices), "failed", failed)
	return w, ctx.Err()
}

// binds are the actions that connect a record with a process.
func binds(d Do) bool { return d == Reattach || d == Bind || d == Conclude }

// applyAll applies the actions that are wanted now and counts those that fail.
func (v *Recovery) applyAll(ctx context.Context, actions []Action, wanted func(Do) bool) (failed int) {
	for _, a := range actions {
		if !wanted(a.Do) {
			continue
		}
		v.Log.Info("recovery_action", "do", string(a.Do), "session_id", a.Record.String(), "why", a.Why)
		if err := v.apply(ctx, a); err != nil {
			failed++
			v.Log.Error("recovery_failed", "do", string(a.Do), "session_id", a.Record.String(), "error", err.Error())
		}
	}
	return failed
}

func (v *Recovery) apply(ctx context.Context, a Action) error {
	switch a.Do {
	case Reattach, Conclude:
		return v.watch(a.Record, v.Lifecycle.Reattach(ctx, a.Record))
	case Bind:
		return v.watch(a.Record, v.Lifecycle.Bind(ctx, a.Record, a.Pane))
	case MarkLost:
		return v.Lifecycle.MarkLost(ctx, a.Record, a.Why)
	case FinishStop:
		return v.Lifecycle.Archive(ctx, a.Record, session.Archived, a.Why)
	case Discard:
		return v.Store.Remove(a.Record)
	case Fail:
		return v.Lifecycle.Fail(ctx, a.Record, a.Why)
	}
	return fmt.Errorf("unknown action %q", a.Do)
}

// watch notes that the lifecycle has taken a session's agent over, if it has.
func (v *Recovery) watch(id uuid.UUID, err error) error {
	r, ok := v.Store.Get(id)
	if err != nil || !ok || r.Binding == nil {
		return err
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.watched == nil {
		v.watched = make(map[uuid.UUID]process.Identity)
	}
	v.watched[id] = r.Binding.Agent
	return nil
}

func (v *Recovery) tell(n Notice) {
	switch n.Kind {
	case OrphanWindow:
		v.Log.Warn("orphan_window", "window_id", n.Pane.Window.String(), "name", n.Pane.WindowName,
			"session_id", "unknown", "note", n.Why)
	case StaleWindow:
		v.Log.Info("Dropping stale window_state", "window_id", n.Window, "session_id", n.Record.String())
	default:
		v.Log.Warn("session_unclear", "session_id", n.Record.String(), "why", n.Why)
	}
}
