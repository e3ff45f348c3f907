package lifecycle

import (
	"context"
	"time"

	"ccbot/internal/claudeui"
	"ccbot/internal/transcript"
)

// clues gathers what is known of a typed prompt beside what the terminal shows.
func (w *work) clues(ctx context.Context, p Prompt) Clues {
	trace, err := w.trace(p)
	if err != nil {
		w.Log.Warn("proof_unreadable", "session_id", w.r.ID.String(), "error", err.Error())
	}
	c := Clues{Arrived: trace.Arrived, Alone: !w.r.ReportsAt.IsZero() && w.aloneSince(ctx, p.Mark.At)}
	unheard, errEvents := w.unheard()
	c.Unheard = unheard
	switch m := p.Mark; {
	case m.Esc:
		c.Doubt = doubtEsc
	case w.r.Binding == nil || m.Agent != w.r.Binding.Agent.Text():
		c.Doubt = doubtProcess
	case m.Claude != w.r.ClaudeSessionID:
		c.Doubt = doubtMoved
	case err != nil || errEvents != nil:
		c.Doubt = doubtUnreadable
	case trace.Foreign:
		c.Doubt = doubtForeign
	case w.clockWasSet(*m):
		c.Doubt = doubtClock
	case w.Now().Sub(m.At) > markFor:
		c.Doubt = doubtOld
	}
	return c
}

// unheard says whether an event of the session's hooks waits to be heard.
func (w *work) unheard() (bool, error) {
	if w.Unheard == nil {
		return false, nil
	}
	return w.Unheard(w.r.ID)
}

// trace looks for a typed prompt in the transcripts of the session: from where the transcript stood
// when the typing began, and in the others by the time of their lines. One that no hook has named is
// looked up by the session's id.
func (w *work) trace(p Prompt) (transcript.Trace, error) {
	path := p.Mark.Path
	if path == "" {
		path, _ = transcript.Find(w.ProjectsDir, w.r.ClaudeSessionID) // or there is none yet
	}
	all, err := transcript.TraceOf(path, p.Mark.Offset, time.Time{}, p.Text)
	for _, c := range w.r.Cursors {
		if err == nil && c.Path != path {
			var one transcript.Trace
			one, err = transcript.TraceOf(c.Path, 0, p.Mark.At, p.Text)
			all = all.Join(one)
		}
	}
	return all, err
}

// aloneSince says whether tmux shows that nobody has pressed a key since a moment at a terminal that
// may show the agent's window. Of the keys of a terminal in control mode tmux tells nothing.
func (w *work) aloneSince(ctx context.Context, at time.Time) bool {
	if w.view.Fate != PaneOurs || w.view.Adopted || !w.view.Pane.Touched.Before(at.Truncate(time.Second)) {
		return false
	}
	viewers, err := w.Tmux.Viewers(ctx)
	for _, v := range viewers {
		if v.Session == w.view.Pane.Session {
			w.view.Pane.Attached--
		}
	}
	return err == nil && w.view.Pane.Attached <= 0
}

// clockWasSet says whether the wall clock and the kernel's count of time have parted since a mark.
func (w *work) clockWasSet(m Mark) bool {
	age, ok := w.r.Binding.Agent.Age(w.moment())
	const tolerated = 2 * time.Second
	return !ok || (w.Now().Sub(m.At)-(age-m.AgentAge)).Abs() > tolerated
}

// settleTyped decides a typed prompt by all that is known of it.
func (w *work) settleTyped(ctx context.Context, p Prompt) error {
	c := w.clues(ctx, p)
	d := decideTyped(w.view, &p, c)
	w.again = d.Again
	switch d.Act {
	case ActProven:
		return w.arrived(ctx, p)
	case ActEnter:
		return w.enter(ctx, p)
	case ActRepeat:
		p.Repeated = true
		return w.typePrompt(ctx, p)
	case ActUnproven:
		return w.unproven(ctx, p, c.Doubt)
	}
	return nil
}

// arrived finishes a prompt that a transcript shows. A transcript that no hook has named is followed
// from its beginning.
func (w *work) arrived(ctx context.Context, p Prompt) error {
	if _, followed := w.r.Cursor(); !followed {
		path := p.Mark.Path
		if path == "" {
			path, _ = transcript.Find(w.ProjectsDir, w.r.ClaudeSessionID) // the trace was found there
		}
		w.r.Cursors = append(w.r.Cursors, transcript.Cursor{Path: path})
		if err := w.saveAndFollow(ctx); err != nil {
			return err
		}
	}
	return w.proven(ctx, p)
}

// still is an idle screen, by presence file and prompt box.
type still struct {
	idle bool
	box  claudeui.Box
	by   time.Time
}

// noteStill dates the idle screen from when this process first saw it as it is.
func (w *work) noteStill() {
	v := &w.view
	w.remember(w.r.ID, func(m *memory) {
		now := still{idle: v.boxFree(), box: v.Screen.Box, by: v.Presence.UpdatedAt}
		if m.still != now || m.stillAt.After(v.Now) {
			m.still, m.stillAt = now, v.Now
		}
		v.Still = v.Now.Sub(m.stillAt)
	})
}

// noteEsc notes on the prompt that is being typed that ccbot is about to press Esc: it may put the
// text back into the box.
func noteEsc(w *work) error {
	for _, key := range w.r.Prompts {
		p, err := ownPrompt(w, key)
		if err != nil || p.State != Typing || p.Mark == nil {
			continue // one that cannot be read is not typed on
		}
		p.Mark.Esc = true
		if err := w.Prompts.SavePrompt(p); err != nil {
			return err
		}
	}
	return nil
}
