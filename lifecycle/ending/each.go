package ending

import (
	"context"
	"fmt"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
)

// endEach ends processes at the same time, because each may take as long as KillGrace.
func (s *Session) endEach(ctx context.Context, who []process.Identity, prove func(process.Process) error,
	grace func(process.Identity) process.Grace) (endings []Ending, errs []error) {
	outs := make([]process.Outcome, len(who))
	errs = make([]error, len(who))
	var g errgroup.Group
	for i, id := range who {
		g.Go(func() error {
			outs[i], errs[i] = s.endOne(ctx, id, prove, grace(id))
			return nil
		})
	}
	_ = g.Wait() // always nil: each process has its own error
	now := s.ender.moment()
	for i, out := range outs {
		s.logOutcome(out, errs[i])
		endings = append(endings, withAge(out, now))
	}
	return endings, errs
}

// endOne ends one of several processes. A panic becomes the error of that process: the recover of
// lifecycle cannot catch a panic of another goroutine.
func (s *Session) endOne(ctx context.Context, id process.Identity, prove func(process.Process) error,
	grace process.Grace) (out process.Outcome, err error) {
	defer func() {
		if p := recover(); p != nil {
			s.ender.Log.Error("end_panicked", logkey.PID, id.PID, logkey.SessionID, s.r.ID.String(), logkey.Panic, fmt.Sprint(p), logkey.Stack, string(debug.Stack()))
			out, err = process.Outcome{Process: process.Process{Identity: id}}, fmt.Errorf("panic: %v", p)
		}
	}()
	return s.ender.Processes.End(ctx, id, prove, nil, grace)
}

func (s *Session) grace() process.Grace {
	return process.Grace{Term: termAfter, Kill: max(s.ender.KillGrace, termAfter)}
}

// logOutcome logs and counts the outcome of a process that ccbot set out to end. Failures are
// logged with the reasons of the session's cleanup.
func (s *Session) logOutcome(out process.Outcome, err error) {
	if what := outcomeOf(out, err); what != "" && s.ender.Outcome != nil {
		s.ender.Outcome(what)
	}
	switch {
	case out.Ended:
		s.ender.Log.Info("leftover_ended", logkey.PID, out.Process.PID, logkey.SessionID, s.r.ID.String(), logkey.How, string(out.How))
	case out.Spared != "":
		s.ender.Log.Info("leftover_spared", logkey.PID, out.Process.PID, logkey.SessionID, s.r.ID.String(), logkey.Why, out.Spared)
	}
}

// The outcomes of a process that did not end, in addition to the ways in which a process ends.
const (
	outcomeFailed = "failed" // it should have ended and has not, or that is unknown
	outcomeSpared = "spared" // it was left alone on purpose
)

// outcomeOf is the outcome of a process, in a word; empty if the process had ended before.
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
