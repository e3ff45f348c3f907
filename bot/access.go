package bot

import (
	"context"
	"errors"

	"ccbot/bot/ask"
	"ccbot/bot/conversation"
	"ccbot/bot/prompt"
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
	b.Informer.Wake() // of machines that did not answer
	return err
}

// TellPlanners ends, pauses or lets go on what people have planned, by the lists of now: texts that
// wait, schedules and loops.
func (b *Bot) TellPlanners(ctx context.Context) error {
	return errors.Join(prompt.DropUnauthorized(ctx, b.Prompts), b.Plans.TellPlanners(ctx), b.Loops.TellPlanners(ctx))
}
