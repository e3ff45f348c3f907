package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ending is the state of ending one proven process. The handle keeps naming that process, so the
// process is not proven again between the steps.
type ending struct {
	table     *Table
	id        Identity
	handle    handle
	grace     Grace
	started   time.Time
	how       How
	refused   *refusal // a reason found between the steps; it forbids every further signal
	hangUpErr error    // returned when the process does not end
}

var errRefused = errors.New("refused")

// escalate takes the steps one after the other until the process is gone (nil).
func (e *ending) escalate(ctx context.Context, hangUp func(context.Context) error) error {
	gone, err := e.hangUp(ctx, hangUp)
	if !gone && err == nil {
		gone, err = e.signalAndWait(ctx, HowTerm, syscall.SIGTERM, func() time.Time { return e.started.Add(e.grace.Kill) })
	}
	if !gone && err == nil {
		gone, err = e.kill(ctx)
	}
	if !gone && err == nil {
		err = ErrSurvived
	}
	return err
}

// hangUp asks the process to end, as a closed terminal does, and waits until it is time for TERM.
// After a failed hang-up it does not wait.
func (e *ending) hangUp(ctx context.Context, hangUp func(context.Context) error) (gone bool, err error) {
	if hangUp == nil {
		return false, nil
	}
	e.how = HowHangUp
	deadline := e.started.Add(e.grace.Term)
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := hangUp(bounded); err != nil {
		e.hangUpErr = fmt.Errorf("hang up: %w", err)
		return false, nil
	}
	return e.waitUntil(ctx, deadline)
}

// kill sends KILL; before that it calls BeforeKill, in which the caller can write down what it must
// know.
func (e *ending) kill(ctx context.Context) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if gone, err := e.handle.exited(); gone || err != nil {
		return gone, err
	}
	if e.grace.BeforeKill != nil {
		if err := e.grace.BeforeKill(ctx); err != nil {
			return false, fmt.Errorf("before KILL: %w", err)
		}
	}
	return e.signalAndWait(ctx, HowKill, syscall.SIGKILL, func() time.Time { return time.Now().Add(afterKill) })
}

// signalAndWait is one step: nothing is sent when ctx or the process has ended, or when a guard
// protects the process.
func (e *ending) signalAndWait(ctx context.Context, how How, sig syscall.Signal, deadline func() time.Time) (gone bool, err error) {
	if gone, err := e.lookAgain(ctx); gone || err != nil {
		return gone, err
	}
	err = e.handle.signal(sig)
	switch {
	case err == nil:
		e.how = how
	case !errors.Is(err, syscall.ESRCH):
		// After ESRCH, which is not this case, the wait below returns at once: the process has
		// ended.
		return false, fmt.Errorf("%s: %w", how, err)
	}
	return e.waitUntil(ctx, deadline())
}

// lookAgain reads the held process once more and asks the guards: since the last look the process
// may have changed its user, or may have become our parent.
func (e *ending) lookAgain(ctx context.Context) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	p, err := e.table.inspectHeld(e.handle, e.id)
	if err != nil {
		if exited, _ := e.handle.exited(); exited {
			return true, nil
		}
		e.refused = unreadable("it cannot be read any more", err)
	} else {
		e.refused = e.table.guarded(p)
	}
	if e.refused != nil {
		return false, errRefused
	}
	return false, nil
}

// waitUntil returns false without an error when the deadline comes first.
func (e *ending) waitUntil(ctx context.Context, deadline time.Time) (gone bool, err error) {
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	err = e.handle.wait(bounded)
	switch {
	case err == nil:
		return true, nil
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, context.DeadlineExceeded):
		return false, nil
	}
	return false, err
}
