package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/views"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Firsts are the texts that people write for the sessions that they are about to start.
type Firsts struct{ *Prompts }

// First keeps a text for the session that its sender is about to start in a place. Until then a question stands under
// it, as under any text of which it is unknown who gets it: nothing is lost where no session is started.
func (p Firsts) First(ctx context.Context, in chat.Incoming, text string) error {
	e, ok, err := accept(ctx, p.Prompts, in, views.Session{}, fetched{text: text})
	if !ok {
		return err
	}
	if err := p.wait(ctx, asked{Reason: first, By: in.From}, e, views.Session{}); err != nil {
		return fmt.Errorf("keep a first prompt: %w: %w", inbox.ErrLater, err)
	}
	return nil
}

// Firsts are the texts that wait for the session that somebody starts in a place, oldest first.
func (p Firsts) Firsts(to address.Conversation, by int64) (texts []string) {
	for _, e := range p.firsts(to, by) {
		texts = append(texts, e.Text)
	}
	return texts
}

func (p Firsts) firsts(to address.Conversation, by int64) (all []inbox.Entry) {
	for _, c := range p.cards.List() {
		if c.Payload != (asked{Reason: first, By: by}) || c.Look.To != to {
			continue
		}
		if e, err := p.Entries.Load(c.Key); err == nil && e.State == inbox.Asked {
			all = append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b inbox.Entry) int { return a.MessageID - b.MessageID })
	return all
}

// SettleFirsts sends these texts to the session that was started, in their order; the zero session: nobody gets them.
func (p Firsts) SettleFirsts(ctx context.Context, to address.Conversation, by int64, r views.Session) error {
	var errs []error
	for _, e := range p.firsts(to, by) {
		if r.ID == uuid.Nil {
			p.Chat.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
			errs = append(errs, p.Changes.FinishIn(e.Key, e.State), p.close(ctx, e.Key, p.Chat.In(to).Text(i18n.Dropped)))
			continue
		}
		p.noteTarget(e, r)
		err := p.Queue.Queue(ctx, r.ID, e.Key)
		if err == nil {
			err = p.answered(ctx, sendTo, e, r, asked{Reason: first, By: by})
		}
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
