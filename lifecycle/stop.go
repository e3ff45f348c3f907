package lifecycle

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/tmux"
)

// termAfter is from hang-up to TERM.
const termAfter = 2 * time.Second

// Receipt says what an archive did: every process it looked at, how it ended,
// or why it was spared.
type Receipt struct {
	Agent    *process.Outcome  // the bound agent; nil when it had already ended
	Others   []process.Outcome // leftovers ended, and what was spared
	Split    bool              // a person has split the window: their panes stay
	Waiting  int               // prompts that were not typed; they stay with the session
	Failures []string          // what could not be proven; then the state is cleanup_failed
}

// Archive ends a session: as archived, or as completed. When it returns without
// an error, no leftover of the session lives (P3), or the state is
// cleanup_failed; the receipt, which is told as news, says which and why.
func (s *Service) Archive(ctx context.Context, id uuid.UUID, final session.State, why string) error {
	defer s.Wake(id) // what failed halfway is finished by a step
	return s.do(ctx, id, func(w *work) error {
		if w.r.State != session.Stopping {
			if !w.r.State.CanBecome(session.Stopping) {
				return &StateError{State: w.r.State, Want: string(final)}
			}
			if err := w.intend(final, why); err != nil {
				return err
			}
			w.at("stop-recorded")
		}
		return w.stop(ctx)
	})
}

// intend puts on disk that the session is to end, and as what.
func (w *work) intend(final session.State, why string) error {
	if err := w.r.Become(session.Stopping, w.Now(), why); err != nil {
		return err
	}
	w.r.Final = final
	return w.save()
}

// stop carries out a stop whose intent is on disk. It may be called again after
// a crash at any point: what has ended stays ended.
func (w *work) stop(ctx context.Context) error {
	w.view = w.View(ctx, *w.r)
	if w.r.Exit != nil {
		return w.complete(ctx) // it ended by itself, that is told already
	}
	receipt := Receipt{Waiting: len(w.r.Prompts), Split: w.view.Pane.WindowPanes > 1}
	before, err := w.Processes.Snapshot(ctx)
	if err != nil {
		receipt.Failures = append(receipt.Failures, err.Error())
	}
	if err := w.endAgent(ctx, before, &receipt); err != nil {
		receipt.Failures = append(receipt.Failures, err.Error())
	}
	if err := w.endLeftovers(ctx, &receipt); err != nil {
		receipt.Failures = append(receipt.Failures, err.Error())
	}
	if err := w.settlePrompts(ctx); err != nil {
		return err
	}
	w.at("ended")
	return w.finish(ctx, &receipt)
}

// endAgent closes the session's own pane and sees its agent end. Descendants
// that were seen while the agent lived are ended too if the agent had to be
// killed: then it could not clean up itself.
func (w *work) endAgent(ctx context.Context, before process.Snapshot, receipt *Receipt) error {
	b := w.r.Binding
	if b == nil {
		return nil
	}
	if w.view.Fate == PaneUnknown {
		return fmt.Errorf("tmux did not say whether pane %s is there", b.Pane)
	}
	switch w.view.Agent {
	case process.Unknown:
		return fmt.Errorf("it is not known whether process %d still lives", b.Agent.PID)
	case process.Gone:
		return w.closePane(ctx, w.view.Pane)
	}
	out, err := w.Processes.End(ctx, b.Agent, w.proveAgent, w.hangUp, w.grace())
	receipt.Agent = &out
	w.logOutcome(out)
	switch {
	case err != nil:
		return fmt.Errorf("end process %d: %w", b.Agent.PID, err)
	case !out.Ended || !out.Verified:
		return fmt.Errorf("process %d was not ended: %s", b.Agent.PID, out.Spared)
	}
	if out.How == process.HowKill {
		w.endDescendants(ctx, before, b.Agent, receipt)
	}
	return w.closePane(ctx, w.view.Pane)
}

// proveAgent accepts the process that was bound: End has checked pid, start
// time and boot; ccbot itself started it in this very pane.
func (w *work) proveAgent(p process.Process) error {
	if p.Identity != w.r.Binding.Agent {
		return errors.New("it is not the bound agent")
	}
	return nil
}

// hangUp closes the pane of the bound agent, and nothing else: a pane that is
// not proven ours stays.
func (w *work) hangUp(ctx context.Context) error {
	if w.view.Fate != PaneOurs {
		return nil
	}
	return w.closePane(ctx, w.view.Pane)
}

// closePane closes a pane of this session, living or dead. The guard is the
// pane's process, so an id that was reused in between closes nothing.
func (s *Service) closePane(ctx context.Context, p tmux.Pane) error {
	if !p.ID.Valid() || p.Tag == "" {
		return nil
	}
	err := s.Tmux.ClosePane(ctx, tmux.Guard{Pane: p.ID, PID: p.PID})
	if errors.Is(err, tmux.ErrNoPane) || errors.Is(err, tmux.ErrNoServer) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("close pane %s: %w", p.ID, err)
	}
	return nil
}

