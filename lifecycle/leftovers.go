package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// endRest ends what is left of the session beside its agent, and says what it
// leaves alone and why.
func (w *work) endRest(ctx context.Context, receipt *Receipt) {
	ended, failures, err := w.endLeftovers(ctx)
	if err != nil {
		receipt.fail(FailureProcesses, process.Identity{}, err.Error())
	}
	below, failed := w.endBelow(ctx)
	receipt.Others = append(receipt.Others, append(ended, below...)...)
	receipt.Failures = append(receipt.Failures, append(failures, failed...)...)
}

// EndLeftovers ends what is left of a session that is over, and nobody else: not
// who was told as a second writer, nor who only may write. What cannot be ended is
// noted with the record, with the time before which it is not tried again. It is
// not told.
func (s *Service) EndLeftovers(ctx context.Context, id uuid.UUID, rule session.Rule) (ended []Ending, err error) {
	err = s.do(ctx, id, func(w *work) error {
		if !w.r.Resumable() {
			return &StateError{State: w.r.State, Want: "cleaned up"}
		}
		l, err := w.leftovers(ctx)
		if err != nil {
			return err
		}
		if len(l.left) == 0 && len(l.unknown) == 0 {
			return w.noteEnded(rule, nil, nil)
		}
		var failures []Failure
		ended, failures = w.endWriting(ctx, l.left, w.proveLeftover(ctx))
		below, failed := w.endBelow(ctx)
		ended = append(ended, below...)
		w.at("leftovers-ended")
		return w.noteEnded(rule, ended, slices.Concat(l.unknown, failures, failed))
	})
	return ended, err
}

// noteEnded puts on disk what became of a session's leftovers.
func (w *work) noteEnded(rule session.Rule, ended []Ending, failures []Failure) error {
	if len(ended)+len(failures) == 0 && w.r.Cleanup == nil {
		return nil
	}
	w.r.Bound = w.Evidence.Living(w.r.Bound)
	w.r.Known, w.r.Haunted = w.transcriptSize(), false
	why := endedText(ended)
	if len(failures) == 0 {
		w.r.Cleanup = nil
	} else {
		receipt := &Receipt{Failures: failures}
		w.Log.Warn("cleanup_failed", logkey.SessionID, w.r.ID.String(), logkey.Reasons, receipt.reasons())
		w.r.Cleanup = w.cleanup(receipt)
		why += "; left: " + strings.Join(receipt.reasons(), ", ")
	}
	w.r.Note(w.Now(), rule, why)
	return w.save()
}

// endedText is what a history says of processes that were ended.
func endedText(endings []Ending) string {
	var ended []string
	for _, e := range endings {
		if e.over() {
			ended = append(ended, fmt.Sprintf("process %d (%s)", e.Process.PID, e.How))
		}
	}
	if len(ended) == 0 {
		return "nothing was ended"
	}
	return "ended: " + strings.Join(ended, ", ")
}

// endLeftovers ends every leftover of the session that still lives. Second
// writers are spared, and so is whose evidence contradicts itself.
func (w *work) endLeftovers(ctx context.Context) (ended []Ending, failures []Failure, err error) {
	l, err := w.leftovers(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := w.moment()
	for _, p := range l.seconds {
		out := process.Outcome{Process: p, Spared: "it is not the session's own", Reason: ReasonSecond}
		w.logOutcome(out, nil)
		ended = append(ended, w.aged(out, now))
	}
	more, failed := w.endWriting(ctx, l.left, w.proveLeftover(ctx))
	return append(ended, more...), slices.Concat(l.unknown, l.unclear, failed), nil
}

// leftovers are the processes around a session, by what is to become of them.
type leftovers struct {
	left    []process.Identity // are ended
	unknown []Failure          // the record bound them, and nobody knows whether they live
	seconds []process.Process  // are spared
	unclear []Failure          // nobody knows whether they write
}

func (w *work) leftovers(ctx context.Context) (l leftovers, err error) {
	found, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return leftovers{}, err
	}
	l.left, l.unknown = w.boundBefore()
	for _, v := range found.Verdicts {
		switch evidence.StandingOf(*w.r, v) {
		case evidence.Leftover:
			if !slices.Contains(l.left, v.Process.Identity) {
				l.left = append(l.left, v.Process.Identity)
			}
		case evidence.Second:
			l.seconds = append(l.seconds, v.Process)
		case evidence.Unclear:
			l.unclear = append(l.unclear, failureOf(FailureUnknown, v.Process.Identity, "it may write the session: "+v.Why))
		case evidence.Agent: // endAgent has decided about it
		}
	}
	return l, nil
}

