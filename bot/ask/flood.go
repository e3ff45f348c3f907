package ask

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/bot/card"
	"ccbot/i18n"
)

// An agent may ask for a lot; a chat is read by people.
const (
	maxUnsettled = 32               // requests of one session that are not over
	burst        = 60               // messages about requests of one session at once, and
	refill       = 10 * time.Second // how long it takes until one more may be sent
	floodSpan    = 10 * time.Minute // how long a session that had a request refused counts as flooding
)

var errFlood = errors.New("its session asks too often")

// volume is what a session has asked of late.
type volume struct {
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

// roomLocked says whether a session may have one more request, and which one gives way for it: the
// oldest that nobody can decide any more.
func (a *Requests) roomLocked(id uuid.UUID) (away *request, ok bool) {
	count := 0
	for _, r := range a.open {
		if r.session != id {
			continue
		}
		count++
		if s, _ := a.Store.Get(r.id); away == nil && s.Stage == StageAway {
			away = r
		}
	}
	if count < maxUnsettled {
		return nil, true
	}
	return away, away != nil
}

// admit makes room for one more request of a session. The oldest one whose hook has left gives way.
// Where every hook still waits, the request is left to the terminal, from where nothing is chosen
// by the chat then: whoever floods must not be asked in a weaker way for it.
func (a *Requests) admit(ctx context.Context, r *request) error {
	a.mu.Lock()
	away, ok := a.roomLocked(r.session)
	if ok {
		a.open = append(a.open, r)
		r.startLocked(r.follow)
	} else {
		a.volumeLocked(r.session).refused = a.Chat.Now()
	}
	a.mu.Unlock()
	switch {
	case !ok:
		return errors.Join(errFlood, a.tellFlood(ctx, r.session))
	case away == nil:
		return nil
	}
	err := away.turn(ctx, func(s State) State { return GiveWay(s, a.Chat.Now()) })
	if err != nil {
		r.remove()
	}
	return err
}

// takesTurn says whether the message of a request may be sent now. Until it may, the request waits
// with its hook, and asks again at each round. The oldest goes first.
func (r *request) takesTurn() bool {
	a := r.of
	a.mu.Lock()
	defer a.mu.Unlock()
	first := slices.IndexFunc(a.open, func(one *request) bool {
		return one == r || one.session == r.session && one.queued.Load()
	})
	turn := first >= 0 && a.open[first] == r &&
		a.volumeLocked(r.session).messages.AllowN(a.Chat.Now(), 1)
	r.queued.Store(!turn)
	return turn
}

// tellFlood says once in a while that a session asks too often.
func (a *Requests) tellFlood(ctx context.Context, id uuid.UUID) error {
	a.mu.Lock()
	late, now := a.volumeLocked(id), a.Chat.Now()
	told := now.Sub(late.told) < floodSpan
	if !told {
		late.told = now
	}
	a.mu.Unlock()
	s, ok := a.Chat.Book.Records.Get(id)
	if told || !ok {
		return nil
	}
	return a.Chat.Post(ctx, card.Look{To: s.Conversation, Text: a.Chat.In(s.Conversation).Text(i18n.AskFlood, i18n.Args{"Name": s.Name})})
}

// Floods says whether a request of a session was refused of late, or would be now.
func (a *Requests) Floods(id uuid.UUID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, room := a.roomLocked(id)
	return !room || a.recent[id] != nil && a.Chat.Now().Sub(a.recent[id].refused) < floodSpan
}
