package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/time/rate"

	"ccbot/bot/ask"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// An agent may ask for a lot; a chat is read by people.
const (
	maxUnsettled = 32               // requests of one session that are not settled
	askBurst     = 60               // messages about requests of one session at once, and
	askRefill    = 10 * time.Second // how long it takes until one more may be sent
	floodSpan    = 10 * time.Minute // how long a session that had a request refused counts as flooding
)

var errFlood = errors.New("its session asks too often")

// volume is what a session asks of late.
type volume struct {
	messages *rate.Limiter // also of requests whose hook was killed since: a flood pays for all of it
	refused  time.Time     // when a request was last refused
	told     time.Time     // when the chat was told that it is too much
}

func (a *asks) volumeLocked(id uuid.UUID) *volume {
	if a.recent[id] == nil {
		a.recent[id] = &volume{messages: rate.NewLimiter(rate.Every(askRefill), askBurst)}
	}
	return a.recent[id]
}

// admitLocked makes room for one more request of a session. The oldest one whose hook has left gives way. Where
// every hook still waits, the request is left to the terminal, from where nothing is chosen by the chat then:
// whoever floods must not be asked in a weaker way for it.
func (a *asks) admitLocked(ctx context.Context, r session.Record) error {
	cards := a.cardsOf(r.ID)
	if len(cards) < maxUnsettled {
		return nil
	}
	if i := slices.IndexFunc(cards, isAway); i >= 0 {
		return a.becomeLocked(ctx, cards[i], ask.GiveWay(cards[i], a.Now()))
	}
	a.volumeLocked(r.ID).refused = a.Now()
	return errors.Join(errFlood, a.tellFloodLocked(ctx, r))
}

// maySendLocked says whether the message of a request may be sent now. Until it may, the request waits with its
// hook, and asks again at the next round. The oldest goes first: a newer one does not take its turn.
func (a *asks) maySendLocked(ctx context.Context, c ask.Card) bool {
	waits := func(older ask.Card) bool { return isDue(older) && !a.sending[older.Request.ID] }
	cards := a.cardsOf(c.Request.Session)
	first := slices.IndexFunc(cards, waits)
	turn := first < 0 || cards[first].Request.ID == c.Request.ID
	if turn && a.volumeLocked(c.Request.Session).messages.AllowN(a.Now(), 1) {
		return true
	}
	if r, ok := a.Records.Get(c.Request.Session); ok {
		a.note(a.tellFloodLocked(ctx, r), c.Request.ID)
	}
	return false
}

// tellFloodLocked tells once in a while that a session asks too often.
func (a *asks) tellFloodLocked(ctx context.Context, r session.Record) error {
	late := a.volumeLocked(r.ID)
	if a.Now().Sub(late.told) < floodSpan {
		return nil
	}
	late.told = a.Now()
	return a.Say(ctx, r.Conversation, a.words.Say(i18n.AskFlood, i18n.Args{"Name": r.Name}))
}

// floods says whether a request of a session was refused of late, or would be now.
func (a *asks) floods(id uuid.UUID) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	late, cards := a.recent[id], a.cardsOf(id)
	full := len(cards) >= maxUnsettled && !slices.ContainsFunc(cards, isAway)
	return full || late != nil && !late.refused.IsZero() && a.Now().Sub(late.refused) < floodSpan
}

func isAway(c ask.Card) bool { return c.State == ask.StateAway }

// forget takes away what is kept of a session's requests.
func (a *asks) forget(_ context.Context, id uuid.UUID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.recent, id)
	return a.Asks.Forget(id)
}
