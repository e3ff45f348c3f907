package inbox

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/go-telegram/bot/models"
)

const (
	// checkInterval is the interval of the checks of a running poll.
	checkInterval = 30 * time.Second
	// tapLife is the largest age of a tap. After a longer silence of Telegram the waiting taps may
	// be older: a callback query has no date.
	tapLife = 2 * time.Minute
)

var errHung = errors.New("the poll did not end by itself")

var errLate = errors.New("the tap may be too old")

// elapsed returns the longer of two measurements of an interval: by the wall clock, which continues
// while the machine sleeps, and by the monotonic clock.
func elapsed(begun, now time.Time) time.Duration {
	return max(now.Sub(begun), now.Round(0).Sub(begun.Round(0)))
}

// hung reports whether a poll has far outlived its deadline: its transport ignores it, or the
// machine slept and the connection is gone.
func hung(begun, now time.Time, timeout time.Duration) bool {
	return elapsed(begun, now) > timeout+2*slack
}

// ask makes one call, which should take at most timeout and slack. It abandons a call that hangs,
// and the next call uses new connections. Updates that the abandoned call may still bring come
// again, because they are not confirmed. Handlers are not affected.
func (i *Intake) ask(ctx context.Context, timeout time.Duration,
	call func(ctx context.Context, p *poller) (reply, error)) (reply, error) {
	type answer struct {
		reply reply
		err   error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	poller, answered, ended, begun := i.poller, make(chan answer, 1), make(chan struct{}), time.Now()
	go func() {
		defer close(ended)
		r, err := call(ctx, poller)
		answered <- answer{r, err}
	}()
	i.polls = append(slices.DeleteFunc(i.polls, isClosed), ended)
	look := time.NewTicker(checkInterval)
	defer look.Stop()
	for {
		select {
		case a := <-answered:
			i.cfg.Pulse.Beat(time.Now())
			return a.reply, a.err
		case <-ctx.Done():
			return reply{}, ctx.Err()
		case now := <-look.C:
			if hung(begun, now, timeout) {
				i.poller = poller.renewed()
				return reply{}, errHung
			}
		}
	}
}

// pollTimeout returns how long Telegram may wait for an update. After a long silence it is 0:
// updates that Telegram already has are too old for a tap, and must be fetched first.
func (i *Intake) pollTimeout(p *polling) time.Duration {
	if !p.answered.IsZero() && elapsed(p.answered, time.Now()) > tapLife {
		p.late = true
	}
	if p.late {
		return 0
	}
	return pollTime
}

// fullAnswer is the maximum number of updates in an answer. After a full answer there may be more.
const fullAnswer = 100

// isAuthorized calls Config.IsAuthorized for an update.
func (i *Intake) isAuthorized(s seen, raw json.RawMessage) (bool, error) {
	if i.cfg.IsAuthorized == nil {
		return true, nil
	}
	return i.cfg.IsAuthorized(s.kind, s.from, models.Chat{ID: s.where.ChatID, Type: s.place, Title: s.title}, raw)
}

// Silence is the time without a completed poll after which the loop counts as stuck: two
// consecutive abandoned polls.
const Silence = 2 * (pollTime + 2*slack + checkInterval)

// Pulse reports to other goroutines whether the poll loop continues. A silent server does not make
// the loop stuck: a failed poll has ended, and a rest is intentional. The zero value has no
// information.
type Pulse struct {
	mu    sync.Mutex
	beat  time.Time // when the last try ended, well or badly
	until time.Time // the end of a rest; before beat if there is none
	why   cause     // of the last try's failure, if set by Failed
}

// Beat notes that a try has ended, well or badly.
func (p *Pulse) Beat(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.beat, p.until, p.why = now, now, failing
}

// Failed notes why the last try failed.
func (p *Pulse) Failed(why cause) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.why = why
}

// Rival reports whether another program received the bot's messages at the last try.
func (p *Pulse) Rival() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == conflict
}

// UnknownToken reports whether Telegram did not know the token at the last try.
func (p *Pulse) UnknownToken() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == revoked
}

// Wait returns the rest of the pause that Telegram asked for, or zero if there is none.
func (p *Pulse) Wait(now time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != limited {
		return 0
	}
	return max(p.until.Sub(now), 0)
}

// Rest notes that the loop pauses for a while after a failure.
func (p *Pulse) Rest(now time.Time, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.until = now.Add(d)
}

// State returns the time since the last try ended, and reports whether the loop continues and
// whether that try failed.
func (p *Pulse) State(now time.Time) (ago time.Duration, goesOn, failing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.beat
	if p.until.After(since) {
		since = p.until
	}
	return now.Sub(p.beat), now.Sub(since) <= Silence, p.until.After(p.beat)
}
