package conversation

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"ccbot/bot/port/views"
	"ccbot/internal/address"
	"ccbot/internal/guard"
)

// Events are told as they happen, and may come twice. Who hears one calls no session from it:
// sessions tell their news while they work. All are told, whatever becomes of one: a panic is an
// error, too.
type Events struct {
	// Current is told which session is the current one of a conversation now.
	Current []func(ctx context.Context, to address.Conversation, id uuid.UUID) error
	// Shown is told of a session that is shown in another conversation now.
	Shown []func(r views.Session)
}

// MakeCurrent makes a session the current one of a conversation.
func (b *Book) MakeCurrent(ctx context.Context, to address.Conversation, id uuid.UUID) error {
	if err := b.SetCurrent(to, id); err != nil {
		return err
	}
	return tell(b.Events.Current, func(hear func(context.Context, address.Conversation, uuid.UUID) error) error {
		return hear(ctx, to, id)
	})
}

func tell[F any](all []F, call func(F) error) (err error) {
	for _, hear := range all {
		err = errors.Join(err, guard.Call(func() error { return call(hear) }))
	}
	return err
}

// MoveTo shows a session in a conversation from now on, or in the session's own topic there.
func (b *Book) MoveTo(ctx context.Context, to address.Conversation, r views.Session) error {
	if to = b.Home(to, r); r.Conversation == to {
		return nil
	}
	if err := b.Move(ctx, r.ID, to); err != nil {
		return err
	}
	return tell(b.Events.Shown, func(hear func(views.Session)) error { hear(r); return nil })
}

// Use makes a session the current one of a conversation, and shows it there from now on: a session
// is shown in one place, where it was last used, or in its own topic there.
func (b *Book) Use(ctx context.Context, to address.Conversation, r views.Session) error {
	to = b.Home(to, r)
	if err := b.MoveTo(ctx, to, r); err != nil {
		return err
	}
	return b.MakeCurrent(ctx, to, r.ID)
}

// ReplaceCurrent makes a session current wherever another one is.
func (b *Book) ReplaceCurrent(ctx context.Context, from, to uuid.UUID) error {
	for _, one := range b.All() {
		id, err := b.Current(one)
		if err != nil {
			return err
		}
		if id != from {
			continue
		}
		if err := b.MakeCurrent(ctx, one, to); err != nil {
			return err
		}
	}
	return nil
}

// SettleCurrent makes one of the sessions that came back the current one, the last one first, where
// no open session is the current one. In a conversation whose damaged file was set aside at this start
// a person chooses: which session was the current one is unknown.
func (b *Book) SettleCurrent(ctx context.Context, to address.Conversation, back []views.Session) error {
	now, ok, err := b.CurrentSession(to)
	if err != nil || ok && now.Live || slices.Contains(b.Damaged(), to) {
		return err
	}
	for _, r := range slices.Backward(back) {
		if r, ok := b.Records.Get(r.ID); ok && r.Live {
			return b.MakeCurrent(ctx, to, r.ID)
		}
	}
	return nil
}