// boundBefore are living agents that this record bound earlier. Of a session that
// was given up because nobody knew what had become of its agent it is no leftover.
func (w *work) boundBefore() (alive []process.Identity, failures []Failure) {
	if w.r.State == session.Abandoned {
		return nil, nil
	}
	for _, id := range w.Evidence.Living(w.r.Bound) {
		switch {
		case w.r.Binding != nil && w.r.Binding.Agent == id:
		case w.Processes.Liveness(id) == process.Unknown:
			failures = append(failures, failureOf(FailureUnknown, id, "it is not known whether it still lives"))
		default:
			alive = append(alive, id)
		}
	}
	return alive, failures
}

// proveLeftover looks at all the evidence once more, right before the signal.
func (w *work) proveLeftover(ctx context.Context) func(process.Process) error {
	leftover := func(_ *evidence.Evidence, v process.Verdict) bool {
		return evidence.StandingOf(*w.r, v) == evidence.Leftover
	}
	return func(p process.Process) error {
		if slices.Contains(w.r.Bound, p.Identity) {
			return w.guarded(ctx, p, process.GuardNoAgent) // the record saw it start
		}
		return w.proveWriter(ctx, p, leftover)
	}
}

// proveWriter says whether the process writes the conversation at this moment and
// is one that is wanted, and whether nothing protects it.
func (w *work) proveWriter(ctx context.Context, p process.Process, wanted func(*evidence.Evidence, process.Verdict) bool) error {
	if err := w.guarded(ctx, p); err != nil {
		return err
	}
	found, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return err
	}
	for _, v := range found.Verdicts {
		if v.Process.Identity == p.Identity && v.Writer == process.Yes && wanted(found, v) {
			return nil
		}
	}
	return errors.New("it is not proven to write the session any more")
}

// guarded says which guard spares a process: ccbot and what is above it, tmux,
// other users, what is no agent, and the agent of another session.
func (w *work) guarded(ctx context.Context, p process.Process, except ...string) error {
	table, err := w.Processes.Snapshot(ctx)
	if err != nil {
		return err
	}
	if spare := w.Evidence.Of(table).SparedBy(w.r.ID, p, except...); spare != nil {
		return spare
	}
	return nil
}

// endWriting ends processes that write the conversation. One that still lives is
// a failure, unless it is another session's agent or has moved on.
func (w *work) endWriting(ctx context.Context, who []process.Identity, prove func(process.Process) error) ([]Ending, []Failure) {
	seen, err := w.Processes.Snapshot(ctx)
	if err != nil {
		seen = process.Snapshot{} // then only what is seen right before a KILL is noted
	}
	before := slices.Clone(w.r.Below)
	endings, errs := w.endEach(ctx, who, prove, func(id process.Identity) process.Grace { return w.noting(id, seen) })
	var receipt Receipt
	for i, e := range endings {
		w.spareCleaned(e.Outcome, before)
		switch {
		case errs[i] == nil && (e.over() || e.Reason == evidence.ReasonOtherAgent):
		case errs[i] == nil && e.Reason == process.ReasonUnproven && w.movedOn(ctx, e.Process.Identity):
		default:
			receipt.failOutcome(e.Outcome, errs[i])
		}
	}
	return endings, receipt.Failures
}

// movedOn says whether a process that was spared because it was not proven any
// more is seen to have left the conversation. Of one that the record bound the
// evidence may say nothing at all.
func (w *work) movedOn(ctx context.Context, id process.Identity) bool {
	if slices.Contains(w.r.Bound, id) {
		return false
	}
	found, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	return err == nil && !slices.ContainsFunc(found.Verdicts, func(v process.Verdict) bool { return v.Process.Identity == id })
}

// endEach ends processes side by side: each may take as long as KillGrace.
func (w *work) endEach(ctx context.Context, who []process.Identity, prove func(process.Process) error,
	grace func(process.Identity) process.Grace) (endings []Ending, errs []error) {
	outs := make([]process.Outcome, len(who))
	errs = make([]error, len(who))
	var g errgroup.Group
	for i, id := range who {
		g.Go(func() error {
			outs[i], errs[i] = w.endOne(ctx, id, prove, grace(id))
			return nil
		})
	}
	_ = g.Wait() // it has none: each has its own
	now := w.moment()
	for i, out := range outs {
		w.logOutcome(out, errs[i])
		endings = append(endings, w.aged(out, now))
	}
	return endings, errs
}

// endOne ends one of several. A panic is that process's error: do cannot see one
// of another goroutine.
func (w *work) endOne(ctx context.Context, id process.Identity, prove func(process.Process) error,
	grace process.Grace) (out process.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("end_panicked", logkey.PID, id.PID, logkey.SessionID, w.r.ID.String(), logkey.Panic, fmt.Sprint(p), logkey.Stack, string(debug.Stack()))
			out, err = process.Outcome{Process: process.Process{Identity: id}}, fmt.Errorf("panic: %v", p)
		}
	}()
	return w.Processes.End(ctx, id, prove, nil, grace)
}
