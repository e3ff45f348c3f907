package chattest

import (
	"context"

	"github.com/google/uuid"

	"ccbot/lifecycle"
)

// screens are what terminals show, and what a key on one of them does.
type screens struct {
	OnScreen  lifecycle.Screen
	OnPressOn func(mark string) (lifecycle.Screen, error)
}

func (f *fakeSessions) Screen(_ context.Context, id uuid.UUID, press lifecycle.KeyOn) (lifecycle.Screen, error) {
	f.wait()
	if press.Key == "" {
		return f.OnScreen, f.DialogErr
	}
	f.Add("press %s of %s on %s", press.Key, id, press.Mark)
	if f.OnPressOn != nil {
		return f.OnPressOn(press.Mark)
	}
	return f.OnScreen, nil
}
