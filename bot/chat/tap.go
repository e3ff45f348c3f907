package chat

import (
	"context"
	"errors"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// OnTap decides what a button does.
type OnTap = func(ctx context.Context, t Tap) (Answer, error)

// Stale answers a tap on a button whose time has passed, and takes the buttons off the message.
func (c *Chat) Stale(t Tap) (Answer, error) {
	spend := func(ctx context.Context) error { return c.Spend(ctx, t) }
	return Answer{Text: c.Words.Say(i18n.StaleButton), Then: spend}, nil
}

// Tell says under a tapped message what came of the tap.
func (c *Chat) Tell(ctx context.Context, t Tap, text string) error {
	m := outbox.Message{To: t.To, Text: render.Plain(text), ReplyTo: t.Message, Silent: true}
	return c.PostMessage(ctx, m)
}

// Spend takes the buttons off the tapped message, unless that is gone, or too old to be edited.
func (c *Chat) Spend(ctx context.Context, t Tap) error {
	err := c.Editor.EditButtons(ctx, t.To, t.Message, nil)
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}
