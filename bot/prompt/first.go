package prompt

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-telegram/bot/models"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/port/views"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/address"
)

// Firsts are the prompts that people send for the sessions that they are about to start.
type Firsts struct{ *Prompts }

// First keeps a text for the session that its sender is about to start in a place. Until then a question stands under
// it, as under any text of which it is unknown who gets it: nothing is lost where no session is started.
func (p Firsts) First(ctx context.Context, in chat.Incoming, text string) error {
	return p.keep(ctx, in, fetched{text: text})
}

// FirstFiles is First for a message that is no text, or the messages of an album: the files are fetched when the session
// has a folder.
func (p Firsts) FirstFiles(ctx context.Context, in chat.Incoming, all []*models.Update) error {
	if attached(all[0].Message).id == "" {
		return p.Files(ctx, in, all) // which says so
	}
	return p.keep(ctx, in, unfetched(all))
}

func (p Firsts) keep(ctx context.Context, in chat.Incoming, got fetched) error {
	e, ok, err := accept(ctx, p.Prompts, in, views.Session{}, got)
	if !ok {
		return err
	}
	if err := p.wait(ctx, asked{Reason: first, By: in.From}, e, views.Session{}); err != nil {
		return fmt.Errorf("keep a first prompt: %w: %w", inbox.ErrLater, err)
	}
	return nil
}

// Firsts are the texts that wait for the session that somebody starts in a place, oldest first, and when the first of
// them was sent.
func (p Firsts) Firsts(to address.Conversation, by int64) (texts []string, since time.Time) {
	for i, e := range p.firsts(to, by) {
		if texts = append(texts, e.Text); i == 0 {
			since = sentOf(e)
		}
	}
	return texts, since
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

// DropFirsts ends these texts: nobody gets them.
func (p Firsts) DropFirsts(ctx context.Context, to address.Conversation, by int64) error {
	var errs []error
	for _, e := range p.firsts(to, by) {
		if err := p.Changes.FinishIn(e.Key, e.State); err != nil {
			if !chat.IsGone(err) { // else a person has decided otherwise meanwhile
				errs = append(errs, err)
			}
			continue
		}
		p.Chat.Mark(ctx, e.Conversation, e.MessageID, chat.ReactionNone)
		errs = append(errs, p.close(ctx, e.Key, p.Chat.In(to).Text(i18n.Dropped)))
	}
	return errors.Join(errs...)
}

// SettleFirsts sends these prompts to the session that was started, in their order.
func (p Firsts) SettleFirsts(ctx context.Context, to address.Conversation, by int64, r views.Session) error {
	var errs []error
	was := asked{Reason: first, By: by}
	for _, e := range p.firsts(to, by) {
		// A person may have sent it elsewhere while those before it were on their way.
		if now, err := p.Entries.Load(e.Key); err != nil || now.State != inbox.Asked {
			continue
		}
		err := p.decide(ctx, sendTo, e, r, was, by)
		switch problem, is := errors.AsType[*fileError](err); {
		case is: // it stays under its question
			err = errors.Join(p.Chat.Warn(ctx, e.Conversation, e.MessageID, render.Plain(problem.text), nil),
				p.ask(ctx, was, e, views.Session{}))
		case err == nil:
			err = p.answered(ctx, sendTo, e, r, was)
		}
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
