package chattest

import (
	"context"

	"github.com/google/uuid"

	"ccbot/lifecycle"
)

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
