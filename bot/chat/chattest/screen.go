package chattest

import (
	"context"

	"github.com/google/uuid"

	"ccbot/port"
)

// screens holds the content of terminals, and the effect of a key on one of them.
type screens struct {
	OnScreen  port.Screen
	OnPressOn func(mark string) (port.Screen, error)
}

func (f *fakeSessions) Screen(_ context.Context, id uuid.UUID, press port.KeyOn) (port.Screen, error) {
	f.wait()
	if press.Key == "" {
		return f.OnScreen, f.DialogErr
	}
	f.Add("press %s of %s on %s", press.Key, id, press.Fingerprint)
	if f.OnPressOn != nil {
		return f.OnPressOn(press.Fingerprint)
	}
	return f.OnScreen, nil
}

func (f *fakeSessions) Dialog(context.Context, uuid.UUID) (port.Dialog, error) {
	f.wait()
	return f.OnDialog, f.DialogErr
}

func (f *fakeSessions) Press(_ context.Context, id uuid.UUID, mark, key string) (port.Dialog, error) {
	f.wait()
	f.Add("press %s of %s for %s", key, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) Choose(_ context.Context, id uuid.UUID, mark string, option int) (port.Dialog, error) {
	f.wait()
	f.Add("choose %d of %s for %s", option, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) pressed(mark string) (port.Dialog, error) {
	if f.OnPress != nil {
		return f.OnPress(mark)
	}
	return f.OnDialog, nil
}

func (f *fakeSessions) Halt(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.Add("halt %s", id)
	return nil
}

func (f *fakeSessions) EndTurn(_ context.Context, id uuid.UUID) error {
	f.wait()
	f.Add("end turn of %s", id)
	if f.OnEndTurn != nil {
		return f.OnEndTurn(id)
	}
	return nil
}
