// Package inform keeps the machines informed of what the chat decides and they carry out without
// it, such as how long a session may be idle. A machine stores each decision, and shows it to the
// chat. The chat repeats a decision until the machine has it, so a crash of either loses none.
package inform

import (
	"context"
	"time"

	"ccbot/bot/chat"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// Tell compares the chat's decisions of one kind with those that the machines have, and tells them
// the differences.
type Tell func(ctx context.Context) error

// Informer informs the machines.
type Informer struct {
	chat *chat.Chat
	tell []Tell
	wake chan struct{}
}

// New returns an Informer of a chat.
func New(c *chat.Chat, tell ...Tell) *Informer {
	return &Informer{c, tell, make(chan struct{}, 1)}
}

// Feature describes the feature to the dispatcher.
func (i *Informer) Feature() chat.Feature {
	return chat.Feature{Name: "inform", Run: i.run,
		OnNews: func(_ context.Context, _ port.Session, n news.News) error {
			switch n.(type) {
			case news.Ready, news.Transferred, news.Start:
				i.Wake()
			}
			return nil
		},
		OnShown: func(port.Session) { i.Wake() }, OnMoved: func(context.Context, chat.MoveFunc) error { i.Wake(); return nil }}
}

// Wake informs the machines of a decision that has changed.
func (i *Informer) Wake() { pause.Poke(i.wake) }

// interval is the time until a machine that was not informed is informed again.
const interval = time.Minute

func (i *Informer) run(ctx context.Context) error {
	for ctx.Err() == nil {
		wait := pause.Forever
		for _, tell := range i.tell {
			err := tell(ctx)
			if err == nil {
				continue
			}
			wait = interval
			if ctx.Err() == nil && !refusal.Is(err, refusal.Unreachable) {
				i.chat.Log.Warn("machine_not_informed", logkey.Error, err)
			}
		}
		pause.Until(ctx, wait, i.wake)
	}
	return nil
}
