package bot

import (
	"context"
	"errors"

	"ccbot/bot/ask"
	"ccbot/internal/session"
)

// rehome shows requests whose messages are left behind in their places now. Those
// that are open are sent anew, the others have said what they had to say.
func (a *asks) rehome(ctx context.Context, where whereTo) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var errs []error
	for _, c := range a.Asks.List() {
		to, there := where(c.Conversation, c.Message)
		if there {
			continue
		}
		delete(a.took, c.Request.ID)
		next := inPlace(c, to)
		if c.State != ask.StateOpen && c.State != ask.StateSent {
			next.Message = unseen
			errs = append(errs, a.Asks.Save(next))
			continue
		}
		errs = append(errs, a.becomeLocked(ctx, c, next))
	}
	return errors.Join(errs...)
}

// inPlace is a card that is to be shown in another place, where nobody has seen
// anything of it.
func inPlace(c ask.Card, to session.Conversation) ask.Card {
	c.Conversation, c.Message, c.AllShown, c.Why, c.Notice, c.Text = to, 0, false, nil, ask.Notice{}, 0
	return c
}
