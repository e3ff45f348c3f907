package ending

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/process"
	"ccbot/tmux"
)

// termAfter is the time from the hang-up to TERM. Without a hang-up TERM is sent at once.
const termAfter = 2 * time.Second

// bindOwn records the processes that a bound launcher has started as bound too, while they are
// still visible below it. They end with the session, also after a crash.
func (s *Session) bindOwn(ctx context.Context, seen Seen) {
	if _, err := s.BindServer(ctx); err != nil {
		s.ender.Log.Warn("record_not_saved", logkey.SessionID, s.r.ID.String(), logkey.Error, err)
	}
	if s.r.Binding == nil || seen.Direct {
		return
	}
	all, err := s.ender.Evidence.Read(ctx, s.r.AgentSessionID)
	if err != nil {
		return // the search for leftovers meets the same error and handles it
	}
	for _, v := range all.Verdicts {
		if all.IsOwn(*s.r, v) && v.Writer == process.Yes && !slices.Contains(s.r.Bound, v.Process.Identity) {
			s.r.Bound = append(s.r.Bound, v.Process.Identity)
		}
	}
	if err := s.save(); err != nil {
		s.ender.Log.Warn("record_not_saved", logkey.SessionID, s.r.ID.String(), logkey.Error, err)
	}
}

// BindServer binds the server of an agent that runs in two processes, if it is seen and not bound
// yet, and reports whether it did. From then on the server ends with the session.
func (s *Session) BindServer(ctx context.Context) (bound bool, err error) {
	if s.r.Binding == nil || !s.ender.Evidence.LacksServer(*s.r) {
		return false, nil
	}
	server, err := s.ender.Evidence.ServerBelow(ctx, *s.r)
	if err != nil || !server.Valid() {
		return false, nil // not seen yet
	}
	s.r.Binding.AgentServer = server
	s.r.Bound = append(s.r.Bound, server)
	return true, s.save()
}

// endAgent ends the session's agent, and closes the session's own pane. An adopted pane stays open.
// The agent is ended by its proven process, also while tmux does not answer: then another try
// closes the pane.
func (s *Session) endAgent(ctx context.Context, seen Seen, receipt *Receipt) {
	b := s.r.Binding
	if b == nil {
		s.hangUpUnbound(ctx)
		return
	}
	alive := seen.Agent
	if b.AgentServer.Valid() { // then seen is about both processes
		alive = s.ender.Processes.Liveness(b.Agent)
	}
	switch alive {
	case process.Unknown:
		receipt.fail(FailureUnknown, b.Agent, "it is not known whether it still lives")
		return
	case process.Alive:
		var hangUp func(context.Context) error
		if !b.Adopted {
			hangUp = func(ctx context.Context) error { return s.hangUp(ctx, seen) }
		}
		if !s.endBound(ctx, hangUp, receipt) {
			return
		}
	}
	if seen.Unknown && !b.Adopted {
		receipt.fail(FailureTmux, process.Identity{}, fmt.Sprintf("tmux did not report whether pane %s exists", b.Pane))
		return
	}
	err := s.CloseOwn(ctx, seen.Pane)
	if s.HasMadeAdopted(seen.Pane) { // an earlier session left the adopted pane, and nothing else would close it
		err = errors.Join(err, s.hangUpPane(ctx, seen.Pane))
	}
	if err != nil {
		receipt.fail(FailureTmux, process.Identity{}, err.Error())
	}
}

// hangUpUnbound closes the window of a launch that ccbot could not bind: a pane that has the
// session's tag and holds the launch. A pane that a person split off also has the tag, and stays.
// The search for leftovers finds out whether the agent is gone.
func (s *Session) hangUpUnbound(ctx context.Context) {
	panes, err := s.ender.Panes.Panes(ctx)
	for _, p := range panes {
		if p.Tag == s.ender.Evidence.Tag(s.r.ID) && !p.Dead && s.isLaunch(p.PID) {
			err = errors.Join(err, s.ClosePane(ctx, p))
		}
	}
	if err != nil {
		s.ender.Log.Info("window_not_closed", logkey.SessionID, s.r.ID.String(), logkey.Error, err)
	}
}

// isLaunch reports whether a process was started for the session's conversation.
func (s *Session) isLaunch(pid int) bool {
	p, err := s.ender.Processes.Inspect(pid)
	return err == nil && s.ender.Evidence.StartedFor(*s.r, p)
}

// hangUp closes the pane of the bound agent and no other: a pane that is not proven to be the
// session's stays.
func (s *Session) hangUp(ctx context.Context, seen Seen) error {
	if !seen.Lives {
		return nil
	}
	return s.CloseOwn(ctx, seen.Pane)
}

// CloseOwn closes the session's pane as it was last seen, living or dead. A pane that a person
// opened stays.
func (s *Session) CloseOwn(ctx context.Context, p tmux.Pane) error {
	if s.r.Binding != nil && s.r.Binding.Adopted {
		return nil
	}
	return s.ClosePane(ctx, p)
}

// HasMadeAdopted reports whether ccbot itself once made the adopted pane p: it has this instance's
// tag, and the agent is the pane's own process and not in a shell.
func (s *Session) HasMadeAdopted(p tmux.Pane) bool {
	b := s.r.Binding
	return b != nil && b.Adopted && b.Shell == 0 && s.ender.Evidence.Ours(p) && p.PID == b.Agent.PID
}

// ClosePane closes a pane that carries this session's tag.
func (s *Session) ClosePane(ctx context.Context, p tmux.Pane) error {
	if p.Tag != s.ender.Evidence.Tag(s.r.ID) {
		return nil
	}
	return s.hangUpPane(ctx, p)
}

// hangUpPane closes a pane. The guard names the pane's process, so an id that was reused in between
// closes nothing.
func (s *Session) hangUpPane(ctx context.Context, p tmux.Pane) error {
	if !p.ID.Valid() {
		return nil
	}
	err := s.ender.Panes.ClosePane(ctx, tmux.Guard{Pane: p.ID, PID: p.PID})
	if err == nil || errors.Is(err, tmux.ErrNoPane) || errors.Is(err, tmux.ErrNoServer) {
		return nil
	}
	return fmt.Errorf("close pane %s: %w", p.ID, err)
}

// Continue sends SIGCONT to the session's agent alone, with the proof of an end.
func (s *Session) Continue(ctx context.Context) error {
	if s.r.Binding == nil {
		return process.ErrGone
	}
	prove := func(p process.Process) error { return s.guarded(ctx, p, process.GuardNoAgent) }
	return s.ender.Processes.Continue(s.r.Binding.Agent, prove)
}

// endBound ends the living agent, and reports whether it is gone.
func (s *Session) endBound(ctx context.Context, hangUp func(context.Context) error, receipt *Receipt) bool {
	b := s.r.Binding
	seen, err := s.ender.Processes.Snapshot(ctx) // the agent's descendants, while they are still visible
	if err != nil {
		receipt.fail(FailureProcesses, process.Identity{}, err.Error())
	}
	before := slices.Clone(s.r.Descendants)
	prove := func(p process.Process) error { return s.guarded(ctx, p, process.GuardNoAgent) }
	out, err := s.ender.Processes.End(ctx, b.Agent, prove, hangUp, s.noting(b.Agent, seen))
	s.logOutcome(out, err)
	ending := withAge(out, s.ender.moment())
	receipt.Agent = &ending
	if err != nil || !ending.isGone() {
		receipt.failOutcome(out, err)
		return false
	}
	s.spareCleaned(out, before)
	return true
}
