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

// ask makes one call, which is to take timeout and slack at most. A call that hangs is abandoned, and
// the next call has connections of its own. Updates that the abandoned call may still bring come
// again, because nothing confirms them. Handlers notice nothing.
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
	look := time.NewTicker(lookEvery)
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
				i.poller = poller.anew()
				return reply{}, errHung
			}
		}
	}
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
	return pollTime
}

// fullAnswer is how many updates Telegram gives at most in one answer. After a full answer there
// may be more.
const fullAnswer = 100

// hearsOf is Config.Hears of an update.
func (i *Intake) hearsOf(s seen, raw json.RawMessage) (bool, error) {
	if i.cfg.Hears == nil {
		return true, nil
	}
	return i.cfg.Hears(s.kind, s.from, models.Chat{ID: s.where.ChatID, Type: s.place}, raw)
}

// Silence is how long a loop that polls may be silent before it counts as stuck: the time of two
// polls in a row that had to be given up.
const Silence = 2 * (pollTime + 2*slack + lookEvery)

// Pulse shows other goroutines whether a loop that polls goes on. A server that does not answer
// does not make the loop stuck: a poll that fails has ended, and a rest is on purpose. The zero
// value knows nothing.
type Pulse struct {
	mu    sync.Mutex
	beat  time.Time // when the last try ended, well or badly
	until time.Time // the end of a rest; a time before beat means that there is none
	why   cause     // of the last try's failure, if it is one that Failed noted
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

// Rival reports whether another program takes the bot's messages, as far as the last try shows.
func (p *Pulse) Rival() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why == conflict
}

// UnknownToken reports whether Telegram answers that it does not know the token, as far as the last
// try shows.
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

// State reports since when the last try is over, whether the loop goes on, and whether that try was a failure.
func (p *Pulse) State(now time.Time) (ago time.Duration, goesOn, failing bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	since := p.beat
	if p.until.After(since) {
		since = p.until
	}
	return now.Sub(p.beat), now.Sub(since) <= Silence, p.until.After(p.beat)
}
