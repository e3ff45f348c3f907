package bot

import (
	"context"
	"errors"
	"io/fs"

	"ccbot/bot/ask"
	"ccbot/bot/chat"
	"ccbot/bot/dialog"
	"ccbot/internal/transcript"
	"ccbot/lifecycle"
)

// In the lines about buttons SESSION is a session's id, MARK a hash of what the terminal shows.

type (
	taps = map[string]tap
	news = map[lifecycle.NoteKind]func(ctx context.Context, n lifecycle.Note) error
)

// features are all that the bot can do, in the order in which a text is offered to them.
func (b *Bot) features() []chat.Feature {
	return append(b.life.features(), b.asksFeature(), b.held.Feature(), b.answersFeature(), b.outputs.Feature(), b.dialogFeature(), b.promptFeature(),
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

// newRequests makes what shows permission requests, questions and plans, and gives what people decide
// to the hooks.
func (b *Bot) newRequests() *ask.Requests {
	return ask.NewRequests(ask.Deps{Chat: b.Chat, Store: b.Asks, Hooks: b.Relay, Sessions: b.Sessions,
		Prompts: withdrawer{b}, Outcome: outcome, Send: b.Deps.Sender.Send, Over: b.held.over})
}

// outcome looks in the transcript of a request what became of it.
func outcome(ctx context.Context, q ask.Request) (o transcript.Outcome, found bool, err error) {
	if q.Transcript == "" {
		return o, false, nil
	}
	o, found, err = transcript.FindOutcome(ctx, transcript.Sought{Path: q.Transcript, Subagent: q.SubagentID, From: q.Offset,
		Tool: q.Tool, Input: q.Input, At: q.Asked})
	if errors.Is(err, fs.ErrNotExist) {
		return o, false, nil
	}
	return o, found, err
}

// asksFeature shows requests, and asks about texts that were written for one that is over.
func (b *Bot) asksFeature() chat.Feature {
	f, stray := b.asks.Feature(), newStrayTexts(b)
	f.Text = stray.hearText
	f.Cards[strayKind] = stray.tapStray
	return f
}

// dialogFeature shows what a terminal asks, with its keys.
func (b *Bot) dialogFeature() chat.Feature {
	return dialog.New(b.Chat, b.Sessions, b.asks.Floods)
}
