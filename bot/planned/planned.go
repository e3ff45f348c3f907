// Package planned asks each person who is allowed what is to become of what somebody who left has
// planned: [Run it as mine] [Remove]. The first tap decides, and all cards of the plan say so.
package planned

import (
	"context"
	"errors"
	"fmt"

	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
)

// The options of a card.
const (
	Mine   = "mine"
	Remove = "remove"
)

// Options are the options of a card.
func Options(w chat.Phrases) [][]card.Option {
	return chat.Rows(1, w.Option(i18n.ButtonRunAsMine, Mine, outbox.Primary), w.Option(i18n.ButtonRemove, Remove, outbox.Danger))
}

// Cards are about the barred plans of one feature, each of which has a K.
type Cards[K comparable] struct {
	chat.Cards[K] // a pass that reads the plans and asks about them holds it
	Chat          *chat.Chat
	// Act makes a plan of a session a person's, or removes it (0). The error is refusal.NotFound if there is none.
	Act func(ctx context.Context, of K, r port.Session, by int64) error
	// Taken, with the session's name, and Removed are the last words of a card.
	Taken, Removed i18n.Key
}

// Ask asks about a plan of a session: in each private chat, or else where the session is seen.
func (p Cards[K]) Ask(ctx context.Context, of K, r port.Session, says func(w chat.Phrases) render.Text) (err error) {
	places := p.Chat.Book.PrivateChats()
	if len(places) == 0 {
		places = p.Chat.Book.Seen(r.Conversation)
	}
	for _, to := range places {
		w := p.Chat.In(to)
		look := card.Content{To: to, Session: r.ID, Text: says(w), Options: Options(w)}
		err = errors.Join(err, p.Show(ctx, fmt.Sprintf("%v-%d", of, to.ChatID), look, of))
	}
	return err
}

// CloseUnless closes the cards of plans that are no longer barred.
func (p Cards[K]) CloseUnless(ctx context.Context, barred func(of K) bool) (err error) {
	for _, c := range p.List() {
		if !barred(c.Payload) {
			err = errors.Join(err, p.Close(ctx, c.Key, render.Text{}))
		}
	}
	return err
}

// Tap carries out an option. A session of a place that may not be shown anything moves to the person
// who takes over its plan: somebody has to see the answers.
func (p Cards[K]) Tap(_ context.Context, t chat.Tap, of K) (chat.Answer, error) {
	return chat.Do(func(ctx context.Context) (err error) {
		r, _ := p.Chat.Book.Records.Get(t.Card.Session)
		r.ID = t.Card.Session
		by, last := int64(0), func(w chat.Phrases) render.Text { return render.Plain(w.Say(p.Removed)) }
		if t.Card.Option == Mine {
			by, last = t.From, func(w chat.Phrases) render.Text { return w.Text(p.Taken, i18n.Args{"Name": r.Name}) }
			err = p.Chat.Book.BringHome(ctx, r, by) // before the lock: its machine may hang
		}
		defer p.Hold()()
		if _, open := p.Get(t.Card.Key); !open { // another tap or pass was faster
			return nil
		}
		pass := machine.NewPass(ctx)
		defer pass.End()
		if err == nil {
			err = p.Act(pass.On(r.Machine), of, r, by)
		}
		switch {
		case chat.IsGone(err): // it was removed, or is over
			err, last = nil, func(w chat.Phrases) render.Text { return render.Plain(w.Say(i18n.PlanGone)) }
		case err != nil:
			return p.Chat.Explain(ctx, t.To, p.Chat.In(t.To).Failure(r, err))
		}
		for _, c := range p.List() {
			if c.Payload == of {
				err = errors.Join(err, p.Close(ctx, c.Key, last(p.Chat.In(c.Content.To))))
			}
		}
		return err
	})
}
