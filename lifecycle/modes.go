package lifecycle

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"ccbot/bot/port/modes"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/wishes"
)

// Switch notes what a person wants the session's present agent to run with, and returns what it runs
// with now; an empty wish only reads. The steps carry the wish out, before the next prompt is typed,
// and report news.Switched. A mode or a model that is wanted later takes the place of the earlier one.
// ErrNoAgent means that there is no agent that was ready; ErrUnseen that the terminal cannot be seen.
func (s *Service) Switch(ctx context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error) {
	if want.Mode != "" && !want.Mode.Offered() {
		return modes.Now{}, fmt.Errorf("switch to mode %q: not offered", want.Mode)
	}
	if want == (modes.Wish{}) {
		r, ok := s.kit.Store.Get(id)
		if !ok {
			return modes.Now{}, session.ErrNotFound
		}
		return runsWith(ctx, &work{kit: s.kit, r: &r})
	}
	defer s.Wake(id)
	var now modes.Now
	err := s.kit.do(ctx, id, func(w *work) (err error) {
		if now, err = runsWith(ctx, w); err != nil {
			return err
		}
		wish := session.Wish{Agent: w.r.Binding.Agent}
		if w.r.Wish != nil && w.r.Wish.Agent == wish.Agent {
			wish = *w.r.Wish
		}
		wish = wishes.Add(wish, want)
		wish.Waits = now.Waits
		w.r.Wish, now.Want = &wish, wishOf(&wish)
		if err := w.save(); err != nil {
			return err
		}
		w.at("wish-saved")
		return nil
	})
	return now, err
}

// runsWith looks at what an agent runs with: its mode is on the screen, its model in the status line.
// The transcript only has the model of the last answer.
func runsWith(ctx context.Context, w *work) (now modes.Now, err error) {
	if w.r.State != session.Running || w.r.Binding == nil {
		return now, ErrNoAgent
	}
	w.view = w.Observer.View(ctx, *w.r)
	switch v := w.view; {
	case v.Agent == process.Gone, v.Fate == PaneDead, v.Fate == PaneGone, v.Fate == PaneForeign, v.Behind:
		return now, ErrNoAgent
	case v.Agent != process.Alive, v.Fate != PaneOurs, !v.Captured:
		return now, ErrUnseen
	}
	now = modes.Now{Mode: modes.Mode(w.view.Screen.Mode), Waits: !takesModeKeys(*w.r, w.view)}
	if u := w.Observer.Usage(*w.r); u != nil {
		now.Model = u.Model
	}
	if w.r.Wish != nil && w.r.Wish.Agent == w.r.Binding.Agent {
		now.Want = wishOf(w.r.Wish)
		now.Waits = now.Waits && !ownModels(*w.r, w.view)
	}
	return now, nil
}

func wishOf(w *session.Wish) modes.Wish { return modes.Wish{Mode: modes.Mode(w.Mode), Model: w.Model} }
