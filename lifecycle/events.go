package lifecycle

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// HookEvent processes one event of Claude Code's hooks. An event counts only if the bound process
// itself has sent it: a nested `claude -p` in a tool call inherits the launch, but is another
// process. After an error the event has to be delivered again.
func (s *Service) HookEvent(ctx context.Context, e hookwire.Event) error {
	id, err := uuid.Parse(e.Launch)
	if err != nil {
		return nil // the event is of a session that ccbot did not launch
	}
	if e.Name != hookwire.SessionStart && e.Name != hookwire.UserPromptSubmit {
		// Such an event only says when to look: if it is late, it is about the previous
		// conversation. Events of other sessions must not wait for the worker of this session.
		s.kit.agenda.wake(id)
		return nil
	}
	if e.Name == hookwire.SessionStart {
		s.kit.agenda.lookAt(e.ClaudePID) // the process may have entered another session's conversation
	}
	err = s.kit.do(ctx, id, func(w *work) error {
		sender := process.Identity{PID: e.ClaudePID, Start: e.ClaudeStart, Boot: e.Boot}
		switch {
		case w.r.Binding == nil || w.r.Binding.Agent != sender:
			return nil
		case e.Name == hookwire.SessionStart:
			return w.reported(ctx, e)
		}
		return errors.Join(w.follow(ctx, e), w.prompts.receive(ctx, e), w.nameAfter(ctx, e.Prompt))
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	s.kit.agenda.wake(id)
	return err
}

// reported notes what a SessionStart says: that the agent is there and since when, its window, and
// its conversation.
func (w *work) reported(ctx context.Context, e hookwire.Event) error {
	b, renewed := w.r.Binding, false
	if fate, p, _, _ := w.Observer.shownPane(ctx, *b); fate == PaneOurs && p.Window.String() != b.Window {
		b.Window, renewed = p.Window.String(), true // a person has moved the pane
	}
	if e.Received.After(b.BoundAt) { // events from a spool come late, and may come twice
		b.BoundAt, renewed = e.Received.UTC(), true
	}
	var err error
	switch {
	case w.r.ReportsAt.IsZero():
		w.r.ReportsAt = e.Received.UTC()
		err = w.saveAndFollow(ctx)
	case renewed:
		err = w.save()
	}
	if err != nil {
		return err
	}
	return w.follow(ctx, e)
}

// follow keeps up with the agent's conversation: /clear and an in-TUI /resume change its id and its
// file. Earlier files are read to their end first.
func (w *work) follow(ctx context.Context, e hookwire.Event) error {
	id, err := uuid.Parse(e.SessionID)
	if err != nil {
		return nil
	}
	if id != w.r.ClaudeSessionID {
		w.changeID(id)
	} else if c, ok := w.r.Cursor(); ok && (c.Path == e.TranscriptPath || e.TranscriptPath == "") {
		return nil
	}
	c := w.transcriptOf(e, id)
	if now, ok := w.r.Cursor(); c.Path != "" && (!ok || now.Path != c.Path) {
		w.r.Cursors = append(w.r.Cursors, c)
	}
	return w.saveAndFollow(ctx)
}

// transcriptOf returns the transcript that an event names, and the position from which the chat
// shows it. After a resume in another folder, SessionStart names a file in that folder that is
// never made: the conversation continues in its old file.
func (w *work) transcriptOf(e hookwire.Event, id uuid.UUID) transcript.Cursor {
	c := transcript.Cursor{Path: e.TranscriptPath}
	if e.Name != hookwire.SessionStart || e.Source == "resume" || e.Source == "fork" {
		c.Offset = e.TranscriptSize // the conversation did not begin with this event: what was said before is history
	}
	if _, err := os.Stat(c.Path); e.Source != "resume" || !errors.Is(err, fs.ErrNotExist) {
		return c
	}
	if end, err := transcript.EndOf(w.Observer.ProjectsDir, id); err == nil {
		return end
	}
	return c
}
