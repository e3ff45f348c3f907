package chat

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// IsAsker reports whether the person who taps is the one who was asked, whose id is argument i.
func (t Tap) IsAsker(i int) bool {
	return i < len(t.Args) && t.Args[i] == strconv.FormatInt(t.From, 10)
}

// OnTap decides what a button does.
type OnTap = func(ctx context.Context, t Tap) (Answer, error)

// ByAsker is a tap that only the person may do whose id is argument i.
func (c *Chat) ByAsker(i int, do OnTap) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if !t.IsAsker(i) {
			return Answer{Text: c.Words.Say(i18n.NotForYou)}, nil
		}
		return do(ctx, t)
	}
}

// TappedSession is the session that argument 0 of a tap names.
func (c *Chat) TappedSession(t Tap) (session.Record, bool) {
	if len(t.Args) == 0 {
		return session.Record{}, false
	}
	id, ok := ParseRef(t.Args[0])
	if !ok {
		return session.Record{}, false
	}
	return c.Book.Records.Get(id)
}

// Stale answers a tap on a button whose time has passed, and takes the buttons off the message.
func (c *Chat) Stale(t Tap) (Answer, error) {
	spend := func(ctx context.Context) error { return c.Spend(ctx, t) }
	return Answer{Text: c.Words.Say(i18n.StaleButton), Then: spend}, nil
}

// Overtaken takes the buttons off a message of which something else was quicker than the tap.
func (c *Chat) Overtaken(ctx context.Context, t Tap) error {
	return errors.Join(c.Tell(ctx, t, c.Words.Say(i18n.StaleButton)), c.Spend(ctx, t))
}

// Tell says under a tapped message what came of the tap.
func (c *Chat) Tell(ctx context.Context, t Tap, text string) error {
	m := outbox.Message{To: t.To, Text: render.Plain(text), ReplyTo: t.Message, Silent: true}
	return c.PostMessage(ctx, m)
}

// Spend takes the buttons off the tapped message.
func (c *Chat) Spend(ctx context.Context, t Tap) error { return c.SetButtons(ctx, t, nil) }

// SetButtons gives the tapped message other buttons.
func (c *Chat) SetButtons(ctx context.Context, t Tap, buttons [][]outbox.Button) error {
	return IgnoreRefused(c.Editor.EditButtons(ctx, t.To, t.Message, buttons))
}

// TakeOff takes the rows of some buttons off the tapped message, by their verb and first argument.
// Other rows stay as they were when the person tapped.
func (c *Chat) TakeOff(ctx context.Context, t Tap, which func(verb, first string) bool) error {
	rest := slices.DeleteFunc(slices.Clone(t.Buttons), func(row []outbox.Button) bool {
		return slices.ContainsFunc(row, func(one outbox.Button) bool {
			verb, args, _ := strings.Cut(one.Data, ":")
			first, _, _ := strings.Cut(args, ":")
			return which(verb, first)
		})
	})
	return c.SetButtons(ctx, t, rest)
}

// Redraw sets the tapped message to another text and other buttons.
func (c *Chat) Redraw(ctx context.Context, t Tap, text render.Text, buttons [][]outbox.Button) error {
	m := outbox.Message{To: t.To, Text: text, Buttons: buttons}
	return IgnoreRefused(c.Editor.Edit(ctx, t.To, t.Message, m))
}

// Replace sets the text of the tapped message, without buttons.
func (c *Chat) Replace(ctx context.Context, t Tap, text string) error {
	return c.Redraw(ctx, t, render.Plain(text), nil)
}

// Progress says in the tapped message how far the work is. The edit may be lost: what has to arrive
// is posted.
func (c *Chat) Progress(ctx context.Context, t Tap, text string) {
	if err := c.Replace(ctx, t, text); err != nil {
		c.Log.Debug("edit_failed", "error", err.Error())
	}
}

// IgnoreRefused passes over the error of an edit whose message is gone, or too old to be edited.
func IgnoreRefused(err error) error {
	if refused := (*outbox.Refused)(nil); errors.As(err, &refused) {
		return nil
	}
	return err
}
