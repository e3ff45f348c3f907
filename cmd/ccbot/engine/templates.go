package engine

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/cmd/ccbot/offline"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/loop/template"
	"ccbot/port"
)

// templates implements port.LoopTemplates.
type templates struct {
	own   string // the folder of a person's own ones
	store *session.Store
	loops *loop.Keeper
}

// Templates returns the templates of loops.
func (e *Engine) Templates() port.LoopTemplates {
	return templates{offline.LoopTemplates(e.Dir), e.Store, e.Loops}
}

// Templates implements port.LoopTemplates.
func (t templates) Templates(ctx context.Context, id uuid.UUID, now time.Time) ([]port.LoopTemplate, error) {
	r, known := t.store.Get(id)
	if !known {
		return nil, session.ErrNotFound
	}
	loops, err := t.loops.All(ctx)
	return template.WithKnown(template.Source{Own: t.own}.Templates(r.Folder(), now), loops), err
}
