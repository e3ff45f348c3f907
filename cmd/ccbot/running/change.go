package running

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/reply"
	"ccbot/cmd/ccbot/socket"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/pause"
)

// Change is a verb that changes something. The same function carries it out in the running bot,
// which receives it through the socket, and, if no bot runs and Make was called, in this process,
// under the lock and after a recovery.
type Change[Body, Reply any] struct {
	Verb    string
	keyed   bool // the body has a key with which it is not made twice
	do      func(ctx context.Context, s *system, body Body) (Reply, error)
	timeout reply.Timeout // bounds the wait for a bot's answer
	// alone, which may be nil, is what follows where no bot runs, under the lock.
	alone func(ctx context.Context, s *system, did Reply) error
}

// retries is the number of times that a change without an answer is sent again, once a second: a
// bot may be about to start.
const retries = 30

var errNoBot = errors.New("no ccbot is running: this verb needs it")

// Make makes the change. alone: no bot runs, and this process has made it.
func (v Change[Body, Reply]) Make(ctx context.Context, environ []string, stderr io.Writer, body Body) (reply Reply, alone bool, err error) {
	asking, stop := v.timeout.Bound(ctx)
	defer stop()
	err = v.untilAnswered(asking, func() (err error) {
		reply, alone, err = v.once(ctx, asking, environ, stderr, body)
		return err
	})
	return reply, alone, err
}

// Ask makes the change in the running bot, which it needs.
func (v Change[Body, Reply]) Ask(ctx context.Context, environ []string, body Body) (reply Reply, err error) {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return reply, err
	}
	err = v.untilAnswered(ctx, func() error {
		err := socket.Ask(ctx, c.Dir, v.Verb, body, &reply)
		if errors.Is(err, control.ErrNoServer) {
			return errNoBot
		}
		return offline.Sentence(err)
	})
	return reply, err
}

// untilAnswered asks, and asks again if the bot has ended before it answered and the change has a
// key.
func (v Change[Body, Reply]) untilAnswered(ctx context.Context, ask func() error) error {
	lost := ask()
	if !v.keyed || !errors.Is(lost, control.ErrLost) {
		return lost
	}
	var err error
	for range retries {
		if err = pause.For(ctx, time.Second); err != nil {
			break
		}
		err = ask()
		if !errors.Is(err, control.ErrLost) && !errors.Is(err, socket.ErrSilent) && !errors.Is(err, errNoBot) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("%w; asked again: %w", lost, err)
	}
	return err
}

// once asks the bot as long as asking lasts. ctx alone ends a change that this process has begun
// itself.
func (v Change[Body, Reply]) once(ctx, asking context.Context, environ []string, stderr io.Writer, body Body) (reply Reply, alone bool, err error) {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return reply, false, err
	}
	err = socket.Ask(asking, c.Dir, v.Verb, body, &reply)
	if !errors.Is(err, control.ErrNoServer) {
		return reply, false, offline.Sentence(err)
	}
	if err := Harden(); err != nil { // not before the call: the bot must see who calls
		return reply, true, err
	}
	if c, err = config.Load(environ); err != nil {
		return reply, true, err
	}
	hook, err := offline.HookBinary()
	if err != nil {
		return reply, true, err
	}
	s, err := begin(ctx, c, "cli", hook, environ, c.QuietLog(stderr))
	if err == nil {
		defer s.end()
		err = statefolder.Error(c.Dir, s.alone(ctx, func(ctx context.Context, s *system) (err error) {
			if reply, err = v.do(ctx, s, body); err == nil && v.alone != nil {
				err = v.alone(ctx, s, reply)
			}
			return err
		}))
	}
	if errors.Is(err, exit.ErrRunning) {
		return reply, true, socket.Silent(c.Dir)
	}
	return reply, true, offline.Sentence(c.Token.CleanError(err))
}

// alone recovers as a start of the bot does, then calls fn. No update is handled, and reports
// for the chat wait for the next start of the bot.
func (s *system) alone(ctx context.Context, fn func(context.Context, *system) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return s.Tmux.Run(ctx) })
	g.Go(func() error {
		defer stop()
		if err := offline.RefuseAgents(ctx, s.Dir, s.Evidence); err != nil {
			return err
		}
		s.Binary.Version(ctx) // only the caller of this verb waits here
		report, err := s.Recover(ctx, startOf{s})
		if err != nil {
			return err
		}
		s.recoveredFor = &report
		return fn(ctx, s)
	})
	return g.Wait()
}

// by returns the change as a running bot makes it for a caller of the socket.
func (v Change[Body, Reply]) by(s *system) socket.Change {
	return func(ctx context.Context, raw json.RawMessage) (any, error) {
		var body Body
		if json.Unmarshal(raw, &body) != nil {
			return nil, control.Refuse(control.CodeMalformed, "the call cannot be read; is this ccbot of the same version?")
		}
		did, err := v.do(ctx, s, body)
		return did, statefolder.Error(s.Dir, err)
	}
}
