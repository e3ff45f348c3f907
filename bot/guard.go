package bot

import (
	"context"
	"errors"
	"fmt"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/guard"
)

// logPanic logs a panic with its stack; false: the error is none.
func (b *Bot) logPanic(feature, where string, err error) bool {
	p, ok := errors.AsType[*guard.Panic](err)
	if !ok {
		return false
	}
	b.Log.Error("feature_crashed", "feature", feature, "where", where, "panic", fmt.Sprint(p.Value), "stack", p.Stack)
	return true
}

// runs runs a feature until ctx ends. A feature that crashes is told once, and runs again after a
// while; the others run on.
func (b *Bot) runs(ctx context.Context, f chat.Feature) error {
	told := false
	return guard.Keep(ctx, func() error { return f.Run(ctx) }, func(p *guard.Panic) {
		b.logPanic(f.Name, "run", p)
		if !told {
			b.warnEverybody(ctx, f.Name)
		}
		told = true
	})
}

// warnEverybody says in each private chat that a part of the bot has crashed.
func (b *Bot) warnEverybody(ctx context.Context, feature string) {
	homes, err := b.PrivateChats()
	if err != nil {
		b.Log.Warn("chats_unreadable", "error", err.Error())
	}
	for _, to := range homes {
		if err := b.Say(ctx, to, chat.Warning+b.words.Say(i18n.FeatureCrashed, i18n.Args{"Feature": feature})); err != nil {
			b.Log.Warn("crash_not_told", "feature", feature, "error", err.Error())
		}
	}
}
