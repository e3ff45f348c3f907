package chat

import (
	"context"

	"ccbot/bot/outbox"
	"ccbot/bot/render"
)

// Tap is a button tapped by an allowed person. Taps are handled at once and never written: a person
// who sees nothing happen taps again.
type Tap struct {
	From    int64
	Name    string // of that person
	To      outbox.Conversation
	Message int
	Text    string // of the message that the button is under
	Buttons [][]outbox.Button
	Args    []string
}

// Answer is what a tap gets at once. The zero value only ends the waiting on the button.
type Answer struct {
	Text  string
	Alert bool // the person has to close the text
	// Then does what the tap asks for, when the person has the answer. Whatever may wait for more than
	// the disk belongs here; what comes of it is said in the chat.
	Then func(ctx context.Context) error
}

// Do is the silent answer to a tap that is carried out then.
func Do(then func(ctx context.Context) error) (Answer, error) { return Answer{Then: then}, nil }

// maxAnswer is Telegram's limit of the answer to a tap.
const maxAnswer = 200

// Fit is the answer with a text that Telegram takes.
func (a Answer) Fit() Answer {
	if parts := render.Plain(a.Text).Split(maxAnswer); len(parts) > 0 {
		a.Text = parts[0].Text
	}
	return a
}

// Tell says under a tapped message what came of the tap.
func (c *Chat) Tell(ctx context.Context, t Tap, text string) error {
	return c.PostMessage(ctx, outbox.Message{To: t.To, Text: render.Plain(text), ReplyTo: t.Message, Silent: true})
}
