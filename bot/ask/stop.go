package ask

import (
	"context"
	"errors"

	"ccbot/internal/pause"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Stops stops agents that have an open request.
type Stops struct{ *Requests }

// Mark names what a request asks, while a person may decide it.
func (a Stops) Mark(key string) (mark string, open bool) { return key, a.IsOpen(key) }

// Stop denies a request and ends the turn of its agent. refusal.Changed: nobody can decide it any longer.
func (a Stops) Stop(ctx context.Context, key, _ string, by int64) error {
	r, open := a.find(key)
	if !open {
		return &refusal.Error{Code: refusal.Changed}
	}
	old, next, err := r.change(ctx, func(s State) (State, error) {
		if err := s.undecided(); err != nil {
			return s, err
		}
		return s.decided(by, talk.DenyAndStop(denial(s.Request)), a.Chat.Now()), nil
	})
	switch {
	case errors.Is(err, errOver), errors.Is(err, errNotNow):
		return &refusal.Error{Code: refusal.Changed, Err: err}
	case err != nil:
		return err
	}
	r.free(ctx, old, next)
	pause.Poke(r.wake) // which gives the decision to the hook
	return nil
}
