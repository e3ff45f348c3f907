package chattest

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/port/modes"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

func (f *fakeSessions) Output(context.Context, session.Record, string) lifecycle.Output {
	f.wait()
	if f.OnOutput != nil {
		return f.OnOutput()
	}
	return lifecycle.Output{}
}

func (f *fakeSessions) Wake(id uuid.UUID) {
	f.wait()
	f.Add("wake %s", id)
}

func (f *fakeSessions) Dialog(context.Context, uuid.UUID) (lifecycle.Dialog, error) {
	f.wait()
	return f.OnDialog, f.DialogErr
}

func (f *fakeSessions) Press(_ context.Context, id uuid.UUID, mark, key string) (lifecycle.Dialog, error) {
	f.wait()
	f.Add("press %s of %s for %s", key, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) Choose(_ context.Context, id uuid.UUID, mark string, option int) (lifecycle.Dialog, error) {
	f.wait()
	f.Add("choose %d of %s for %s", option, id, mark)
	return f.pressed(mark)
}

func (f *fakeSessions) pressed(mark string) (lifecycle.Dialog, error) {
	if f.OnPress != nil {
		return f.OnPress(mark)
	}
	return f.OnDialog, nil
}

func (f *fakeSessions) Switch(_ context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error) {
	f.wait()
	if want != (modes.Wish{}) {
		f.Add("switch %s to %s%s", id, want.Mode, want.Model)
	}
	return f.OnModes, f.ModesErr
}
