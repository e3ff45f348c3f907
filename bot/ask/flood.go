package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/bot/port/views"
	"ccbot/i18n"
)

// An agent may ask for a lot; a chat is read by people.
const (
	maxUnsettled = 32               // requests of one session that are not over
	burst        = 60               // messages about requests of one session at once, and
	refill       = 10 * time.Second // how long it takes until one more may be sent
	floodSpan    = 10 * time.Minute // how long a session that had a request refused counts as flooding
)

var (
	errFlood = errors.New("its session asks too often")
	errTurn  = errors.New("the message waits for its turn")
)

// volume is what a session asks, and asked of late.
type volume struct {
	open     []*request    // those that are not over, oldest first
	messages *rate.Limiter // also of requests whose hook was killed since: a flood pays for all of it
	refused  time.Time     // when a request was last refused
	told     time.Time     // when the chat was told that it is too much
}

func (a *Requests) volumeLocked(id uuid.UUID) *volume {
	if a.recent[id] == nil {
		a.recent[id] = &volume{messages: rate.NewLimiter(rate.Every(refill), burst)}
	}
	return a.recent[id]
}

// awayLocked is the oldest request of a session that nobody can decide any more.
func (a *Requests) awayLocked(late *volume) *request {
	i := slices.IndexFunc(late.open, func(r *request) bool {
		c, _ := a.Store.Get(r.id)
		return c.State == StateAway
	})
	if i < 0 {
		return nil
	}
	return late.open[i]
}

// admit makes room for one more request of a session. The oldest one whose hook has left gives way.
// Where every hook still waits, the request is left to the terminal, from where nothing is chosen
// by the chat then: whoever floods must not be asked in a weaker way for it.
func (a *Requests) admit(ctx context.Context, r *request, s views.Session) error {
	a.mu.Lock()
	late := a.volumeLocked(r.session)
	var away *request
	if len(late.open) >= maxUnsettled {
		if away = a.awayLocked(late); away == nil {
			late.refused = a.Chat.Now()
			a.mu.Unlock()
			return errors.Join(errFlood, a.tellFlood(ctx, s))
		}
	}
	a.addLocked(r)
	a.mu.Unlock()
	if away == nil {
		return nil
	}
	err := away.turn(ctx, func(c Card) Card { return GiveWay(c, a.Chat.Now()) })
	if err != nil {
		r.remove()
	}
	return err
}

// maySend says whether the message of a request may be sent now. Until it may, the request waits with
// its hook, and asks again at each round. The oldest goes first: a newer one does not take its turn.
func (r *request) maySend(ctx context.Context) bool {
	if r.takeTurn() {
		return true
	}
	if s, ok := r.of.Chat.Book.Records.Get(r.session); ok {
		r.note(r.of.tellFlood(ctx, s))
	}
	return false
}

func (r *request) takeTurn() bool {
	a := r.of
	a.mu.Lock()
	defer a.mu.Unlock()
	late := a.volumeLocked(r.session)
	first := slices.IndexFunc(late.open, func(one *request) bool { return one.queued || one == r })
	r.queued = first < 0 || late.open[first] != r || !late.messages.AllowN(a.Chat.Now(), 1)
	return !r.queued
}

// leaveQueue gives up the turn of a request whose message is not wanted any more.
func (r *request) leaveQueue() {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	r.queued = false
}

// tellFlood says once in a while that a session asks too often.
func (a *Requests) tellFlood(ctx context.Context, s views.Session) error {
	a.mu.Lock()
	late, now := a.volumeLocked(s.ID), a.Chat.Now()
	told := now.Sub(late.told) < floodSpan
	if !told {
		late.told = now
	}
	a.mu.Unlock()
	if told {
		return nil
	}
	return a.Chat.Say(ctx, s.Conversation, a.Chat.Words.Say(i18n.AskFlood, i18n.Args{"Name": s.Name}))
}

// Floods says whether a request of a session was refused of late, or would be now.
func (a *Requests) Floods(id uuid.UUID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	late := a.recent[id]
	if late == nil {
		return false
	}
	full := len(late.open) >= maxUnsettled && a.awayLocked(late) == nil
	return full || !late.refused.IsZero() && a.Chat.Now().Sub(late.refused) < floodSpan
}
