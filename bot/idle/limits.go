package idle

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/bot/chat"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
)

// Limits informs the machines of how long each session may be idle. A machine stores that, and
// needs no chat to archive a session.
type Limits struct {
	chat  *chat.Chat
	ender Ender
	plans func(session uuid.UUID) bool // a prompt is planned for it
	wake  chan struct{}
}

// Feature describes the feature to the dispatcher.
func (l *Limits) Feature() chat.Feature {
	return chat.Feature{Name: "idle_limits", Run: l.run,
		OnNews: func(_ context.Context, _ port.Session, n news.News) error {
			switch n.(type) {
			case news.Ready, news.Transferred:
				l.Wake()
			}
			return nil
		},
		OnShown: func(port.Session) { l.Wake() }, OnMoved: func(context.Context, chat.MoveFunc) error { l.Wake(); return nil }}
}

// Wake informs the machines of a setting or a plan that has changed.
func (l *Limits) Wake() { pause.Poke(l.wake) }

// interval is the time until a machine that did not take a limit is informed again.
const interval = time.Minute

func (l *Limits) run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		if err := l.inform(ctx); err != nil {
			l.chat.Log.Warn("idle_limit_not_told", logkey.Error, err)
			wait = interval
		}
		pause.Until(ctx, wait, l.wake)
	}
	return nil
}

func (l *Limits) inform(ctx context.Context) error {
	known, all := l.chat.Book.Records.List()
	for _, r := range known {
		if after := l.after(r); r.State.Live() && !equal(after, r.IdleAfter) {
			all = errors.Join(all, l.ender.SetIdleAfter(ctx, r.ID, after))
		}
	}
	return all
}

// after returns how long a session may be idle before its machine archives it: 0 while a prompt is
// planned, otherwise the choice of its chat; nil: there is none.
func (l *Limits) after(r port.Session) *time.Duration {
	if l.plans(r.ID) {
		return new(time.Duration)
	}
	return l.chat.Book.Settings(r.Conversation.ChatID).IdleAfter
}

func equal(a, b *time.Duration) bool { return a == b || a != nil && b != nil && *a == *b }
