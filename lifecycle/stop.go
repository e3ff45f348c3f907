package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// closing ends a session, and finishes one that has ended by itself.
type closing struct {
	*turn
	term      *terminal
	windows   Windows
	prompts   *delivery
	ender     *ender
	tmuxLost  func() // see Hears.Lost
	lastThere time.Time
	retried   bool // no person asked for this archive: a cleanup that failed is tried again
}

// termAfter is the time from the hang-up to TERM.
const termAfter = 2 * time.Second

// Archive ends a session, as archived or as completed. If it returns without an error, either no
// leftover of the session lives (P3), or the state is cleanup_failed. The receipt, which is
// reported as news, says which of the two, and why. While tmux does not answer, Archive refuses with
// ErrSilent; a stop that is on disk continues.
func (s *Service) Archive(ctx context.Context, id uuid.UUID, final session.State, cause Cause) error {
	return s.end(ctx, id, func(w *work) error { return w.closing.archive(ctx, final, askedFor(cause), &Receipt{}) })
}

// BeginEnd is Archive that returns when the end is on disk: the next step carries it out.
func (s *Service) BeginEnd(ctx context.Context, id uuid.UUID, final session.State, cause Cause) error {
	return s.end(ctx, id, func(w *work) error { return w.closing.begin(final, askedFor(cause)) })
}

// end is ask, but an end that is on disk continues while tmux does not answer.
func (s *Service) end(ctx context.Context, id uuid.UUID, fn func(w *work) error) error {
	if r, ok := s.kit.Store.Get(id); ok && r.State != session.Stopping {
		return s.kit.ask(ctx, id, fn)
	}
	return s.kit.change(ctx, id, fn)
}

// askedFor is the change of an end that is asked for.
func askedFor(c Cause) session.Change { return session.Change{Rule: ruleStop, Why: c.Why, By: c.By} }

func (w *closing) archive(ctx context.Context, final session.State, why session.Change, receipt *Receipt) error {
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
	if !w.r.State.CanBecome(session.Stopping) {
		return &StateError{State: w.r.State, Want: string(final)}
	}
	if w.r.State.Live() {
		w.r.Exit, w.r.Interruption = nil, nil // they are about an earlier life: the present life is ended by this archive
	}
	if err := w.intend(final, why, w.moment()); err != nil {
		return err
	}
	w.at("stop-recorded")
	return nil
}

// intend puts on disk that the session has to end, with its final state and the moment at which the end was asked for.
// why has the rule, the evidence, and who or what has ended the session.
func (w *closing) intend(final session.State, why session.Change, asked process.Moment) error {
	if w.r.Interrupted() {
		asked = w.r.Ended // a process that came after that moment came to a session that was over
	}
	if err := w.r.Become(session.Stopping, w.Now(), why.Rule, why.Why); err != nil {
		return err
	}
	c := &w.r.History[len(w.r.History)-1]
	c.By, c.Status, c.Signal = why.By, why.Status, why.Signal
	w.r.Final, w.r.Asked = final, asked
	return w.save()
}

// stop carries out a stop whose intent is on disk. It may be called again after a crash at any
// point: what has ended stays ended.
func (w *closing) stop(ctx context.Context, receipt *Receipt) error {
	w.term.look(ctx)
	if w.r.Exit != nil && w.r.Binding != nil && w.term.Agent == process.Gone {
		return w.complete(ctx) // the agent ended by itself, and that is reported already
	}
	receipt.Adopted = w.r.Binding != nil && w.r.Binding.Adopted && !w.leftByUs()
	receipt.Split = !receipt.Adopted && w.term.Pane.WindowPanes > 1
	w.bindOwn(ctx)
	w.endAgent(ctx, receipt)
	ended, failures, err := w.ender.endLeftovers(ctx)
	if err != nil {
		receipt.fail(FailureProcesses, process.Identity{}, err.Error())
	}
	below, failed := w.ender.endBelow(ctx)
	receipt.Others = append(receipt.Others, append(ended, below...)...)
	receipt.Failures = append(receipt.Failures, append(failures, failed...)...)
	if err := ctx.Err(); err != nil {
		return err // ccbot is being stopped, and that is no failure of the cleanup: the next start goes on
	}
	if err := w.prompts.settlePrompts(ctx); err != nil {
		return err
	}
	w.at("ended")
	return w.finish(ctx, receipt)
}

