package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// Adopt makes a process that goes on with the conversation of a session that is
// over the session's agent, in the terminal where it runs: a person has decided.
// The pane is the person's and stays theirs. ErrChanged: it is not the proven
// writer any more; ErrNoTerminal: it runs where ccbot cannot type; a WriterError:
// somebody else writes the conversation too.
func (s *Service) Adopt(ctx context.Context, id uuid.UUID, who process.Identity) (session.Record, error) {
	err := s.do(ctx, id, func(w *work) error {
		if w.r.State.Live() || !w.r.State.CanBecome(session.Running) {
			return &StateError{State: w.r.State, Want: "adopted"}
		}
		release, err := s.holdConversation(ctx, w.r.ClaudeSessionID)
		if err != nil {
			return err
		}
		defer release()
		all, err := w.others(ctx)
		if err != nil {
			return err
		}
		var others, chosen []Writer
		for _, one := range all {
			if one.Identity == who {
				chosen = append(chosen, one)
			} else {
				others = append(others, one)
			}
		}
		switch {
		case len(chosen) == 0 || !chosen[0].Endable():
			return ErrChanged
		case len(others) > 0:
			return &WriterError{Writers: others}
		case !chosen[0].InTmux:
			return ErrNoTerminal
		}
		return w.adopt(ctx, chosen[0])
	})
	r, _ := s.Store.Get(id)
	return r, err
}

func (w *work) adopt(ctx context.Context, agent Writer) error {
	server, err := w.Tmux.Server(ctx)
	if err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	w.bindTo(server, agent.Pane, agent.Identity)
	b := w.r.Binding
	b.Adopted, b.Command = true, agent.Pane.Command
	if agent.Pane.PID != agent.PID {
		b.Shell = agent.Pane.PID
	}
	now := w.Now().UTC()
	// No launch settings of ours: what is typed is proven by the transcript alone.
	w.r.StartedAt, w.r.ReadyAt, w.r.ReportsAt, w.r.Exit = now, now, time.Time{}, nil
	w.r.Seconds = slices.DeleteFunc(w.living(w.r.Seconds), func(id process.Identity) bool { return id == agent.Identity })
	w.r.Haunted, w.r.Cleanup = false, nil
	if err := w.followFromHere(); err != nil {
		return err
	}
	if err := w.r.Become(session.Running, now, fmt.Sprintf("adopted process %d, asked for in the chat", agent.PID)); err != nil {
		return err
	}
	w.remember(w.r.ID, func(m *memory) { *m = memory{} })
	if err := w.saveAndFollow(ctx); err != nil {
		return err
	}
	w.Watch(w.r.Clone())
	w.Wake(w.r.ID)
	return nil
}

// followFromHere shows the conversation from its present end on: what was said
// at the desk before is history. While the chat has not shown everything from
// before the session's end it goes on there (P5); a second cursor of the same
// file would never be passed.
func (w *work) followFromHere() error {
	path, err := transcript.Find(w.ProjectsDir, w.r.ClaudeSessionID)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	if c, ok := w.r.Cursor(); ok && c.Path == path {
		if unsaid(c, w.r.Tail) {
			return nil
		}
		w.r.Cursors = w.r.Cursors[:len(w.r.Cursors)-1]
	}
	end, err := transcript.End(path)
	if err != nil {
		return fmt.Errorf("adopt: %w", err)
	}
	w.r.Cursors = append(w.r.Cursors, end)
	return nil
}

// unsaid says whether the chat may still have to show something that stands
// before an offset.
func unsaid(c transcript.Cursor, before int64) bool {
	reader := transcript.Open(c)
	defer reader.Close()
	for {
		item, ok, err := reader.Next()
		switch {
		case err != nil:
			return true
		case !ok || item.At.Offset >= before:
			return false
		case item.Spoken():
			return true
		}
	}
}

// keepUp follows an adopted agent into another conversation, through /clear or
// an in-TUI /resume. It has no launch settings of ours, so no hook tells.
func (w *work) keepUp(ctx context.Context) error {
	id := w.view.Presence.SessionID
	here := w.r.State == session.Running && w.view.Adopted && w.view.Present
	if !here || id == uuid.Nil || id == w.r.ClaudeSessionID {
		return nil
	}
	last, followed := w.r.Cursor()
	w.changeID(id)
	path, err := transcript.Find(w.ProjectsDir, id)
	switch {
	case err == nil: // an earlier conversation: what was said there is history
		end, err := transcript.End(path)
		if err != nil {
			return fmt.Errorf("keep up: %w", err)
		}
		w.r.Cursors = append(w.r.Cursors, end)
	case !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("keep up: %w", err)
	case followed: // it is made at the first prompt, beside the one before
		w.r.Cursors = append(w.r.Cursors, transcript.Cursor{Path: filepath.Join(filepath.Dir(last.Path), id.String()+".jsonl")})
	}
	return w.saveAndFollow(ctx)
}

// front says whether the agent of an adopted pane is in the foreground of its
// terminal; else keys would reach the shell or what runs in it.
func (s *Service) front(b session.Binding) bool {
	p, err := s.Processes.Inspect(b.Agent.PID)
	return err == nil && p.Identity == b.Agent && p.TTY != 0 && p.PGID == p.Foreground
}
