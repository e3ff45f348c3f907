package chat

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// CancelOption is the value of the option that takes a question back.
const CancelOption = "cancel"

// Option is one option of a card: its word, and the value that a tap brings back.
func (p Phrases) Option(word i18n.Key, value string, style outbox.Style) card.Option {
	return card.Option{Text: p.Words.Say(word), Value: value, Style: style}
}

// Cancel takes a question back.
func (p Phrases) Cancel() card.Option { return p.Option(i18n.ButtonCancel, CancelOption, "") }

// PostCard posts a text with options as a card of its own; the options stand under the last part of a long
// text. A text without options is posted as by Post.
func PostCard[P any](ctx context.Context, c *Chat, kind card.Kind[P], l card.Look, payload P) error {
	m, parts := outbox.Message{To: l.To, Text: l.Text, Session: l.Session}, l.Text.Split(render.Limit)
	if len(l.Options) == 0 || len(parts) == 0 || !c.Book.MayShow(l.To) {
		return c.PostMessage(ctx, m)
	}
	last := len(parts) - 1
	for _, m.Text = range parts[:last] {
		if err := c.PostMessage(ctx, m); err != nil {
			return err
		}
	}
	l.Text = parts[last]
	return kind.Post(ctx, l, payload)
}

// Over answers a tap on a card whose time has passed, and closes the card.
func Over[P any](ctx context.Context, c *Chat, kind card.Kind[P], t Tap) (Answer, error) {
	return Answer{Text: c.Words.Say(i18n.StaleButton)}, kind.Close(ctx, t.Card.Key, render.Text{})
}

// Window is a window that belongs to no session, as a card shows it.
type Window struct {
	ID    string `json:"id"`
	Shown string `json:"shown"` // names exactly what was in it: another process there has another text
}

// WindowList is the part of a message that shows windows.
type WindowList struct {
	Text    render.Text
	Options [][]card.Option
	Windows []Window // that the options are about, for the card's payload
}
