package chattest

import (
	"cmp"
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

func (f *fakeSessions) Switch(_ context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error) {
	f.wait()
	if want != (modes.Wish{}) {
		f.Add("switch %s to %s%s", id, want.Mode, want.Model)
	}
	if f.ModesErr != nil {
		return modes.Now{}, f.ModesErr
	}
	f.OnModes.Want.Mode, f.OnModes.Want.Model = cmp.Or(want.Mode, f.OnModes.Want.Mode), cmp.Or(want.Model, f.OnModes.Want.Model)
	return f.OnModes, nil
}
