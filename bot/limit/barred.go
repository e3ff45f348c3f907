package limit

import (
	"context"
	"errors"
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/pause"
	"ccbot/port"
)

// barredKind is the kind of the cards about due plans of people who are no longer allowed.
const barredKind = "limit-barred"

const (
	mineOption   = "mine"
	removeOption = "remove"
)

// errBarred is returned for a plan whose person, or the chat of its session, is no longer allowed.
var errBarred = errors.New("the person of the plan is no longer allowed")

// askBarred asks once in each private chat about a due plan.
func (l *Continuing) askBarred(ctx context.Context, key string, r port.Session, p plan) error {
	var errs []error
	for _, to := range l.chat.Book.PrivateChats() {
		w := l.chat.In(to)
		said := w.Text(i18n.TextsBarred, i18n.Args{"Count": 1, "Name": r.Name})
		look := card.Content{To: to, Session: r.ID, Text: chat.Lines(said, chat.Quoted(p.text())),
			Options: chat.Rows(1, w.Option(i18n.ButtonRunAsMine, mineOption, outbox.Primary), w.Option(i18n.ButtonRemove, removeOption, outbox.Danger))}
		errs = append(errs, l.barred.Show(ctx, fmt.Sprintf("%s-%d", key, to.ChatID), look, key))
	}
	return errors.Join(errs...)
}

// tapBarred has a plan carried out for another person, or ends it.
func (l *Continuing) tapBarred(_ context.Context, t chat.Tap, key string) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) error {
		defer pause.Poke(l.wake)
		defer l.cards.Hold()()
		c, open := l.cards.Get(key)
		if p := c.Payload; open && p.Barred && !p.Refused {
			r, _ := l.chat.Book.Records.Get(p.Session)
			if t.Card.Option == mineOption {
				if err := l.chat.Book.BringHome(ctx, r, t.From); err != nil { // somebody sees the answer
					return l.chat.Explain(ctx, t.To, l.chat.In(t.To).Failure(r, err))
				}
				p.By, p.Barred = t.From, false
			} else {
				p.Refused, c.Content.Options = true, nil
				c.Content.Text = render.Plain(l.chat.In(c.Content.To).Say(i18n.Dropped))
			}
			if err := l.cards.Show(ctx, key, c.Content, p); err != nil {
				return err
			}
		}
		return l.closeBarred(ctx)
	})
}

// closeBarred closes the cards about plans that have been decided about.
func (l *Continuing) closeBarred(ctx context.Context) (err error) {
	for _, n := range l.barred.List() {
		c, open := l.cards.Get(n.Payload)
		if open && c.Payload.Barred && !c.Payload.Refused {
			continue
		}
		w := l.chat.In(n.Content.To)
		last := render.Text{}
		if open && !c.Payload.Refused {
			r, _ := l.chat.Book.Records.Get(c.Payload.Session)
			last = w.Text(i18n.SentAgain, i18n.Args{"Name": r.Name})
		} else if open {
			last = render.Plain(w.Say(i18n.Dropped))
		}
		err = errors.Join(err, l.barred.Close(ctx, n.Key, last))
	}
	return err
}
