package lifecycle

import (
	"cmp"
	"context"
	"strings"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
)

// closing ends a session, and finishes one that has ended by itself.
type closing struct {
	*turn
	term      *typing.Terminal
	prompts   *typing.Session
	ender     *ending.Session
	tmuxLost  func() // see Callbacks.Lost
	lastThere time.Time
	retried   bool // no person asked for this archive: a cleanup that failed is tried again
}

// requestedEnd returns the change of a requested end.
func requestedEnd(c port.Cause) session.Change {
	return session.Change{Rule: ruleStop, Why: c.Why, By: c.By}
}

func (w *closing) archive(ctx context.Context, final session.State, why session.Change, receipt *ending.Receipt) error {
	if err := w.begin(final, why); err != nil {
		return err
	}
	return w.stop(ctx, receipt)
}

// begin puts on disk that the session has to end, if that is not so already.
func (w *closing) begin(final session.State, why session.Change) error {
	if w.r.State == session.Stopping {
		return nil
	}
	if !session.CanBecome(w.r.State, session.Stopping) {
		return &StateError{State: w.r.State, Want: string(final)}
	}
	if w.r.State.Live() {
		w.r.Exit, w.r.Interruption = nil, nil // they are about an earlier life: the present life is ended by this archive
	}
	if err := w.intend(final, why, w.Moment()); err != nil {
		return err
	}
	w.at("stop-recorded")
	return nil
}

// intend puts on disk that the session has to end, with its final state and the time of the
// request. why has the rule, the evidence, and the person or rule that ended the session.
func (w *closing) intend(final session.State, why session.Change, asked process.Moment) error {
	if w.r.Interrupted() {
		asked = w.r.EndedMoment // a process that came after that moment came to a session that had ended
	}
	if err := w.r.Become(session.Stopping, w.Now(), why.Rule, why.Why); err != nil {
		return err
	}
	c := &w.r.History[len(w.r.History)-1]
	c.By, c.Status, c.Signal = why.By, why.Status, why.Signal
	w.r.Final, w.r.RequestedMoment = final, asked
	return w.save()
}

// stop carries out a stop whose intent is on disk. It may be repeated after a crash at any point:
// ended processes stay ended.
func (w *closing) stop(ctx context.Context, receipt *ending.Receipt) error {
	w.term.Refresh(ctx)
	if err := w.finishLast(ctx); err != nil {
		return err
	}
	if w.r.Exit != nil && w.r.Binding != nil && w.term.Agent == process.Gone && w.term.Half == evidence.Whole {
		return w.complete(ctx) // the agent ended by itself
	}
	w.ender.End(ctx, toEnd(w.term.View), receipt)
	if err := ctx.Err(); err != nil {
		return err // ccbot is being stopped, which is not a failure of the cleanup: the next start continues
	}
	if err := w.prompts.SettlePrompts(ctx); err != nil {
		return err
	}
	w.at("ended")
	return w.finish(ctx, receipt)
}

// toEnd returns the part of the view by which processes are ended.
func toEnd(v view.View) ending.Seen {
	return ending.Seen{Agent: v.Agent, Direct: v.State.Known == view.StateWritten, Pane: v.Pane, Lives: v.Fate == view.PaneOurs,
		Unknown: v.Fate == view.PaneUnknown}
}

// finish reports the result of a stop and puts it on disk.
func (w *closing) finish(ctx context.Context, receipt *ending.Receipt) error {
	next, why := w.r.Final, "nothing of it lives"+receipt.EndedText()
	if next != session.Completed { // an edited file may contain any state
		next = session.Archived
	}
	reported := false
	if len(receipt.Failures) > 0 {
		next, why = session.CleanupFailed, receipt.Failures[0].String()
		reported = w.retried && !receipt.HasEnded() && receipt.HasFailed(w.r.Cleanup)
		w.r.EndedMoment, w.r.EndedAt = w.end(), w.Now().UTC()
		w.noteFailures(receipt)
	} else {
		w.noteEnded(w.end())
	}
	if err := w.r.Become(next, w.Now(), ruleStopped, why); err != nil {
		return err
	}
	if !reported {
		if err := w.notify(ctx, *receipt); err != nil {
			return err
		}
	}
	return w.saveAndFollow(ctx)
}

// noteFailures notes what a cleanup left, and when it is tried again.
func (w *turn) noteFailures(receipt *ending.Receipt) {
	w.Log.Warn("cleanup_failed", logkey.SessionID, w.r.ID.String(), logkey.Reasons, receipt.Reasons())
	w.r.Cleanup = receipt.Cleanup(w.r.Cleanup)
	w.r.Cleanup.NotBefore = w.Now().UTC().Add(retryAfter(w.r.Cleanup.Attempts))
}

// noteLeftovers puts on disk the result of a cleanup of a session that had ended.
func (w *closing) noteLeftovers(rule session.Rule, receipt *ending.Receipt) error {
	if len(receipt.Others)+len(receipt.Failures) == 0 && w.r.Cleanup == nil {
		return nil
	}
	w.r.Bound = w.Evidence.Living(w.r.Bound)
	w.r.TranscriptKnown, w.r.GrowthReported = w.Observer.TranscriptSize(*w.r), false
	why := cmp.Or(strings.TrimPrefix(receipt.EndedText(), "; "), "nothing was ended")
	if len(receipt.Failures) == 0 {
		w.r.Cleanup = nil
	} else {
		w.noteFailures(receipt)
		why += "; left: " + strings.Join(receipt.Reasons(), ", ")
	}
	w.r.Note(w.Now(), rule, why)
	return w.save()
}
