package recovery

import (
	"context"
	"errors"
	"os"

	"github.com/google/uuid"

	"ccbot/internal/claudeflags"
	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// Look collects the world and changes nothing. It lists tmux and the processes once each, however
// many records there are. The panes are read before the records: the record of a window that a
// start makes at the same time is then already there. The other way round, such a window would look
// like an orphan.
func (v *Recovery) Look(ctx context.Context) World {
	w := v.lookAtWindows(ctx)
	w.Boot, w.Limits = v.Processes.Self().Boot, v.Limits
	w.Since, w.Signs = v.Since, signs(w.Records)
	w.Holds = v.holds(w)
	var err error
	if w.Survey, err = v.Evidence.Survey(ctx, w.Records); err != nil {
		v.Log.Warn("writers_unclear", logkey.Error, err.Error())
	}
	w.Below = v.below(ctx, w.Survey)
	v.mu.Lock()
	defer v.mu.Unlock()
	w.Watched = make(map[uuid.UUID]bool)
	for _, r := range w.Records {
		w.Watched[r.ID] = v.watched[r.ID] || w.launchedHere(r) // handed to the lifecycle, or launched by it
	}
	return w
}

// lookAtWindows collects the part of the world that is about windows.
func (v *Recovery) lookAtWindows(ctx context.Context) World {
	w := World{Now: v.Now(), Instance: v.Instance, Session: v.Session}
	var err error
	w.Server, w.Panes, err = v.panes(ctx)
	switch {
	case err == nil:
		w.Tmux = TmuxAnswers
	case errors.Is(err, tmux.ErrNoServer):
		w.Tmux = TmuxAbsent
	default:
		v.Log.Warn("tmux_unclear", logkey.Error, err.Error())
	}
	w.Records, w.Aside = v.Store.Shared(), v.Store.Aside()
	w.Ignored = v.ignored(w.Server, w.Panes)
	return w
}

func (v *Recovery) panes(ctx context.Context) (tmux.ServerID, []tmux.Pane, error) {
	server, err := v.Tmux.Server(ctx)
	if err != nil {
		return tmux.ServerID{}, nil, err
	}
	panes, err := v.Tmux.Panes(ctx)
	return server, panes, err
}

// holds checks for the panes with the tag of an unbound session whether they hold its launch.
func (v *Recovery) holds(w World) map[tmux.PaneID]bool {
	unbound := make(map[string]uuid.UUID)
	for _, r := range w.Records {
		if r.State.Live() && r.Binding == nil {
			unbound[w.tag(r.ID)] = r.ClaudeSessionID
		}
	}
	holds := make(map[tmux.PaneID]bool)
	for _, pane := range w.Panes {
		claude, ours := unbound[pane.Tag]
		if !ours {
			continue
		}
		if p, err := v.Processes.Inspect(pane.PID); err == nil {
			named, ok := claudeflags.Session(p.Args)
			holds[pane.ID] = ok && named == claude
		}
	}
	return holds
}

// signs returns the newest sign of life of each record. The transcript counts only for a session
// that may be running: once a session is over, its transcript may grow because another process
// continues the conversation.
func signs(records []session.Record) map[uuid.UUID]Sign {
	all := make(map[uuid.UUID]Sign, len(records))
	for _, r := range records {
		s := signOf(r)
		if c, ok := r.Cursor(); ok && r.State.Live() {
			if info, err := os.Stat(c.Path); err == nil {
				s.newer(info.ModTime(), "transcript")
			}
		}
		all[r.ID] = s
	}
	return all
}

// below finds out which of the writers that could be taken over run below another agent. If this is
// unknown, a writer counts as running below one, so that it stays where it is.
func (v *Recovery) below(ctx context.Context, s evidence.Survey) map[process.Identity]bool {
	found := make(map[process.Identity]bool)
	for _, writers := range s.Writers {
		for _, w := range writers {
			if _, known := found[w.Identity]; !known && w.Adoptable() {
				below, err := v.Evidence.RunsBelowAgent(ctx, w.Identity)
				found[w.Identity] = below || err != nil
			}
		}
	}
	return found
}
