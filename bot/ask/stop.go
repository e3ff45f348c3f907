package ask

import (
	"context"
	"errors"

	"ccbot/internal/pause"
	"ccbot/port/refusal"
	"ccbot/port/talk"
)

// Stops stops agents with an open request.
type Stops struct{ *Requests }

// Fingerprint identifies an open request.
func (a Stops) Fingerprint(key string) (fingerprint string, open bool) { return key, a.IsOpen(key) }

// Stop denies a request and ends its agent's turn. The error is refusal.Changed if it was decided.
func (a Stops) Stop(ctx context.Context, key, _ string, by int64) error {
	r, open := a.find(key)
	if !open {
		return &refusal.Error{Code: refusal.Changed}
	}
	old, next, err := r.change(ctx, func(s State) (State, error) {
		if err := s.undecided(); err != nil {
			return s, err
		}
		return s.decided(by, talk.Answer{Choice: talk.ChoiceStop}, a.Chat.Now()), nil
	})
	switch {
	case errors.Is(err, errEnded), errors.Is(err, errNotNow):
		return &refusal.Error{Code: refusal.Changed, Err: err}
	case err != nil:
		return err
	}
	r.free(ctx, old, next)
	pause.Poke(r.wake) // the goroutine sends the decision to the hook
	return nil
}
