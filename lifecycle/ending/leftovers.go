package ending

import (
	"context"
	"errors"
	"slices"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

// EndLeftovers ends every living leftover of the session. Second writers are spared, and so is
// every process about which the evidence contradicts itself.
func (s *Session) EndLeftovers(ctx context.Context) (ended []Ending, failures []Failure, err error) {
	l, err := s.leftovers(ctx)
	if err != nil {
		return nil, nil, err
	}
	now := s.ender.moment()
	for _, p := range l.seconds {
		out := process.Outcome{Process: p, Spared: "it is not the session's own", Reason: ReasonSecond}
		s.logOutcome(out, nil)
		ended = append(ended, withAge(out, now))
	}
	more, failed := s.endWriting(ctx, l.left, s.proveLeftover(ctx))
	return append(ended, more...), slices.Concat(l.unknown, l.unclear, failed), nil
}

// EndProven ends the leftovers of the session, and then the tools of those that got KILL. In
// contrast to EndLeftovers, it ignores a process that only may write. found is false if there is no
// leftover.
func (s *Session) EndProven(ctx context.Context) (found bool, ended []Ending, failures []Failure, err error) {
	l, err := s.leftovers(ctx)
	if err != nil || len(l.left) == 0 && len(l.unknown) == 0 {
		return false, nil, nil, err
	}
	ended, failures = s.endWriting(ctx, l.left, s.proveLeftover(ctx))
	below, failed := s.EndTools(ctx)
	return true, append(ended, below...), slices.Concat(l.unknown, failures, failed), nil
}

// EndWriters ends processes that write the conversation without being the session's agent: a person
// has decided that. A process that no longer writes it is spared. The tools of the processes are
// ended too; a tool that stays is tried again at the session's end.
func (s *Session) EndWriters(ctx context.Context, who []process.Identity) []Ending {
	prove := s.proveWriter(ctx, func(r session.Record, found *evidence.Evidence, v process.Verdict) bool { return !found.IsOwn(r, v) })
	ended, _ := s.endWriting(ctx, who, prove)
	_, _ = s.EndTools(ctx)
	return ended
}

// leftovers are the processes around a session, sorted by what has to be done with them.
type leftovers struct {
	left    []process.Identity // to be ended
	unknown []Failure          // the record bound them, and it is unknown whether they live
	seconds []process.Process  // to be spared
	unclear []Failure          // it is unknown whether they write
}

func (s *Session) leftovers(ctx context.Context) (l leftovers, err error) {
	found, err := s.ender.Evidence.Settled(ctx, s.r.AgentSessionID)
	if err != nil {
		return leftovers{}, err
	}
	l.left, l.unknown = s.boundBefore()
	for _, v := range found.Verdicts {
		switch evidence.StandingOf(*s.r, v) {
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
// abandoned because the fate of its agent was unknown, that agent is not a leftover.
func (s *Session) boundBefore() (alive []process.Identity, failures []Failure) {
	if s.r.State == session.Abandoned {
		return nil, nil
	}
	for _, id := range s.ender.Evidence.Living(s.r.Bound) {
		switch {
		case s.r.Binding != nil && s.r.Binding.Agent == id:
		case s.ender.Processes.Liveness(id) == process.Unknown:
			failures = append(failures, failureOf(FailureUnknown, id, "it is not known whether it still lives"))
		default:
			alive = append(alive, id)
		}
	}
	return alive, failures
}

// proveLeftover returns a check that looks at all the evidence again, right before the signal.
func (s *Session) proveLeftover(ctx context.Context) func(process.Process) error {
	bound := slices.Clone(s.r.Bound)
	writes := s.proveWriter(ctx, func(r session.Record, _ *evidence.Evidence, v process.Verdict) bool {
		return evidence.StandingOf(r, v) == evidence.Leftover
	})
	return func(p process.Process) error {
		if slices.Contains(bound, p.Identity) {
			return s.guarded(ctx, p, process.GuardNoAgent) // the record saw it start
		}
		return writes(p)
	}
}

// proveWriter returns a check that a process writes the conversation at that moment, is accepted by
// wanted, and is protected by nothing.
func (s *Session) proveWriter(ctx context.Context, wanted func(session.Record, *evidence.Evidence, process.Verdict) bool) func(process.Process) error {
	r := s.r.Clone()
	return func(p process.Process) error {
		if err := s.guarded(ctx, p); err != nil {
			return err
		}
		found, err := s.ender.Evidence.Settled(ctx, r.AgentSessionID)
		if err != nil {
			return err
		}
		for _, v := range found.Verdicts {
			if v.Process.Identity == p.Identity && v.Writer == process.Yes && wanted(r, found, v) {
				return nil
			}
		}
		return errors.New("it is no longer proven to write the session")
	}
}

// guarded returns the guard that spares a process. Spared are ccbot and its ancestors, tmux,
// processes of other users, processes other than agents, and the agent of another session.
func (s *Session) guarded(ctx context.Context, p process.Process, except ...string) error {
	table, err := s.ender.Processes.Snapshot(ctx)
	if err != nil {
		return err
	}
	if spare := s.ender.Evidence.Of(table).SparedBy(s.r.ID, p, except...); spare != nil {
		return spare
	}
	return nil
}

// endWriting ends processes that write the conversation. A process that still lives afterwards is a
// failure, unless it is another session's agent or has moved on to another conversation.
func (s *Session) endWriting(ctx context.Context, who []process.Identity, prove func(process.Process) error) ([]Ending, []Failure) {
	seen, err := s.ender.Processes.Snapshot(ctx)
	if err != nil {
		seen = process.Snapshot{} // then only the descendants that are seen right before a KILL are noted
	}
	before := slices.Clone(s.r.Descendants)
	endings, errs := s.endEach(ctx, who, prove, func(id process.Identity) process.Grace { return s.noting(id, seen) })
	var receipt Receipt
	for i, e := range endings {
		s.spareCleaned(e.Outcome, before)
		switch {
		case errs[i] == nil && (e.isGone() || e.Reason == evidence.ReasonOtherAgent):
		case errs[i] == nil && e.Reason == process.ReasonUnproven && s.movedOn(ctx, e.Process.Identity):
		default:
			receipt.failOutcome(e.Outcome, errs[i])
		}
	}
	return endings, receipt.Failures
}

// movedOn reports whether a process that was spared as unproven is seen to have left the
// conversation. It is false for a process that the record bound: the evidence may not mention that
// process at all.
func (s *Session) movedOn(ctx context.Context, id process.Identity) bool {
	if slices.Contains(s.r.Bound, id) {
		return false
	}
	found, err := s.ender.Evidence.Settled(ctx, s.r.AgentSessionID)
	return err == nil && !slices.ContainsFunc(found.Verdicts, func(v process.Verdict) bool { return v.Process.Identity == id })
}
