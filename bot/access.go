package bot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ccbot/bot/ask"
	"ccbot/bot/card"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/outbox"
	"ccbot/bot/prompt"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port"
)

// Readmit replaces the lists of allowed people and groups at run time. What people who have left
// planned is not carried out any more; who is back gets what waited.
func (b *Bot) Readmit(ctx context.Context, l conversation.Lists) error {
	was := b.Allowed()
	b.Admit(l)
	err := b.TellPlanners(ctx)
	for chat := range l.People {
		if !was.People[chat] {
			b.accepts(ctx, chat)
		}
	}
	for chat := range l.Groups {
		if place, _ := b.Aliases.In(chat, 0); !was.Groups[chat] {
			b.accepts(ctx, place)
		}
	}
	ask.WakeAll(b.Requests)
	b.Dialogs.Wake()
	b.Prompts.Limits.Changed() // it also wakes the Informer, for machines that did not answer
	return err
}

// hiddenKind is the kind of the cards about sessions that nobody sees any more.
const hiddenKind = "hidden"

// reportHidden names in each private chat the open sessions that nobody sees any more, each once: its
// card stays until the session is seen again or has ended.
func (b *Bot) reportHidden(ctx context.Context) error {
	defer b.hidden.Hold()()
	hidden := slices.DeleteFunc(b.Known(), func(r port.Session) bool {
		return !r.State.Live() || r.Conversation.ChatID == 0 || b.MayShow(r.Conversation)
	})
	var errs []error
	for _, c := range b.hidden.List() {
		r, known := b.Records.Get(c.Content.Session)
		if known && r.State != port.StateUnknown && !slices.ContainsFunc(hidden, func(one port.Session) bool { return one.ID == r.ID }) {
			errs = append(errs, b.hidden.Close(ctx, c.Key, render.Text{}))
		}
	}
	for _, to := range b.PrivateChats() {
		p := b.In(to)
		for _, r := range hidden {
			text := render.Plain(p.Say(i18n.SessionsHidden, i18n.Args{"Count": 1, "Names": chat.ShownName(r.Name)}))
			key := fmt.Sprintf("%s-%d", r.ID, to.ChatID)
			if _, told := b.hidden.Get(key); !told {
				errs = append(errs, b.hidden.Show(ctx, key, card.Content{To: to, Session: r.ID, Text: text, Rank: outbox.Talk}, struct{}{}))
			}
		}
	}
	return errors.Join(errs...)
}

// TellPlanners ends, pauses or lets go on what people have planned, by the lists of now: texts that
// wait, schedules and loops. It names the sessions that nobody sees any more.
func (b *Bot) TellPlanners(ctx context.Context) error {
	away, err := prompt.TellPlanners(ctx, b.Prompts)
	return errors.Join(away, err, b.Plans.TellPlanners(ctx), b.Loops.TellPlanners(ctx), b.reportHidden(ctx))
}
