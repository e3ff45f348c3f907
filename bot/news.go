package bot

import (
	"context"
	"fmt"

	"ccbot/bot/chat"
	"ccbot/bot/port/news"
	"ccbot/i18n"
	"ccbot/internal/guard"
)

// SessionNews tells the chat what happened to a session. What it tells is on disk when it returns.
func (b *Bot) SessionNews(ctx context.Context, n news.Note) error {
	tell, ok := b.news[n.Kind]
	if !ok {
		return fmt.Errorf("unknown news %q", n.Kind)
	}
	for _, f := range b.rooms {
		if f.Heard == nil {
			continue
		}
		if err := b.hear(ctx, n, f.Name, f.Heard); err != nil {
			return err
		}
	}
	return b.hear(ctx, n, string(n.Kind), tell)
}

// hear gives news to one feature. News that a feature crashes at are told as an error of ours: told
// again, the feature would crash again, and the session would wait for it.
func (b *Bot) hear(ctx context.Context, n news.Note, who string, feature func(context.Context, news.Note) error) error {
	err := guard.Call(func() error { return feature(ctx, n) })
	if !b.logPanic(who, "news", err) {
		return err
	}
	return b.For(n.Session.ID).Say(ctx, n.Session.Conversation, chat.Warning+b.words.Say(i18n.InternalError))
}
