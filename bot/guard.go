package bot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"ccbot/bot/chat"
	"ccbot/i18n"
	"ccbot/internal/guard"
	"ccbot/internal/pause"
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

// How long a feature that crashed waits until it runs again.
const (
	firstRestart = time.Second
	lastRestart  = time.Minute
)

// runs runs a feature until ctx ends. A feature that crashes is told once, and runs again after a
// while; the others run on.
func (b *Bot) runs(ctx context.Context, f chat.Feature) error {
	for wait := firstRestart; ; wait = min(2*wait, lastRestart) {
		err := guard.Call(func() error { return f.Run(ctx) })
		if !b.logPanic(f.Name, "run", err) {
			return err
		}
		if wait == firstRestart {
			b.warnEverybody(ctx, f.Name)
		}
		if pause.For(ctx, wait) != nil {
			return nil
		}
	}
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
