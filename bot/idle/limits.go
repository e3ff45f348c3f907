package idle

import (
	"context"
	"errors"
	"time"

	"ccbot/bot/machine"
	"ccbot/port"
)

// TellLimits informs the machines of how long each session may be idle. A machine stores that, and
// needs no chat to archive a session.
func (i *Idle) TellLimits(ctx context.Context) error {
	known, all := i.chat.Book.Records.List()
	pass := machine.NewPass(ctx)
	defer pass.End()
	for _, r := range known {
		if after := i.after(r); r.State.Live() && !equal(after, r.IdleAfter) {
			all = errors.Join(all, i.ender.SetIdleAfter(pass.On(r.Machine), r.ID, after))
		}
	}
	return all
}

// after returns how long a session may be idle before its machine archives it: 0 while a prompt is
// planned, otherwise the choice that it was started with; nil: there is none.
func (i *Idle) after(r port.Session) *time.Duration {
	if i.plans(r.ID) {
		return new(time.Duration)
	}
	return i.chat.Book.Limits(r).IdleAfter
}

func equal(a, b *time.Duration) bool { return a == b || a != nil && b != nil && *a == *b }
