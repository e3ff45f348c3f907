package chattest

import (
	"cmp"
	"context"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/port"
)

func (f *fakeSessions) Output(context.Context, session.Record, string) port.Output {
	f.wait()
	if f.OnOutput != nil {
		return f.OnOutput()
	}
	return port.Output{}
}

func (f *fakeSessions) Switch(_ context.Context, id uuid.UUID, want port.ModeChange) (port.ModeState, error) {
	f.wait()
	if want != (port.ModeChange{}) {
		f.Add("switch %s to %s%s", id, want.Mode, want.Model)
	}
	if f.ModesErr != nil {
		return port.ModeState{}, f.ModesErr
	}
	f.OnModes.Want.Mode, f.OnModes.Want.Model = cmp.Or(want.Mode, f.OnModes.Want.Mode), cmp.Or(want.Model, f.OnModes.Want.Model)
	return f.OnModes, nil
}
