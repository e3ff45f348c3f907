package running

import (
	"context"

	"golang.org/x/sync/errgroup"

	"ccbot/cmd/ccbot/desk"
)

// alone recovers as a start of the bot does, then calls fn. No update is handled, and reports
// for the chat wait for the next start of the bot.
func (s *system) alone(ctx context.Context, fn func(context.Context, *system) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.tmux.Run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := desk.RefuseAgents(ctx, s.evidence); err != nil {
			return err
		}
		s.claude.Version(ctx) // only the caller of this verb waits here
		report, err := s.recover(ctx)
		if err != nil {
			return err
		}
		s.recoveredFor = &report
		return fn(ctx, s)
	})
	return g.Wait()
}
