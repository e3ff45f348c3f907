package chat

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
	"ccbot/bot/port/desk"
	"ccbot/bot/render"
	"ccbot/i18n"
)

// Cards are the cards of one kind, each with a payload that says what its message shows.
type Cards[P any] struct {
	card.Kind[P]
	chat *Chat
}

// NewCards gives the cards of a kind.
func NewCards[P any](c *Chat, kind string) Cards[P] {
	return Cards[P]{card.NewKind[P](c.Cards, kind, nil), c}
}

// Post posts a text with options as a card of its own; the options stand under the last part of a
// long text. A text without options is posted as by Chat.Post.
func (k Cards[P]) Post(ctx context.Context, l card.Look, payload P) error {
	m, parts := outbox.Message{To: l.To, Text: l.Text, Session: l.Session}, l.Text.Split(render.Limit)
	if len(l.Options) == 0 || len(parts) == 0 || !k.chat.Book.MayShow(l.To) {
		return k.chat.PostMessage(ctx, m)
	}
	last := len(parts) - 1
	for _, m.Text = range parts[:last] {
		if err := k.chat.PostMessage(ctx, m); err != nil {
			return err
		}
	}
	l.Text = parts[last]
	return k.Kind.Post(ctx, l, payload)
}

// OnTap does what an option of a card says, with what the message showed. A tap on [Cancel] ends the card.
func (k Cards[P]) OnTap(do func(ctx context.Context, t Tap, was P) (Answer, error)) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if t.Card.Option == cancelOption {
			return Answer{}, k.End(ctx, t, k.chat.Words.Say(i18n.Cancelled))
		}
		was, err := k.Payload(t.Card)
		if err != nil {
			return Answer{}, err
		}
		return do(ctx, t, was)
	}
}

// End closes the tapped card, with a last text unless that is empty.
func (k Cards[P]) End(ctx context.Context, t Tap, last string) error {
	return k.Close(ctx, t.Card.Key, render.Plain(last))
}

// Over answers a tap on a card whose time has passed, and closes the card.
func (k Cards[P]) Over(ctx context.Context, t Tap) (Answer, error) {
	return Answer{Text: k.chat.Words.Say(i18n.StaleButton)}, k.End(ctx, t, "")
}

// Option is one option of a card: its word, and the value that a tap brings back.
func (p Phrases) Option(word i18n.Key, value string, style outbox.Style) card.Option {
	return card.Option{Text: p.Words.Say(word), Value: value, Style: style}
}

const cancelOption = "cancel"

// Cancel takes a question back; only the person who was asked may.
func (p Phrases) Cancel(asked int64) card.Option {
	return card.Option{Text: p.Words.Say(i18n.ButtonCancel), Value: cancelOption, For: asked}
}

// Confirm are the options of a question that only the person who was asked may answer.
func (p Phrases) Confirm(word i18n.Key, value string, asked int64) [][]card.Option {
	yes := p.Option(word, value, outbox.Danger)
	yes.For = asked
	return [][]card.Option{{yes, p.Cancel(asked)}}
}

// Window names a window that belongs to no session, with what a card showed in it.
type Window string

// WindowList is the part of a message that shows windows.
type WindowList struct {
	Text    render.Text
	Options [][]card.Option
	Windows []Window // that the options are about, for the card's payload
}

// Windows are those that belong to no session, as a part of a message.
type Windows interface {
	All(ctx context.Context) []desk.Window
	List(all []desk.Window) WindowList
	// Tap does what an option about one of the windows says. redraw draws the message again.
	Tap(t Tap, was []Window, redraw func(ctx context.Context) error) (Answer, error)
}
