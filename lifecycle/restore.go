package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"

	coding "ccbot/agent"
	"ccbot/agent/history"
	"ccbot/internal/logkey"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
)

// askFirst refuses a damaged transcript, on which a resume would fail, with a TranscriptError.
const askFirst = port.Damaged("")

// mend checks the end of the transcript, which a crash of the machine may have damaged. If a person
// has decided so, the session continues with a repaired copy, a conversation with a new id.
func (w *opening) mend(how port.Damaged) error {
	if err := w.comeBack(); err != nil {
		return err
	}
	health, err := w.agent().Keeper.Check(w.r.AgentSessionID)
	gone := errors.Is(err, fs.ErrNotExist)
	empty := errors.Is(err, coding.ErrNothingLeft) || gone && w.r.TranscriptEnd > 0
	lost := empty && health.Size < w.r.TranscriptEnd // otherwise the file never contained more than bookkeeping
	switch {
	case gone && !empty:
		return nil // nothing was ever said
	case err != nil && !empty:
		return fmt.Errorf("check the transcript: %w", err)
	case (lost || len(health.Faults) > 0) && how == askFirst:
		return &TranscriptError{Health: health, Nothing: lost, Deleted: gone}
	case len(health.Faults) > 0 && how == port.UseAsItIs:
		return nil
	case empty:
		return w.beginNewConversation()
	case len(health.Faults) == 0:
		return nil
	}
	return w.resumeCopy(health)
}

// comeBack returns to the conversation that went on in the agent's background, if nothing was said
// there: then the agent has made no transcript, and nothing to resume.
func (w *opening) comeBack() error {
	if w.r.Attach == "" || len(w.r.EarlierSessionIDs) == 0 {
		return nil
	}
	if _, err := w.agent().Transcripts.Find(w.r.AgentSessionID); !errors.Is(err, fs.ErrNotExist) {
		return nil //nolint:nilerr // what cannot be read is checked next
	}
	w.followTo(w.r.EarlierSessionIDs[len(w.r.EarlierSessionIDs)-1])
	w.r.TranscriptEnd = w.Observer.TranscriptSize(*w.r) // nobody has written it since
	return w.save()
}

// beginNewConversation sets a new conversation id, because an agent may neither resume
// nor begin a conversation whose transcript has no messages.
func (w *opening) beginNewConversation() error {
	fork := w.r.ForkOf
	w.changeID(uuid.New())
	w.r.ForkOf = fork
	return w.save()
}

func (w *opening) resumeCopy(health coding.Health) error {
	// The id is the same for the same damage: after a crash right here the existing copy is used.
	id := uuid.NewSHA1(w.r.ID, fmt.Appendf(nil, "%s repaired at %d", w.r.AgentSessionID, health.Size))
	path, err := w.agent().Keeper.Repair(health, w.r.AgentSessionID, id)
	switch {
	case errors.Is(err, coding.ErrNothingLeft):
		return w.beginNewConversation()
	case errors.Is(err, fs.ErrExist):
		path, err = w.agent().Transcripts.Find(id)
	}
	if err != nil {
		return fmt.Errorf("repair the transcript: %w", err)
	}
	end, err := w.agent().Transcripts.End(path)
	if err != nil {
		return fmt.Errorf("repair the transcript: %w", err)
	}
	w.changeID(id)
	w.r.Cursors = append(w.r.Cursors, end)
	return w.save()
}

func (w *opening) restore(ctx context.Context) error {
	w.keepProgress() // a person may have continued in the terminal
	spec, err := w.prepare(ctx)
	if err != nil {
		return err // the state has not changed yet
	}
	if _, err := w.writers.alone(ctx); err != nil { // checked again, because starting tmux may have taken long
		return err
	}
	if err := w.skipHistory(); err != nil {
		return err
	}
	const why = "a resume was requested"
	before := w.r.Clone()
	if w.r.Interrupted() {
		w.r.Note(w.Now(), ruleResume, why+" again; the one before made no window")
	} else {
		w.r.RestoredFrom = w.r.State
		if err := w.r.Become(session.Restoring, w.Now(), ruleResume, why); err != nil {
			return err
		}
	}
	w.r.Run, w.r.Closing = session.Run{StartedAt: w.Now().UTC()}, session.Closing{}
	w.r.Progress.Failed = talk.Failure{}
	if err := w.save(); err != nil {
		return err
	}
	w.at("restore-recorded")
	err = w.launch(ctx, spec)
	if errors.Is(err, tmux.ErrNotSent) { // the request was not sent, so nothing has changed
		*w.r = before
		return errors.Join(err, w.save())
	}
	if err != nil && !errors.Is(err, errWindowMayLive) {
		return errors.Join(err, w.closing.fail(ctx, "the window could not be opened"))
	}
	return err
}

// skipHistory moves the chat's position in the transcript to the end: text from the terminal after
// the session's end is history. Text that the chat lacks from before the session's end stays (P5).
func (w *opening) skipHistory() error {
	c, ok := w.r.Cursor()
	if ok && c.Path != w.Observer.TranscriptPath(*w.r) {
		return nil // of the conversation before: what the chat lacks of it is still to be shown
	}
	if !ok || w.agent().Replies.Unsaid(c, w.r.TranscriptEnd) {
		return nil
	}
	end, err := w.agent().Transcripts.End(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	w.r.Cursors[len(w.r.Cursors)-1] = end
	return nil
}

// lastSeen returns what is known of the conversation that a launch continues: a person may have
// changed its model and its permission mode in the terminal.
func (w *opening) lastSeen(begin coding.Start) history.Progress {
	of := w.r.ForkOf
	if w.r.State == session.Starting && len(w.r.Cursors) > 0 {
		of = w.r.AgentSessionID
	}
	if of == uuid.Nil || w.r.Progress.Path != "" || of != begin.Conversation && of != begin.CopyOf {
		return w.r.Progress
	}
	path, err := w.agent().Transcripts.Find(of)
	if err != nil {
		return history.Progress{}
	}
	p, err := w.agent().Transcripts.Advance(history.Progress{}, path)
	if err != nil {
		w.Log.Debug("transcript_unreadable", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
	return p
}
