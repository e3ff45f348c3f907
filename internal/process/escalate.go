package process

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"
)

// ending is one proven process on its way out. The handle keeps naming that process, so nothing is proven again between
// the steps: an agent that cleans up takes its own evidence away first.
type ending struct {
	handle  handle
	grace   Grace
	started time.Time
	how     How
}

// escalate takes the steps in turn until the process is gone (nil).
func (e *ending) escalate(ctx context.Context, hangUp func(context.Context) error) error {
	gone, hangUpErr := e.hangUp(ctx, hangUp)
	if gone {
		return nil
	}
	gone, err := e.signalAndWait(ctx, HowTerm, syscall.SIGTERM, e.started.Add(e.grace.Kill))
	if !gone && err == nil {
		gone, err = e.signalAndWait(ctx, HowKill, syscall.SIGKILL, time.Now().Add(afterKill))
	}
	switch {
	case gone:
		return nil
	case err == nil:
		err = ErrSurvived
	}
	return errors.Join(err, hangUpErr)
}

// hangUp asks in the way a closed terminal does and waits until it is time for TERM. A failed hang-up is not waited for.
func (e *ending) hangUp(ctx context.Context, hangUp func(context.Context) error) (gone bool, err error) {
	if hangUp == nil {
		return false, nil
	}
	e.how = HowHangUp
	deadline := e.started.Add(e.grace.Term)
	bounded, cancel := context.WithDeadline(ctx, deadline)
	defer cancel()
	if err := hangUp(bounded); err != nil {
		exited, _ := e.handle.exited()
		return exited, fmt.Errorf("hang up: %w", err)
	}
	return e.waitUntil(ctx, deadline)
}

// signalAndWait is one step: nothing is sent once ctx has ended or the process has.
func (e *ending) signalAndWait(ctx context.Context, how How, sig syscall.Signal, deadline time.Time) (gone bool, err error) {
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if exited, err := e.handle.exited(); exited || err != nil {
		return exited, err
	}
	// ESRCH means that it ended since the look above; the wait then returns at once.
	if err := e.handle.signal(sig); err != nil && !errors.Is(err, syscall.ESRCH) {
		return false, fmt.Errorf("%s: %w", how, err)
	}
	e.how = how
	return e.waitUntil(ctx, deadline)
}

// waitUntil is false without an error when the deadline comes first.
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
	default:
		return false, err
	}
}
