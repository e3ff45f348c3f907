package bot

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/bot/dialog"
	"ccbot/lifecycle"
)

// In the lines about buttons SESSION is a session's id, MARK a hash of what the terminal shows.

type (
	taps = map[string]tap
	news = map[lifecycle.NoteKind]func(ctx context.Context, n lifecycle.Note) error
)

// features are all that the bot can do, in the order in which a text is offered to them.
func (b *Bot) features() []chat.Feature {
	return append(b.life.features(), b.asksFeature(), b.answersFeature(), b.outputs.Feature(), b.dialogFeature(), b.promptFeature(),
		chat.Feature{Name: "help", Commands: []chat.Command{
			{Name: "help", Run: b.help},
			{Name: "start", Run: b.help, Hidden: true}, // which Telegram sends when a person opens the bot
		}})
}

// promptFeature brings what people write to the agent.
func (b *Bot) promptFeature() chat.Feature {
	return b.prompts.Feature()
}

// answersFeature shows what agents write.
func (b *Bot) answersFeature() chat.Feature {
	return chat.Feature{Name: "answers",
		News: news{
			lifecycle.NoteTranscript: func(_ context.Context, n lifecycle.Note) error { b.answers.Follow(n.Session); return nil },
		},
		Heard:    b.answers.Heard,
		Run:      b.answers.Run,
		Unparked: b.answers.Unparked,
	}
}

// asksFeature shows permission requests, questions and plans, and gives what people decide to the hooks.
func (b *Bot) asksFeature() chat.Feature {
	return chat.Feature{Name: "asks",
		Taps: taps{
			"p":  b.tapAsk,       // REQUEST:VERB:…: answer a permission request
			"dw": b.tapDenyWith,  // REQUEST:KEY: deny it, with a prompt that waits as the reason
			"sa": b.tapSendAfter, // KEY: let a prompt wait behind the dialog
		},
		Heard:    b.asks.heardNews,
		Text:     b.asks.hear,
		Run:      b.asks.Run,
		Unparked: b.asks.unparked,
		Forget:   b.asks.forget,
	}
}

// dialogFeature shows what a terminal asks, with its keys.
func (b *Bot) dialogFeature() chat.Feature {
	return dialog.New(b.Chat, b.Sessions, b.asks.floods)
}
