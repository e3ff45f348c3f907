package reply

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"ccbot/internal/watch"
)

// Answer is Wait where nothing else of a ccbot runs in this process.
func (w Waiter) Answer(ctx context.Context, id uuid.UUID, key string) (text string, err error) {
	w.Watch = watch.New(slog.New(slog.DiscardHandler))
	err = RunWith(ctx, func(ctx context.Context) (err error) { text, err = w.Wait(ctx, id, key); return err }, w.Watch.Run)
	return text, err
}

// RunWith runs parts until fn returns.
func RunWith(ctx context.Context, fn func(context.Context) error, parts ...func(context.Context) error) (err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	for _, part := range parts {
		g.Go(func() error { return part(ctx) })
	}
	g.Go(func() error {
		defer stop()
		err = fn(ctx)
		return nil
	})
	if failed := g.Wait(); failed != nil && !errors.Is(failed, context.Canceled) {
		return failed
	}
	return err
}

// Timeout bounds the whole wait of a command; if Most is 0 there is no limit.
type Timeout struct {
	Most  time.Duration
	Since time.Time
}

// Bound returns a context that ends with the timeout.
func (t Timeout) Bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if t.Most == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, t.Since.Add(t.Most))
}

// Wait waits with fn for a session. The prompt stays queued if the wait ends early.
func (t Timeout) Wait(ctx context.Context, name string, fn func(context.Context) error) error {
	ctx, stop := t.Bound(ctx)
	defer stop()
	err := fn(ctx)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("%s has not answered in time; the prompt stays", name)
	case errors.Is(err, context.Canceled):
		return errors.New("not waited for the answer; the prompt stays")
	}
	return err
}