// bindOwn records the processes that a bound launcher has started as bound too, while they are
// still visible below it. They end with the session, also after a crash.
func (w *closing) bindOwn(ctx context.Context) {
	if w.r.Binding == nil || w.term.State.Known == StateWritten {
		return // the bound process is the agent itself, and no launcher
	}
	all, err := w.Evidence.Read(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return // the look at leftovers meets the same error and handles it
	}
	for _, v := range all.Verdicts {
		if all.IsOwn(*w.r, v) && v.Writer == process.Yes && !slices.Contains(w.r.Bound, v.Process.Identity) {
			w.r.Bound = append(w.r.Bound, v.Process.Identity)
		}
	}
	if err := w.save(); err != nil {
		w.Log.Warn("record_not_saved", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
}

// endAgent ends the session's agent, and closes the session's own pane. An adopted pane stays open.
// The agent is ended by its proven process, also while tmux does not answer: then another try closes
// the pane.
func (w *closing) endAgent(ctx context.Context, receipt *Receipt) {
	b := w.r.Binding
	if b == nil {
		w.hangUpUnbound(ctx)
		return
	}
	switch w.term.Agent {
	case process.Unknown:
		receipt.fail(FailureUnknown, b.Agent, "it is not known whether it still lives")
		return
	case process.Alive:
		hangUp := w.hangUp
		if b.Adopted {
			hangUp = nil
		}
		if !w.ender.endBound(ctx, hangUp, receipt) {
			return
		}
	}
	if w.term.Fate == PaneUnknown && !b.Adopted {
		receipt.fail(FailureTmux, process.Identity{}, fmt.Sprintf("tmux did not say whether pane %s is there", b.Pane))
		return
	}
	err := w.closeOwn(ctx)
	if w.leftByUs() { // an earlier session has left the adopted pane behind, and nothing else would close it
		err = errors.Join(err, w.hangUpPane(ctx, w.term.Pane))
	}
	if err != nil {
		receipt.fail(FailureTmux, process.Identity{}, err.Error())
	}
}

// hangUpUnbound closes the window of a launch that ccbot could not bind: a pane that has the
// session's tag and holds the launch. A pane that a person split off has the tag too, and stays.
// The look at leftovers finds out whether the agent is gone.
func (w *closing) hangUpUnbound(ctx context.Context) {
	panes, err := w.windows.Panes(ctx)
	for _, p := range panes {
		if p.Tag == w.Evidence.Tag(w.r.ID) && !p.Dead && w.isLaunch(p.PID) {
			err = errors.Join(err, w.closePane(ctx, p))
		}
	}
	if err != nil {
		w.Log.Info("window_not_closed", logkey.SessionID, w.r.ID.String(), logkey.Error, err)
	}
}

// hangUp closes the pane of the bound agent and no other: a pane that is not proven to be the
// session's stays.
func (w *closing) hangUp(ctx context.Context) error {
	if w.term.Fate != PaneOurs {
		return nil
	}
	return w.closeOwn(ctx)
}

// closeOwn closes the session's pane as it was last seen, living or dead. A pane that a person
// opened stays.
func (w *closing) closeOwn(ctx context.Context) error {
	if w.r.Binding != nil && w.r.Binding.Adopted {
		return nil
	}
	return w.closePane(ctx, w.term.Pane)
}

// leftByUs says whether ccbot itself once made the adopted pane: the pane has this instance's tag,
// and the agent is the pane's own process and not in a shell.
func (w *closing) leftByUs() bool {
	b := w.r.Binding
	return b != nil && b.Adopted && b.Shell == 0 && w.Evidence.Ours(w.term.Pane) && w.term.Pane.PID == b.Agent.PID
}

// closePane closes a pane that carries this session's tag.
func (w *closing) closePane(ctx context.Context, p tmux.Pane) error {
	if p.Tag != w.Evidence.Tag(w.r.ID) {
		return nil
	}
	return w.hangUpPane(ctx, p)
}

// hangUpPane closes a pane. The guard names the pane's process, so an id that was reused in between
// closes nothing.
func (w *closing) hangUpPane(ctx context.Context, p tmux.Pane) error {
	if !p.ID.Valid() {
		return nil
	}
	err := w.windows.ClosePane(ctx, tmux.Guard{Pane: p.ID, PID: p.PID})
	if err == nil || errors.Is(err, tmux.ErrNoPane) || errors.Is(err, tmux.ErrNoServer) {
		return nil
	}
	return fmt.Errorf("close pane %s: %w", p.ID, err)
}

// finish reports the result of a stop and puts it on disk.
func (w *closing) finish(ctx context.Context, receipt *Receipt) error {
	next, why := w.r.Final, "nothing of it lives"+receipt.ended()
	if next != session.Completed { // an edited file may contain any state
		next = session.Archived
	}
	told := false
	if len(receipt.Failures) > 0 {
		next, why = session.CleanupFailed, receipt.Failures[0].String()
		w.Log.Warn("cleanup_failed", logkey.SessionID, w.r.ID.String(), logkey.Reasons, receipt.reasons())
		told = w.retried && !receipt.hasEnded() && w.r.Cleanup != nil && sameFailures(w.r.Cleanup.Failures, receipt.kept())
		w.r.Ended, w.r.EndedAt, w.r.Cleanup = w.end(), w.Now().UTC(), w.ender.cleanup(receipt)
	} else {
		w.over(w.end())
	}
	if err := w.r.Become(next, w.Now(), ruleStopped, why); err != nil {
		return err
	}
	if !told {
		if err := w.tell(ctx, *w.r, *receipt); err != nil {
			return err
		}
	}
	w.at("receipt-told")
	return w.saveAndFollow(ctx)
}
