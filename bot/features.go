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
	return append(b.life.features(), b.asksFeature(), b.answers.Feature(), b.outputs.Feature(),
		dialog.New(b.Chat, b.Sessions, b.asks.Floods), b.prompts.Feature(), b.moves.Feature(),
		chat.Feature{Name: "help", Commands: []chat.Command{
			{Name: "help", Run: b.help},
			{Name: "start", Run: b.help, Hidden: true}, // which Telegram sends when a person opens the bot
		}})
}

// asksFeature shows requests. A text that was written for one that is over is asked about.
func (b *Bot) asksFeature() chat.Feature {
	f := b.asks.Feature()
	f.Text = func(ctx context.Context, in chat.Incoming, text string) (taken bool, err error) {
		taken, missed, err := b.asks.Hear(ctx, in, text)
		if missed == nil || taken || err != nil {
			return taken, err
		}
		in.Missed = true
		if err := b.prompts.Take(ctx, in, text); err != nil {
			return false, err
		}
		return true, b.asks.Caught(ctx, missed.Request.ID)
	}
	return f
}
