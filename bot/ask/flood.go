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

// Limits of one session: an agent may ask for a lot, and people read the chat.
const (
	maxUnsettled = 32               // requests of one session that have not ended
	burst        = 60               // messages about a session's requests at once
	refill       = 10 * time.Second // time until one more message may be sent
	floodSpan    = 10 * time.Minute // time in which a session with a refused request counts as flooding
)

var errFlood = errors.New("its session asks too often")

// volume measures a session's recent requests.
type volume struct {
	messages *rate.Limiter // also counts requests whose hook was killed
	refused  time.Time     // when a request was last refused
	reported time.Time     // when the chat was last warned
}

func (a *Requests) volumeLocked(id uuid.UUID) *volume {
	if a.recent[id] == nil {
		a.recent[id] = &volume{messages: rate.NewLimiter(rate.Every(refill), burst)}
	}
	return a.recent[id]
}

// roomLocked reports whether a session may have one more request, and returns the request that
// gives way: the oldest that can no longer be decided.
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

// admit adds a request. The oldest request without a hook gives way. If every hook still waits, the
// new request is left to the terminal, whose dialogs the chat then cannot answer.
func (a *Requests) admit(ctx context.Context, r *request) error {
	a.mu.Lock()
	away, ok := a.roomLocked(r.session)
	if ok {
		a.open = append(a.open, r)
		a.passLocked(r)
		r.startLocked(r.follow)
	} else {
		a.volumeLocked(r.session).refused = a.Chat.Now()
	}
	a.mu.Unlock()
	switch {
	case !ok:
		return errors.Join(errFlood, a.reportFlood(ctx, r.session))
	case away == nil:
		return nil
	}
	err := away.turn(ctx, func(s State) State { return GiveWay(s, a.Chat.Now()) })
	if err != nil {
		r.remove()
	}
	return err
}

// takesTurn reports whether the request's message may be sent now, oldest first. Otherwise the
// request waits with its hook, and tries again at each round.
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

// reportFlood warns that a session asks too often, at most once per floodSpan.
func (a *Requests) reportFlood(ctx context.Context, id uuid.UUID) error {
	a.mu.Lock()
	late, now := a.volumeLocked(id), a.Chat.Now()
	reported := now.Sub(late.reported) < floodSpan
	if !reported {
		late.reported = now
	}
	a.mu.Unlock()
	s, ok := a.Chat.Book.Records.Get(id)
	if reported || !ok {
		return nil
	}
	return a.Chat.Post(ctx, card.Content{To: s.Conversation, Text: a.Chat.In(s.Conversation).Text(i18n.AskFlood, i18n.Args{"Name": s.Name})})
}

// Floods reports whether a request of a session was refused recently, or would be now.
func (a *Requests) Floods(id uuid.UUID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, room := a.roomLocked(id)
	return !room || a.recent[id] != nil && a.Chat.Now().Sub(a.recent[id].refused) < floodSpan
}
