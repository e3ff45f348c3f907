package tabletest

import (
	"context"
	"errors"
	"slices"
	"time"

	"ccbot/internal/process"
)

// End ends a process in the steps of the real table, if its guards and then prove agree.
func (t *Table) End(ctx context.Context, id process.Identity, prove func(process.Process) error,
	hangUp func(context.Context) error, g process.Grace) (process.Outcome, error) {
	out := process.Outcome{Process: process.Process{Identity: id}}
	if !id.Valid() {
		out.Spared, out.Reason = "its identity is incomplete", process.GuardIdentity
		return out, nil
	}
	p, err := t.Inspect(id.PID)
	if errors.Is(err, process.ErrGone) || err == nil && p.Identity != id {
		out.How, out.Ended, out.Verified = process.HowAlreadyGone, true, true
		return out, nil
	}
	if err != nil {
		out.Spared, out.Reason = "it cannot be read", process.ReasonUnreadable
		return out, err
	}
	out.Process = p
	if t.refused(p, prove, &out) {
		return out, nil
	}
	return t.escalate(ctx, out, hangUp, g)
}

// Continue notes that a process got SIGCONT, if the guards and then prove agree.
func (t *Table) Continue(id process.Identity, prove func(process.Process) error) error {
	p, err := t.Inspect(id.PID)
	if err == nil && p.Identity != id {
		err = process.ErrGone
	}
	var out process.Outcome
	if err == nil && t.refused(p, prove, &out) {
		err = errors.New(out.Spared)
	}
	if err == nil {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.Continued = append(t.Continued, id)
	}
	return err
}

// refused asks the guards that the real End asks, and then the caller.
func (t *Table) refused(p process.Process, prove func(process.Process) error, out *process.Outcome) bool {
	if name, spared := t.guard(p); spared {
		out.Spared, out.Reason = "guard "+name, name
		return true
	}
	err := prove(p)
	if err == nil {
		return false
	}
	out.Spared, out.Reason = "not proven: "+err.Error(), process.ReasonUnproven
	if spare := (*process.Spare)(nil); errors.As(err, &spare) {
		out.Spared, out.Reason = err.Error(), spare.Reason
	}
	return true
}

func (t *Table) guard(p process.Process) (string, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	guards := process.StandardGuards(t.self, process.AgentNames{})
	guards = slices.DeleteFunc(guards, func(g process.Guard) bool { return g.Name == process.GuardNoAgent })
	return process.SparedBy(p, process.Snapshot{Processes: t.all}, guards)
}

func (t *Table) escalate(ctx context.Context, out process.Outcome, hangUp func(context.Context) error, g process.Grace) (process.Outcome, error) {
	id, begun := out.Process.Identity, time.Now()
	var hangUpErr error
	if hangUp != nil {
		out.How = process.HowHangUp
		t.noteActed(id, process.HowHangUp)
		if hangUpErr = hangUp(ctx); hangUpErr == nil {
			t.step(id, process.HowHangUp)
			if t.goneBy(ctx, id, begun.Add(g.Term)) {
				return verified(out), nil
			}
		}
	}
	for _, how := range []process.How{process.HowTerm, process.HowKill} {
		if err := ctx.Err(); err != nil {
			return out, errors.Join(err, hangUpErr)
		}
		deadline := begun.Add(g.Kill)
		if how == process.HowKill {
			deadline = time.Now().Add(5 * time.Second)
			if g.BeforeKill != nil {
				if err := g.BeforeKill(ctx); err != nil {
					return out, errors.Join(err, hangUpErr)
				}
			}
		}
		p, err := t.Inspect(id.PID)
		if errors.Is(err, process.ErrGone) {
			return verified(out), nil
		}
		if name, spared := t.guard(p); spared {
			out.Spared, out.Reason = "guard "+name, name
			return out, hangUpErr
		}
		out.How = how
		t.noteActed(id, how)
		t.step(id, how)
		if t.goneBy(ctx, id, deadline) {
			return verified(out), nil
		}
	}
	return out, errors.Join(process.ErrSurvived, hangUpErr)
}

func verified(out process.Outcome) process.Outcome {
	out.Ended, out.Verified = true, true
	return out
}

func (t *Table) noteActed(id process.Identity, how process.How) {
	t.mu.Lock()
	told := []func(process.Identity, process.How){t.Noted, t.onStep}
	if !slices.Contains(t.acted, id) {
		t.acted = append(t.acted, id)
	}
	t.mu.Unlock()
	for _, tell := range told {
		if tell != nil {
			tell(id, how)
		}
	}
}

// step is a hang-up or a signal that reaches exactly this process.
func (t *Table) step(id process.Identity, how process.How) {
	steps := []process.How{process.HowHangUp, process.HowTerm, process.HowKill, Never}
	t.mu.Lock()
	defer t.mu.Unlock()
	there := slices.ContainsFunc(t.all, func(p process.Process) bool { return p.Identity == id })
	needs := max(0, slices.Index(steps, t.yields[id.PID]))
	if there && slices.Index(steps, how) >= needs {
		t.exitLocked(id.PID)
	}
}

// goneBy waits for the end of a process.
func (t *Table) goneBy(ctx context.Context, id process.Identity, deadline time.Time) bool {
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	return t.Wait(bounded, id) == nil
}
