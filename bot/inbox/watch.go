package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"
)

const (
	// lookEvery is how often a poll under way is looked at.
	lookEvery = 30 * time.Second
	// tapLife is how old a tap may be. When Telegram has not answered for a longer time, the taps
	// that come then are older, or may be: a callback query has no date.
	tapLife = 2 * time.Minute
)

var errHung = errors.New("the poll did not end by itself")

var errLate = errors.New("the tap may be too old to be meant")

// apart is the longer of two measurements of the time between two moments: one by the clock that
// runs on while the machine sleeps, one by the clock that nobody can set.
func apart(begun, now time.Time) time.Duration {
	return max(now.Sub(begun), now.Round(0).Sub(begun.Round(0)))
}

// hung reports that a poll has far outlived its own deadline: its transport ignores the deadline,
// or the machine slept and the connection is gone.
func hung(begun, now time.Time, timeout time.Duration) bool {
	return apart(begun, now) > timeout+2*slack
}

// ask polls once. A poll that hangs is abandoned, and the next poll has connections of its own.
// Updates that the abandoned poll may still bring come again, because nothing confirms them.
// Handlers notice nothing.
func (i *Intake) ask(ctx context.Context, offset int64, timeout time.Duration) ([]json.RawMessage, error) {
	type answer struct {
		batch []json.RawMessage
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	poller, answered, ended, begun := i.poller, make(chan answer, 1), make(chan struct{}), time.Now()
	go func() {
		defer close(ended)
		batch, err := poller.poll(ctx, offset, timeout)
		answered <- answer{batch, err}
	}()
	i.polls = append(slices.DeleteFunc(i.polls, func(ended <-chan struct{}) bool {
		select {
		case <-ended:
			return true
		default:
			return false
		}
	}), ended)
	look := time.NewTicker(lookEvery)
	defer look.Stop()
	for {
		select {
		case a := <-answered:
			i.cfg.Pulse.Beat(time.Now())
			return a.batch, a.err
		case <-ctx.Done():
			return nil, ctx.Err()
		case now := <-look.C:
			if hung(begun, now, timeout) {
				i.poller = poller.anew()
				return nil, errHung
			}
		}
	}
}

// awaitPolls waits for the polls whose context has ended. A poll that hangs may outlive Run: only
// the end of the process ends a transport that ignores its context, and nobody reads the answer.
func (i *Intake) awaitPolls() {
	await(context.Background(), slack, i.polls)
}

// patience is how long Telegram may wait for an update. After a long silence it is 0: the updates
// that Telegram already has are too old for a tap, and they must be fetched first.
func (i *Intake) patience(p *polling) time.Duration {
	if !p.answered.IsZero() && apart(p.answered, time.Now()) > tapLife {
		p.late = true
	}
	if p.late {
		return 0
	}
	return i.cfg.Timeout
}

// fullAnswer is how many updates Telegram gives at most in one answer. After a full answer there
// may be more.
const fullAnswer = 100

// caughtUp notes whether the updates that still wait at Telegram are as young as the last poll.
func (p *polling) caughtUp(updates int) {
	if updates < fullAnswer {
		p.late = false
	}
}

// hearsOf reports whether an update comes from a person who may speak in its chat.
func (i *Intake) hearsOf(s seen) bool {
	return i.cfg.Hears == nil || i.cfg.Hears(s.from, models.Chat{ID: s.where.ChatID, Type: s.place})
}
