package bot

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/i18n"
	"ccbot/internal/session"
)

// An agent may ask for a lot; a chat is read by people.
const (
	maxUnsettled = 32 // of one session
	maxFresh     = 60 // of one session, in freshSpan
	freshSpan    = 10 * time.Minute
)

var errFlood = errors.New("its session asks too often")

// recent is what a session asked of late.
type recent struct {
	asked []time.Time
	told  time.Time // when the chat was told that it is too much
}

// admitLocked says whether the chat takes one more request of a session. One that
// it does not take is left to the terminal.
func (a *asks) admitLocked(ctx context.Context, r session.Record) error {
	now := a.Now()
	late := a.recent[r.ID]
	late.asked = slices.DeleteFunc(late.asked, func(at time.Time) bool { return now.Sub(at) >= freshSpan })
	if len(late.asked) < maxFresh && len(a.cardsOf(r.ID)) < maxUnsettled {
		late.asked = append(late.asked, now)
		a.recent[r.ID] = late
		return nil
	}
	if now.Sub(late.told) >= freshSpan {
		late.told = now
		if err := a.say(ctx, r.Conversation, a.words.Say(i18n.AskFlood, i18n.Args{"Name": r.Name})); err != nil {
			return errors.Join(errFlood, err)
		}
	}
	a.recent[r.ID] = late
	return errFlood
}

func (a *asks) forget(id uuid.UUID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.recent, id)
	delete(a.calls, id)
}
