package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"golang.org/x/sync/errgroup"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/lifecycle/evidence"
)

// sentence turns an error into text for a person: of a refusal only its text.
func sentence(err error) error {
	if refusal := (*control.Refusal)(nil); errors.As(err, &refusal) {
		return errors.New(refusal.Text)
	}
	return err
}

// withoutBot recovers as a start of the bot does, then calls fn. No update is handled, and reports
// for the chat wait for the next start of the bot.
func withoutBot(ctx context.Context, c config.Config, environ []string, stderr io.Writer,
	fn func(context.Context, *system) error) error {
	hook, err := hookBinary()
	if err != nil {
		return err
	}
	s, err := begin(ctx, c, "cli", hook, environ, quietLog(c, stderr))
	if err != nil {
		return err
	}
	defer s.end()
	return statefolder.Error(c.Dir, s.alone(ctx, fn))
}

func (s *system) alone(ctx context.Context, fn func(context.Context, *system) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.tmux.Run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := refuseAgents(ctx, s.evidence); err != nil {
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

// refuseAgents refuses to go on below an agent, as the socket does.
func refuseAgents(ctx context.Context, sources *evidence.Sources) error {
	above, err := sources.AgentAbove(ctx, sources.Line(sources.Processes.Self().PID))
	if err != nil {
		return fmt.Errorf("look who has started this program: %w", err)
	}
	if above.Found {
		return errors.New("an agent may not do this")
	}
	return nil
}

// quietLog is for a verb that prints itself what it did: its log shows failures only.
func quietLog(c config.Config, stderr io.Writer) *slog.Logger {
	if c.LogLevel != "debug" {
		c.LogLevel = "error"
	}
	return newLog(c, c.Level(), stderr)
}
