package chat

import (
	"context"

	"ccbot/bot/card"
	"ccbot/bot/outbox"
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
	parts := l.Text.Split(render.Limit)
	if l.Options = card.Filled(l.Options); len(l.Options) == 0 || len(parts) == 0 || !k.chat.Book.MayShow(l.To) {
		return k.chat.post(ctx, l)
	}
	last := len(parts) - 1
	above := l
	above.Text = render.Join(parts[:last]...) // in one piece: a retry repeats that at most
	if err := k.chat.post(ctx, above); err != nil {
		return err
	}
	l.Text, l.Sounds = parts[last], l.Sounds && above.Text.Blank()
	return k.Kind.Post(ctx, l, payload)
}

// OnTap does what an option of a card says, with what the message showed. A tap on [Cancel] ends the card.
func (k Cards[P]) OnTap(do func(ctx context.Context, t Tap, was P) (Answer, error)) OnTap {
	return func(ctx context.Context, t Tap) (Answer, error) {
		if t.Card.Option == cancelOption {
			return Answer{}, k.End(ctx, t, k.chat.In(t.To).Say(i18n.Cancelled))
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
	return Answer{Text: k.chat.In(t.To).Say(i18n.StaleButton)}, k.End(ctx, t, "")
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
