package lifecycle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// ender ends processes of a session, and no other process: each is proven right before its signal.
type ender struct {
	*turn
	Processes Processes
	outcome   func(what string) // see Hears
	patience  time.Duration     // see Config.KillGrace
	// noted guards r and save while several processes are being ended at the same time. A check of such a
	// process has a copy of r, and reads only r.ID, which never changes.
	noted sync.Mutex
}

// noteEnded puts on disk what became of a session's leftovers.
func (w *ender) noteEnded(rule session.Rule, ended []Ending, failures []Failure) error {
	if len(ended)+len(failures) == 0 && w.r.Cleanup == nil {
		return nil
	}
	w.r.Bound = w.Evidence.Living(w.r.Bound)
	w.r.Known, w.r.Haunted = w.Observer.transcriptSize(*w.r), false
	receipt := &Receipt{Others: ended, Failures: failures}
	why := cmp.Or(strings.TrimPrefix(receipt.ended(), "; "), "nothing was ended")
	if len(failures) == 0 {
		w.r.Cleanup = nil
	} else {
		w.Log.Warn("cleanup_failed", logkey.SessionID, w.r.ID.String(), logkey.Reasons, receipt.reasons())
		w.r.Cleanup = w.cleanup(receipt)
		why += "; left: " + strings.Join(receipt.reasons(), ", ")
	}
	w.r.Note(w.Now(), rule, why)
	return w.save()
}

