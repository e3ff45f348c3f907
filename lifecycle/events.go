package lifecycle

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// HookEvent takes one event of Claude Code's hooks. An event counts only from
// the very process that is bound: a nested `claude -p` in a tool call inherits
// the launch, but is another process. An error means that the event is to be
// given again.
func (s *Service) HookEvent(ctx context.Context, e hookwire.Event) error {
	id, err := uuid.Parse(e.Launch)
	if err != nil {
		return nil // of a session that ccbot did not launch
	}
	if e.Name != hookwire.SessionStart && e.Name != hookwire.UserPromptSubmit {
		// It tells when to look, and no more: a late one is of the conversation before. Events of other
		// sessions must not wait for this one's worker.
		s.Wake(id)
		return nil
	}
	if e.Name == hookwire.SessionStart {
		s.kit.agenda.lookAt(e.ClaudePID) // it may have come to another session's conversation
	}
	err = s.do(ctx, id, func(w *work) error {
		sender := process.Identity{PID: e.ClaudePID, Start: e.ClaudeStart, Boot: e.Boot}
		switch {
		case w.r.Binding == nil || w.r.Binding.Agent != sender:
			return nil
		case e.Name == hookwire.SessionStart:
			return w.reported(ctx, e)
		}
		return errors.Join(w.follow(ctx, e), w.receive(ctx, e))
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	s.Wake(id)
	return err
}

// reported notes that the agent is there, since when and in which window, and
// which conversation it has.
func (w *work) reported(ctx context.Context, e hookwire.Event) error {
	renewed, first := w.renewBinding(ctx, e.Received), w.r.ReportsAt.IsZero()
	var err error
	switch {
	case first:
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

// renewBinding brings the binding up to what its agent has told at a moment, and
// says whether that is new. Events of a spool come late, and may come twice.
func (w *work) renewBinding(ctx context.Context, at time.Time) (renewed bool) {
	b := w.r.Binding
	if fate, p := w.Observer.pane(ctx, *b); fate == PaneOurs && p.Window.String() != b.Window {
		b.Window, renewed = p.Window.String(), true // a person has moved its pane
	}
	if at.After(b.BoundAt) {
		b.BoundAt, renewed = at.UTC(), true
	}
	return renewed
}

// follow keeps up with the conversation that the agent is in: /clear and an
// in-TUI /resume change its id and its file. Earlier files are drained first.
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

// transcriptOf is the transcript that an event names, from where on the chat
// shows it. After a resume in another folder SessionStart names a file there
// that is never made: the conversation goes on in the one that it has.
func (w *work) transcriptOf(e hookwire.Event, id uuid.UUID) transcript.Cursor {
	c := transcript.Cursor{Path: e.TranscriptPath, Offset: firstOffset(e)}
	if _, err := os.Stat(c.Path); e.Source != "resume" || !errors.Is(err, fs.ErrNotExist) {
		return c
	}
	path, err := transcript.Find(w.Observer.ProjectsDir, id)
	if err != nil {
		return c
	}
	if end, err := transcript.End(path); err == nil {
		return end
	}
	return c
}

// firstOffset is where the chat begins to show a transcript: at its start if
// the conversation began with this event, else at its end, because what was
// said before is history.
func firstOffset(e hookwire.Event) int64 {
	begins := e.Name == hookwire.SessionStart && e.Source != "resume" && e.Source != "fork"
	if begins {
		return 0
	}
	return e.TranscriptSize
}

// receive takes a UserPromptSubmit as proof for the prompt being typed, else for
// one that a person is asked about.
func (w *work) receive(ctx context.Context, e hookwire.Event) error {
	for _, state := range []PromptState{Typing, Unproven} {
		for _, key := range w.r.Prompts {
			p, err := ownPrompt(w, key)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return err
			}
			if p.State == state && p.Mark != nil && e.Received.After(p.Mark.At) && proves(e.Prompt, p) {
				return w.proven(ctx, p)
			}
		}
	}
	return nil
}

// proves says whether a submitted text is the prompt. For one that was given up
// waiting for it must be the whole text: what is typed at the desk later may
// happen to contain it.
func proves(submitted string, p Prompt) bool {
	if p.State == Unproven && !strings.Contains(submitted, "<pasted_content") {
		return transcript.Same(submitted, p.Text)
	}
	return transcript.Contains(submitted, p.Text)
}
