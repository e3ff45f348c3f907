package lifecycle

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/lifecycle/dialog"
	"ccbot/port"
)

// Switch notes what a person wants the session's present agent to run with, and returns what it
// runs with now; an empty request only reads. The steps carry the request out, before the next
// prompt is typed, and report news.Switched. A mode or a model that is wanted later takes the place
// of the earlier one. view.ErrNoAgent means that there is no agent; view.ErrUnseen that the
// terminal cannot be seen, or that the agent is being started; view.ErrSilent that tmux does not
// answer.
func (s *Service) Switch(ctx context.Context, id uuid.UUID, want port.ModeChange) (now port.ModeState, err error) {
	r, ok := s.core.Store.Get(id)
	if want.Mode != "" && !s.core.Agents.Of(r.AgentName).Abilities.HasMode(want.Mode) {
		return port.ModeState{}, fmt.Errorf("switch to mode %q: not offered", want.Mode)
	}
	if want == (port.ModeChange{}) && !r.State.Launching() {
		if !ok {
			return port.ModeState{}, session.ErrNotFound
		}
		return dialog.RunsWith(ctx, s.core.Observer, &r, s.core.terminalOf(&r))
	}
	// The worker of a session that is being launched may have reported that it is ready, and not
	// have saved it yet.
	err = s.core.ask(ctx, id, func(w *work) (err error) {
		now, err = w.switching.Request(ctx, want)
		return err
	})
	return now, err
}
