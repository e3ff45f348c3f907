package lifecycle

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/claudeui"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Observer looks at one session at a time: at its pane, its agent and what those
// have written. It changes nothing.
type Observer struct {
	Panes     PaneReader
	Screens   Screens // nil: no screen is looked at
	Processes evidence.Processes
	Presences evidence.Presences
	Relays    Relays // nil: none
	// Status is what the last status line of a launch said, fs.ErrNotExist where there
	// was none. It may be nil.
	Status      func(recordID uuid.UUID) (hookwire.Status, error)
	ProjectsDir string // Claude Code's projects folder
	Now         func() time.Time
	Log         *slog.Logger
}

// View looks at a session's world.
func (o *Observer) View(ctx context.Context, r session.Record) View {
	v := View{Now: o.Now()}
	if r.Binding == nil {
		return v
	}
	v.Agent, v.Adopted = o.Processes.Liveness(r.Binding.Agent), r.Binding.Adopted
	v.Fate, v.Pane = o.pane(ctx, *r.Binding)
	if !r.Binding.Agent.Valid() && (v.Fate == PaneDead || v.Fate == PaneGone) {
		v.Agent = process.Gone // it had ended before it could be identified
	}
	if v.Agent == process.Alive {
		f, err := o.Presences.Read(ctx, r.Binding.Agent.PID)
		v.Presence = f
		v.Present = err == nil && f.ProcStart == r.Binding.Agent.Start
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			v.Present, v.Presence = true, presence.File{} // it may say idle or waiting: it is unknown, so nothing is typed
		}
	}
	v.Behind = v.Adopted && !o.front(*r.Binding)
	o.lookAtRequests(r, &v)
	if o.Screens != nil && (v.Fate == PaneDead || v.Fate == PaneOurs && !v.Behind) { // else the screen is a shell's, or whose it may be
		history := 0
		if v.Fate == PaneDead {
			history = screenLines // tmux scrolls a dead pane to say that it is dead
		}
		if text, err := o.Screens.Capture(ctx, v.Pane.ID, history); err == nil { // else nothing is typed
			v.Screen, v.Captured = claudeui.Read(text), true
		}
	}
	return v
}

// pane says what became of the bound pane. An id counts only together with the
// server's life and the pane's process.
func (o *Observer) pane(ctx context.Context, b session.Binding) (PaneFate, tmux.Pane) {
	server, err := o.Panes.Server(ctx)
	switch {
	case errors.Is(err, tmux.ErrNoServer):
		return PaneGone, tmux.Pane{}
	case err != nil:
		return PaneUnknown, tmux.Pane{}
	case !onServer(server, b):
		return PaneGone, tmux.Pane{}
	}
	id, err := tmux.ParsePaneID(b.Pane)
	if err != nil {
		return PaneUnknown, tmux.Pane{}
	}
	p, err := o.Panes.Pane(ctx, id)
	switch {
	case errors.Is(err, tmux.ErrNoPane), errors.Is(err, tmux.ErrNoServer):
		return PaneGone, tmux.Pane{}
	case err != nil:
		return PaneUnknown, tmux.Pane{}
	case p.PID != b.PanePID():
		return PaneForeign, tmux.Pane{} // whoever respawned it owns it: nothing of it is looked at or closed
	case p.Dead:
		return PaneDead, p
	}
	return PaneOurs, p
}

// front says whether the agent of an adopted pane is in the foreground of its
// terminal; else keys would reach the shell or what runs in it.
func (o *Observer) front(b session.Binding) bool {
	p, err := o.Processes.Inspect(b.Agent.PID)
	return err == nil && p.Identity == b.Agent && p.TTY != 0 && p.PGID == p.Foreground
}

// usage is what the bound agent's last status line said; nil: nothing is known.
func (o *Observer) usage(r session.Record) *session.Usage {
	if o.Status == nil || r.Binding == nil {
		return nil
	}
	st, err := o.Status(r.ID)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			o.Log.Debug("status_unreadable", logkey.SessionID, r.ID.String(), logkey.Error, err.Error())
		}
		return nil
	}
	if a := r.Binding.Agent; st.ClaudePID != a.PID || st.ClaudeStart != a.Start || st.Boot != a.Boot {
		return nil // of a launch before, or of a nested agent
	}
	return &session.Usage{Model: st.Model, Context: st.ContextPercent, Cost: st.CostUSD, At: st.At.UTC()}
}

// transcriptPath is where the session's conversation is written; empty where
// nothing was ever said.
func (o *Observer) transcriptPath(r session.Record) string {
	if c, ok := r.Cursor(); ok && filepath.Base(c.Path) == r.ClaudeSessionID.String()+".jsonl" {
		return c.Path
	}
	path, _ := transcript.Find(o.ProjectsDir, r.ClaudeSessionID) // what is not there has not grown
	return path
}
