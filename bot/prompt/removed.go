package prompt

import (
	"context"
	"errors"
	"slices"

	"ccbot/bot/chat"
	"ccbot/bot/inbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// For returns the prompts that were offered to a machine and whose outcome is not known, as far as
// the inbox can be read.
func (p *Prompts) For(machine string) []inbox.Entry {
	all, _ := p.Entries.List()
	return slices.DeleteFunc(all, func(e inbox.Entry) bool { return e.Machine != machine || !e.State.IsOffered() })
}

// EndFor ends the prompts of a machine that was removed, and reports that under each: their outcome
// will never be known.
func (p *Prompts) EndFor(ctx context.Context, machine string) error {
	var errs []error
	for _, e := range p.For(machine) {
		text := render.Plain(p.Chat.In(e.Conversation).Say(i18n.HostRemovedText))
		err := p.Chat.Fail(ctx, e.Conversation, e.MessageID, text, nil)
		if err == nil {
			err = p.finish(ctx, e)
		}
		if !chat.IsGone(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