// endDescendants ends what the killed agent left: processes that were seen below
// it while it lived. A tool is no agent, so that one guard does not count.
func (w *work) endDescendants(ctx context.Context, before process.Snapshot, agent process.Identity, receipt *Receipt) {
	for _, d := range before.Descendants(agent.PID) {
		prove := func(p process.Process) error { return w.guarded(ctx, p, process.GuardNoAgent) }
		out, err := w.Processes.End(ctx, d.Identity, prove, nil, w.grace())
		if err != nil {
			receipt.Failures = append(receipt.Failures, fmt.Sprintf("end process %d: %v", d.PID, err))
		}
		w.logOutcome(out)
		receipt.Others = append(receipt.Others, out)
	}
}

// guarded says which guard spares a process: ccbot and what is above it, tmux,
// other users, what is no agent, and the agent of another session.
func (w *work) guarded(ctx context.Context, p process.Process, except ...string) error {
	snap, err := w.Processes.Snapshot(ctx)
	if err != nil {
		return err
	}
	guards := process.StandardGuards(w.Processes.Self(), w.agents())
	guards = slices.DeleteFunc(guards, func(g process.Guard) bool { return slices.Contains(except, g.Name) })
	if name, spared := process.SparedBy(p, snap, guards); spared {
		return fmt.Errorf("guard %s", name)
	}
	for _, r := range w.Store.List() {
		if r.ID != w.r.ID && r.Binding != nil && r.Binding.Agent == p.Identity {
			return fmt.Errorf("it is the agent of session %s", r.Name)
		}
	}
	return nil
}

// endLeftovers ends every proven writer of the session's present Claude id that
// is still there. What is only perhaps a writer is left, and told.
func (w *work) endLeftovers(ctx context.Context, receipt *Receipt) error {
	verdicts, err := w.writers(ctx, w.r.ClaudeSessionID)
	if err != nil {
		return err
	}
	for _, v := range verdicts {
		if w.r.Binding != nil && v.Process.Identity == w.r.Binding.Agent {
			continue // endAgent has decided about it; what it left alone as unknown is not ended here
		}
		if v.Writer != process.Yes {
			receipt.Failures = append(receipt.Failures, fmt.Sprintf("process %d may write the session: %s", v.Process.PID, v.Why))
			continue
		}
		out, err := w.Processes.End(ctx, v.Process.Identity, w.proveWriter(ctx), nil, w.grace())
		w.logOutcome(out)
		receipt.Others = append(receipt.Others, out)
		if err != nil || !out.Ended {
			receipt.Failures = append(receipt.Failures, fmt.Sprintf("process %d still writes the session: %s", v.Process.PID, out.Spared))
		}
	}
	return nil
}

// proveWriter looks at all the evidence once more, right before the signal.
func (w *work) proveWriter(ctx context.Context) func(process.Process) error {
	return func(p process.Process) error {
		if err := w.guarded(ctx, p); err != nil {
			return err
		}
		verdicts, err := w.writers(ctx, w.r.ClaudeSessionID)
		if err != nil {
			return err
		}
		for _, v := range verdicts {
			if v.Process.Identity == p.Identity && v.Writer == process.Yes {
				return nil
			}
		}
		return errors.New("it is not proven to write the session any more")
	}
}

func (w *work) grace() process.Grace {
	return process.Grace{Term: termAfter, Kill: max(w.KillGrace, termAfter)}
}

// finish tells the result and puts it on disk.
func (w *work) finish(ctx context.Context, receipt *Receipt) error {
	next, why := w.r.Final, "nothing of it lives"
	if next == "" {
		next = session.Archived
	}
	if len(receipt.Failures) > 0 {
		next, why = session.CleanupFailed, receipt.Failures[0]
		w.Log.Warn("cleanup_failed", "session_id", w.r.ID.String(), "reasons", receipt.Failures)
		w.r.Cleanup = w.cleanupError(receipt)
	} else {
		w.r.Binding, w.r.Cleanup = nil, nil
	}
	w.r.EndedAt = w.Now().UTC()
	if err := w.r.Become(next, w.Now(), why); err != nil {
		return err
	}
	if err := w.tellStopped(ctx, receipt); err != nil {
		return err
	}
	w.at("receipt-told")
	return w.saveAndFollow(ctx)
}

func (w *work) tellStopped(ctx context.Context, receipt *Receipt) error {
	n := Note{Kind: NoteStopped, Session: w.r.Clone(), Receipt: receipt}
	if err := w.News.SessionNews(ctx, n); err != nil {
		return fmt.Errorf("tell the receipt of session %s: %w", w.r.ID, err)
	}
	return nil
}

func (w *work) cleanupError(receipt *Receipt) *session.CleanupError {
	attempts := 1
	if w.r.Cleanup != nil {
		attempts += w.r.Cleanup.Attempts
	}
	c := &session.CleanupError{Reason: receipt.Failures[0], Attempts: attempts,
		NotBefore: w.Now().UTC().Add(time.Minute << min(attempts, 6))}
	for _, out := range receipt.Others {
		if !out.Ended {
			c.Processes = append(c.Processes, out.Process.Identity)
		}
	}
	if w.r.Binding != nil {
		c.Processes = append(c.Processes, w.r.Binding.Agent)
	}
	return c
}

func (w *work) logOutcome(out process.Outcome) {
	if out.Ended {
		w.Log.Info("leftover_ended", "pid", out.Process.PID, "session_id", w.r.ID.String(), "how", string(out.How))
		return
	}
	w.Log.Info("leftover_spared", "pid", out.Process.PID, "session_id", w.r.ID.String(), "why", out.Spared)
}
