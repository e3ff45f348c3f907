package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/view"
	"ccbot/port/talk"
)

// HookEvent processes one event of an agent's hooks. An event counts only if the bound process
// itself has sent it: a nested agent in a tool call inherits the launch, but is another
// process. Another conversation than the session's counts only if the agent's presence file names
// it: after hooks.ErrNotNamed and hooks.ErrContradicted it is not proven. After any error the event
// has to be delivered again.
func (s *Service) HookEvent(ctx context.Context, e hookwire.Event) error {
	id, err := uuid.Parse(e.Launch)
	if err != nil {
		return nil // ccbot-hook writes no event without a launch
	}
	if e.Name != hookwire.SessionStart && e.Name != hookwire.UserPromptSubmit {
		// Such an event triggers a check and says no more about the conversation, because a late one is
		// about the previous one. Events of other sessions must not wait for this session's worker.
		s.core.agenda.wake(id)
		return s.noteSchedules(ctx, id, e)
	}
	if e.Name == hookwire.SessionStart {
		s.core.agenda.checkProcess(e.AgentPID) // the process may have entered another session's conversation
	}
	err = s.core.do(ctx, id, func(w *work) error {
		sender := process.Identity{PID: e.AgentPID, Start: e.AgentStart, Boot: e.Boot}
		if !w.r.HasAgent(sender) {
			return nil
		}
		if named, err := uuid.Parse(e.SessionID); err == nil && named != w.r.AgentSessionID {
			if err := w.Evidence.Names(ctx, w.r.AgentName, sender, named); err != nil {
				return err
			}
		}
		if e.Name == hookwire.SessionStart {
			return w.reported(ctx, e)
		}
		return errors.Join(w.follow(ctx, e), w.prompts.Receive(ctx, e), w.nameAfter(ctx, e.Prompt))
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	s.core.agenda.wake(id)
	return err
}

// noteSchedules notes how many schedules of its own an agent has at the end of a turn, or at least has when it has made one. Most have
// none, and wait for no worker.
func (s *Service) noteSchedules(ctx context.Context, id uuid.UUID, e hookwire.Event) error {
	sender := process.Identity{PID: e.AgentPID, Start: e.AgentStart, Boot: e.Boot}
	differs := func(r session.Record) bool {
		exact, made := e.Name == hookwire.Stop, e.Name == hookwire.PostToolUse
		return r.HasAgent(sender) && (exact && r.Binding.Schedules != e.Schedules || made && r.Binding.Schedules < e.Schedules)
	}
	if r, ok := s.core.Store.Get(id); !ok || !differs(r) {
		return nil
	}
	err := s.core.do(ctx, id, func(w *work) error {
		if !differs(*w.r) {
			return nil
		}
		w.r.Binding.Schedules = e.Schedules
		return w.save()
	})
	if errors.Is(err, session.ErrNotFound) {
		return nil
	}
	return err
}

// reported notes what a SessionStart says: that the agent is there and since when, its window, and
// its conversation.
func (w *work) reported(ctx context.Context, e hookwire.Event) error {
	b, renewed := w.r.Binding, false
	if fate, p := w.Observer.BoundPane(ctx, *b); fate == view.PaneOurs && p.Window.String() != b.Window {
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
	own := w.agent().Transcripts.Own(e.TranscriptPath, id)
	now, followed := w.r.Cursor()
	if id != w.r.AgentSessionID {
		w.followTo(id)
	} else if followed && (own == "" || w.isTranscript(now.Path, own, id)) {
		return nil
	}
	c := w.transcriptOf(e, own, id)
	if now, ok := w.r.Cursor(); c.Path != "" && (!ok || now.Path != c.Path) {
		w.r.Cursors = append(w.r.Cursors, c)
	}
	return w.saveAndFollow(ctx)
}

// isTranscript reports whether the session follows the transcript own of the conversation already.
// A conversation that has a file keeps it.
func (w *work) isTranscript(followed, own string, id uuid.UUID) bool {
	real := w.agent().Transcripts.Own(followed, id)
	_, err := os.Stat(real)
	return real == own || real != "" && err == nil
}

// transcriptOf returns the transcript of the conversation of an event, and the position from which
// the chat shows it. own is the path that the event names, "" if that is not the conversation's.
// After a resume in another folder, SessionStart names a file in that folder that is never made:
// the conversation continues in its old file.
func (w *work) transcriptOf(e hookwire.Event, own string, id uuid.UUID) talk.Cursor {
	c := talk.Cursor{Path: own}
	if e.Name != hookwire.SessionStart || e.Source == "resume" || e.Source == "fork" {
		c.Offset = max(e.TranscriptSize, 0) // the conversation did not begin with this event: earlier text is history
	}
	if _, err := os.Stat(own); own != "" && (e.Source != "resume" || !errors.Is(err, fs.ErrNotExist)) {
		return c
	}
	if end, err := w.Observer.TranscriptEnd(*w.r, id); err == nil {
		return end
	}
	return c
}

// followMoved goes on in the file into which the agent has renamed its transcript. An agent may keep
// it with the folder that it works in, and a turn may enter another folder, such as a worktree. If no file goes on, or each of two could,
// the place stays, and the history says so until one does.
func (w *work) followMoved(ctx context.Context) error {
	now, followed := w.r.Cursor()
	if w.r.State != session.Running || !followed {
		return nil
	}
	last := len(w.r.History) - 1
	noted := last >= 0 && w.r.History[last].Rule == ruleGone
	switch _, err := os.Stat(now.Path); {
	case err == nil && noted:
		w.r.Note(w.Now(), ruleBack, "its transcript is there again")
		return w.save()
	case !errors.Is(err, fs.ErrNotExist):
		return nil
	}
	all, err := w.agent().Transcripts.All(w.r.AgentSessionID)
	missing := errors.Is(err, fs.ErrNotExist)
	continued := slices.DeleteFunc(all, func(path string) bool { return !reaches(path, now.Offset) })
	switch {
	case err != nil && !missing, slices.Contains(continued, now.Path): // a look at another time may tell
	case now.Offset == 0 && missing: // it is not made yet
	case len(continued) == 1:
		if noted {
			w.r.Note(w.Now(), ruleBack, "its transcript has another place")
		}
		now.Path = continued[0]
		w.r.Cursors = append(w.r.Cursors, now)
		return w.saveAndFollow(ctx)
	case !noted:
		w.r.Note(w.Now(), ruleGone, fmt.Sprintf("its transcript is gone; files that could continue it: %d", len(continued)))
		return w.save()
	}
	return nil
}

// reaches reports whether a file has a position: a shorter one is not the renamed file, but another one of its name.
func reaches(path string, offset int64) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() >= offset
}

// keepUp follows an agent of which no SessionStart has come into another conversation, after /clear
// or an in-TUI /resume. An adopted agent has no launch settings of ccbot, and a person's own
// settings may switch off all hooks. If the name of the file cannot be told before the agent makes it,
// each look asks for it until it is there.
func (w *work) keepUp(ctx context.Context) error {
	id := w.term.State.Conversation
	here := w.r.State == session.Running && (w.term.Adopted || w.r.ReportsAt.IsZero())
	last, followed := w.r.Cursor()
	named := w.agent().Transcripts.Sibling
	same := id == w.r.AgentSessionID
	if !here || id == uuid.Nil || same && followed && named(last.Path, id) == last.Path {
		return nil
	}
	from, err := w.beginning(id)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keep up: %w", err)
	}
	if err != nil && followed { // the agent makes the file at the first prompt, mostly next to the previous file
		from.Path = named(last.Path, id)
	}
	switch {
	case same && from.Path == "":
		return nil // it has no file yet
	case same:
	case followed:
		w.followTo(id)
	default:
		w.changeID(id) // it leaves no conversation: an agent that chooses its ids begins so
	}
	if from.Path != "" {
		w.r.Cursors = append(w.r.Cursors, from)
	}
	return w.saveAndFollow(ctx)
}

// beginning returns the position from which the chat shows another conversation of the bound agent.
// One that began with this agent is shown from its start. Any other one, and one that the chat
// knows already, is history up to its present end.
func (w *work) beginning(id uuid.UUID) (talk.Cursor, error) {
	end, err := w.Observer.TranscriptEnd(*w.r, id)
	if err != nil {
		return talk.Cursor{}, err
	}
	if _, known := w.records.find(func(r session.Record) bool {
		return r.AgentSessionID == id && r.ID != w.r.ID || slices.Contains(r.EarlierSessionIDs, id)
	}); known {
		return end, nil
	}
	found, err := w.agent().Proof.Trace(end.Path, 0, w.r.Binding.BoundAt, "")
	if err == nil && !found.Earlier {
		end.Offset = 0
	}
	return end, err
}
