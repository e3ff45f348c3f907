package bot

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/conversation"
	"ccbot/bot/prompt"
	"ccbot/i18n"
	"ccbot/internal/each"
	"ccbot/port"
)

// Readmit replaces the lists of allowed people and groups at run time. What people who have left
// planned is not carried out any more; who is back gets what waited.
func (b *Bot) Readmit(ctx context.Context, l conversation.Lists) error {
	was, known := b.Allowed(), b.Known()
	hidden := slices.DeleteFunc(known, func(r port.Session) bool { return !r.State.Live() || !b.MayShow(r.Conversation) })
	b.Admit(l)
	hidden = slices.DeleteFunc(hidden, func(r port.Session) bool { return b.MayShow(r.Conversation) })
	err := errors.Join(b.TellPlanners(ctx), b.reportHidden(ctx, hidden))
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
	b.Informer.Wake() // of machines that did not answer
	return err
}

// reportHidden names in each private chat the open sessions that nobody sees any more.
func (b *Bot) reportHidden(ctx context.Context, all []port.Session) error {
	if len(all) == 0 {
		return nil
	}
	names := each.As(all, func(r port.Session) string { return chat.ShownName(r.Name) })
	var errs []error
	for _, to := range b.PrivateChats() {
		p := b.In(to)
		text := p.Say(i18n.SessionsHidden, i18n.Args{"Count": len(names), "Names": p.Some(names, p.Say(i18n.JoinNames))})
		errs = append(errs, b.Say(ctx, to, text))
	}
	return errors.Join(errs...)
}

// TellPlanners ends, pauses or lets go on what people have planned, by the lists of now: texts that
// wait, schedules and loops.
func (b *Bot) TellPlanners(ctx context.Context) error {
	away, err := prompt.TellPlanners(ctx, b.Prompts)
	return errors.Join(away, err, b.Plans.TellPlanners(ctx), b.Loops.TellPlanners(ctx))
}
