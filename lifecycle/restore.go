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

	"ccbot/bot/port/control"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
)

// RestoreRequest is a session that a person wants back.
type RestoreRequest = control.Restore

// damaged says what to do with a transcript that a resume would stumble over.
type damaged = control.Damaged

const (
	AskFirst  = control.Damaged("") // refuse with a TranscriptError
	UseCopy   = control.UseCopy
	UseAsItIs = control.UseAsItIs
)

// Restored is a session that came back.
type Restored struct {
	Record session.Record
	Ended  []Ending // leftovers of its earlier life that were still there
}

// Restore brings a session back in its first directory: the same conversation
// in a new window. Leftovers of it are ended first; while any other process
// writes it, or may, it refuses with a WriterError. A stop that was cut short is
// finished first; a restore that was cut short before its window was known goes on.
func (s *Service) Restore(ctx context.Context, q RestoreRequest) (back Restored, err error) {
	err = s.do(ctx, q.Session, func(w *work) error {
		if w.r.State == session.Stopping {
			if err := w.stop(ctx, &Receipt{}); err != nil {
				return err
			}
		}
		if err := w.resumable(); err != nil {
			return err
		}
		if found, err := w.findLaunch(ctx); found || err != nil {
			return err
		}
		dir := w.r.Dir
		if q.Dir != "" {
			dir = filepath.Clean(q.Dir)
		}
		if err := CheckDir(dir); err != nil {
			return err
		}
		release, err := s.kit.agenda.holdConversation(ctx, w.r.ClaudeSessionID)
		if err != nil {
			return err
		}
		defer release()
		if back.Ended, err = w.alone(ctx); err != nil {
			return err
		}
		if err := w.mend(q.Damaged); err != nil {
			return err
		}
		w.r.Dir = dir
		return w.restore(ctx)
	})
	back.Record, _ = s.kit.Store.Get(q.Session)
	return back, err
}

// mend looks at the transcript's end, which a crash of the machine may have
// damaged, and where a person has decided so goes on with a repaired copy. Its
// conversation has an id of its own.
func (w *work) mend(how damaged) error {
	health, err := transcript.Check(w.Observer.ProjectsDir, w.r.ClaudeSessionID)
	gone := errors.Is(err, fs.ErrNotExist)
	empty := errors.Is(err, transcript.ErrNothingLeft) || gone && w.r.Tail > 0
	lost := empty && health.Size < w.r.Tail // else nothing but bookkeeping ever stood in it
	switch {
	case gone && !empty:
		return nil // nothing was ever said
	case err != nil && !empty:
		return fmt.Errorf("check the transcript: %w", err)
	case (lost || len(health.Faults) > 0) && how == AskFirst:
		return &TranscriptError{Health: health, Nothing: lost}
	case len(health.Faults) > 0 && how == UseAsItIs:
		return nil
	case empty:
		return w.beginAnew()
	case len(health.Faults) == 0:
		return nil
	}
	return w.resumeCopy(health)
}

// beginAnew gives the session an id that Claude Code will take: it neither
// resumes nor begins the conversation of a transcript in which nothing is said.
func (w *work) beginAnew() error {
	fork := w.r.ForkOf
	w.changeID(uuid.New())
	w.r.ForkOf = fork
	return w.save()
}

func (w *work) resumeCopy(health transcript.Health) error {
	// The same for the same damage: after a crash right here the copy that is there is taken.
	id := uuid.NewSHA1(w.r.ID, fmt.Appendf(nil, "%s repaired at %d", w.r.ClaudeSessionID, health.Size))
	path, err := transcript.Repair(health, w.r.ClaudeSessionID, id)
	switch {
	case errors.Is(err, transcript.ErrNothingLeft):
		return w.beginAnew()
	case errors.Is(err, fs.ErrExist):
		path, err = transcript.Find(w.Observer.ProjectsDir, id)
	}
	if err != nil {
		return fmt.Errorf("repair the transcript: %w", err)
	}
	end, err := transcript.End(path)
	if err != nil {
		return fmt.Errorf("repair the transcript: %w", err)
	}
	w.changeID(id)
	w.r.Cursors = append(w.r.Cursors, end)
	return w.save()
}

// changeID notes that the conversation has another Claude id from now on. It is
// no copy any more that a restore would have to begin again.
func (w *work) changeID(id uuid.UUID) {
	earlier := slices.DeleteFunc(w.r.EarlierClaudeIDs, func(k uuid.UUID) bool { return k == id })
	w.r.EarlierClaudeIDs = append(earlier, w.r.ClaudeSessionID)
	w.r.ClaudeSessionID, w.r.ForkOf, w.r.Since = id, uuid.Nil, w.moment()
}

func (w *work) restore(ctx context.Context) error {
	w.keepProgress() // somebody may have gone on at the desk
	spec, err := w.prepare(ctx)
	if err != nil {
		return err // the state has not changed yet
	}
	if _, err := w.alone(ctx); err != nil { // once more: starting tmux may have taken its time
		return err
	}
	if err := w.skipHistory(); err != nil {
		return err
	}
	const why = "a resume was asked for"
	if w.r.Interrupted() {
		w.r.Note(w.Now(), ruleResume, why+" again; the one before made no window")
	} else {
		w.r.RestoredFrom = w.r.State
		if err := w.r.Become(session.Restoring, w.Now(), ruleResume, why); err != nil {
			return err
		}
	}
	w.r.Binding, w.r.Exit = nil, nil
	w.reopen()
	w.r.StartedAt, w.r.ReportsAt, w.r.ReadyAt = w.Now().UTC(), time.Time{}, time.Time{}
	w.r.Phase, w.r.PhaseAt, w.r.PhaseWhat, w.r.PhaseUntil = "", time.Time{}, "", time.Time{} // of the agent before
	w.r.Progress.Failed = transcript.Failure{}
	if err := w.save(); err != nil {
		return err
	}
	w.at("restore-recorded")
	err = w.launch(ctx, spec)
	if err != nil && !errors.Is(err, errWindowMayLive) {
		return errors.Join(err, w.fail(ctx, "the window could not be opened"))
	}
	return err
}

// skipHistory moves the chat's place in the transcript to its end: what was said
// at the desk while the session was over is history. What the chat still has to
// show from before the end stays (P5).
func (w *work) skipHistory() error {
	c, ok := w.r.Cursor()
	if !ok || c.Unsaid(w.r.Tail) {
		return nil
	}
	end, err := transcript.End(c.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore: %w", err)
	}
	w.r.Cursors[len(w.r.Cursors)-1] = end
	return nil
}

// fail ends a launch that never became ready. What was restored stays as it
// was, apart from its state.
func (w *work) fail(ctx context.Context, why string) error {
	w.over(w.endSeen())
	if err := w.r.Become(session.Failed, w.Now(), ruleFailed, why); err != nil {
		return err
	}
	return w.saveAndFollow(ctx)
}