// endLeftovers ends every living leftover of the session. Second writers are spared, and so is
// every process about which the evidence contradicts itself.
func (w *ender) endLeftovers(ctx context.Context) (ended []Ending, failures []Failure, err error) {
	l, err := w.leftovers(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := w.moment()
	for _, p := range l.seconds {
		out := process.Outcome{Process: p, Spared: "it is not the session's own", Reason: ReasonSecond}
		w.logOutcome(out, nil)
		ended = append(ended, aged(out, now))
	}
	more, failed := w.endWriting(ctx, l.left, w.proveLeftover(ctx))
	return append(ended, more...), slices.Concat(l.unknown, l.unclear, failed), nil
}

// leftovers are the processes around a session, sorted by what has to be done with them.
type leftovers struct {
	left    []process.Identity // to be ended
	unknown []Failure          // the record bound them, and it is unknown whether they live
	seconds []process.Process  // to be spared
	unclear []Failure          // it is unknown whether they write
}

func (w *ender) leftovers(ctx context.Context) (l leftovers, err error) {
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

// boundBefore returns the living agents that this record bound earlier. If the session was
// abandoned because the fate of its agent was unknown, that agent is no leftover.
func (w *ender) boundBefore() (alive []process.Identity, failures []Failure) {
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

// proveLeftover returns a check that looks at all the evidence again, right before the signal.
func (w *ender) proveLeftover(ctx context.Context) func(process.Process) error {
	bound := slices.Clone(w.r.Bound)
	writes := w.proveWriter(ctx, func(r session.Record, _ *evidence.Evidence, v process.Verdict) bool {
		return evidence.StandingOf(r, v) == evidence.Leftover
	})
	return func(p process.Process) error {
		if slices.Contains(bound, p.Identity) {
			return w.guarded(ctx, p, process.GuardNoAgent) // the record saw it start
		}
		return writes(p)
	}
}

// proveWriter returns a check that a process writes the conversation at that moment, is accepted by
// wanted, and is protected by nothing.
func (w *ender) proveWriter(ctx context.Context, wanted func(session.Record, *evidence.Evidence, process.Verdict) bool) func(process.Process) error {
	r := w.r.Clone()
	return func(p process.Process) error {
		if err := w.guarded(ctx, p); err != nil {
			return err
		}
		found, err := w.Evidence.Settled(ctx, r.ClaudeSessionID)
		if err != nil {
			return err
		}
		for _, v := range found.Verdicts {
			if v.Process.Identity == p.Identity && v.Writer == process.Yes && wanted(r, found, v) {
				return nil
			}
		}
		return errors.New("it is not proven to write the session any more")
	}
}

// guarded returns the guard that spares a process. Spared are ccbot and its ancestors, tmux,
// processes of other users, processes that are no agent, and the agent of another session.
func (w *ender) guarded(ctx context.Context, p process.Process, except ...string) error {
	table, err := w.Processes.Snapshot(ctx)
	if err != nil {
		return err
	}
	if spare := w.Evidence.Of(table).SparedBy(w.r.ID, p, except...); spare != nil {
		return spare
	}
	return nil
}

// endWriting ends processes that write the conversation. A process that still lives afterwards is a
// failure, unless it is another session's agent or has moved on to another conversation.
func (w *ender) endWriting(ctx context.Context, who []process.Identity, prove func(process.Process) error) ([]Ending, []Failure) {
	seen, err := w.Processes.Snapshot(ctx)
	if err != nil {
		seen = process.Snapshot{} // then only the descendants that are seen right before a KILL are noted
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

// movedOn says whether a process that was spared as unproven is seen to have left the conversation.
// It is false for a process that the record bound: the evidence may not mention that process at
// all.
func (w *ender) movedOn(ctx context.Context, id process.Identity) bool {
	if slices.Contains(w.r.Bound, id) {
		return false
	}
	found, err := w.Evidence.Settled(ctx, w.r.ClaudeSessionID)
	return err == nil && !slices.ContainsFunc(found.Verdicts, func(v process.Verdict) bool { return v.Process.Identity == id })
}

// endEach ends processes at the same time, because each may take as long as KillGrace.
func (w *ender) endEach(ctx context.Context, who []process.Identity, prove func(process.Process) error,
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
	_ = g.Wait() // always nil: each process has its own error
	now := w.moment()
	for i, out := range outs {
		w.logOutcome(out, errs[i])
		endings = append(endings, aged(out, now))
	}
	return endings, errs
}

// endOne ends one of several processes. A panic becomes the error of that process: the recover in
// do cannot catch a panic of another goroutine.
func (w *ender) endOne(ctx context.Context, id process.Identity, prove func(process.Process) error,
	grace process.Grace) (out process.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			w.Log.Error("end_panicked", logkey.PID, id.PID, logkey.SessionID, w.r.ID.String(), logkey.Panic, fmt.Sprint(p), logkey.Stack, string(debug.Stack()))
			out, err = process.Outcome{Process: process.Process{Identity: id}}, fmt.Errorf("panic: %v", p)
		}
	}()
	return w.Processes.End(ctx, id, prove, nil, grace)
}

func (w *ender) grace() process.Grace {
	return process.Grace{Term: termAfter, Kill: max(w.patience, termAfter)}
}

// logOutcome logs what became of a process that ccbot set out to end, and counts it. What failed is
// logged with the reasons of the session's cleanup.
func (w *ender) logOutcome(out process.Outcome, err error) {
	if what := outcomeOf(out, err); what != "" && w.outcome != nil {
		w.outcome(what)
	}
	switch {
	case out.Ended:
		w.Log.Info("leftover_ended", logkey.PID, out.Process.PID, logkey.SessionID, w.r.ID.String(), logkey.How, string(out.How))
	case out.Spared != "":
		w.Log.Info("leftover_spared", logkey.PID, out.Process.PID, logkey.SessionID, w.r.ID.String(), logkey.Why, out.Spared)
	}
}

// The outcomes of a process that did not end, in addition to the ways in which a process ends.
const (
	outcomeFailed = "failed" // it should have ended and has not, or that is unknown
	outcomeSpared = "spared" // it was left alone on purpose
)

// outcomeOf is what became of a process, in a word; empty if the process had ended before.
func outcomeOf(out process.Outcome, err error) string {
	switch {
	case out.How == process.HowAlreadyGone:
		return ""
	case err != nil || out.Spared == "" && !out.Ended || out.Ended && !out.Verified:
		return outcomeFailed
	case out.Ended:
		return string(out.How)
	}
	return outcomeSpared
}

// cleanup describes what is left after another failed try.
func (w *ender) cleanup(receipt *Receipt) *session.CleanupError {
	c := &session.CleanupError{Reason: receipt.Failures[0].String(), Failures: receipt.kept(), Attempts: 1}
	if w.r.Cleanup != nil {
		c.Attempts += max(0, w.r.Cleanup.Attempts)
	}
	c.NotBefore = w.Now().UTC().Add(retryAfter(c.Attempts))
	for _, f := range receipt.Failures {
		if f.ID.PID != 0 && !slices.Contains(c.Processes, f.ID) {
			c.Processes = append(c.Processes, f.ID)
		}
	}
	return c
}

// endBound ends the living agent, and says whether it is gone.
func (w *ender) endBound(ctx context.Context, hangUp func(context.Context) error, receipt *Receipt) bool {
	b := w.r.Binding
	seen, err := w.Processes.Snapshot(ctx) // what the agent has started, while that is still visible
	if err != nil {
		receipt.fail(FailureProcesses, process.Identity{}, err.Error())
	}
	before := slices.Clone(w.r.Below)
	prove := func(p process.Process) error { return w.guarded(ctx, p, process.GuardNoAgent) }
	out, err := w.Processes.End(ctx, b.Agent, prove, hangUp, w.noting(b.Agent, seen))
	w.logOutcome(out, err)
	ending := aged(out, w.moment())
	receipt.Agent = &ending
	if err != nil || !ending.over() {
		receipt.failOutcome(out, err)
		return false
	}
	w.spareCleaned(out, before)
	return true
}
