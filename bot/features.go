package bot

import (
	"context"

	"ccbot/bot/chat"
	"ccbot/bot/dialog"
	"ccbot/bot/port/news"
)

type (
	taps      = map[string]tap
	newsTable = map[news.Kind]func(ctx context.Context, n news.Note) error
)

// features are all that the bot can do, in the order in which a text is offered to them.
func (b *Bot) features() []chat.Feature {
	return append(b.life.features(), b.asksFeature(), b.held.Feature(), b.answers.Feature(), b.outputs.Feature(),
		dialog.New(b.Chat, b.Sessions, b.asks.Floods), b.prompts.Feature(), b.moves.Feature(),
		chat.Feature{Name: "help", Commands: []chat.Command{
			{Name: "help", Run: b.help},
			{Name: "start", Run: b.help, Hidden: true}, // which Telegram sends when a person opens the bot
		}})
}

// asksFeature shows requests, and asks about texts that were written for one that is over.
func (b *Bot) asksFeature() chat.Feature {
	f, stray := b.asks.Feature(), newStrayTexts(b)
	f.Text = stray.hearText
	f.Run = func(ctx context.Context) error { stray.closeDone(ctx); return b.asks.Run(ctx) }
	f.Cards[strayKind] = stray.tapStray
	return f
}
