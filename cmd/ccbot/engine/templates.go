package engine

import (
	"context"
	"fmt"
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

// templatesTimeout limits a look at the templates: a mount may not answer.
const templatesTimeout = 5 * time.Second

// Templates implements port.LoopTemplates.
func (t templates) Templates(ctx context.Context, id uuid.UUID, now time.Time) ([]port.LoopTemplate, error) {
	r, known := t.store.Get(id)
	if !known {
		return nil, session.ErrNotFound
	}
	read := make(chan []port.LoopTemplate, 1)
	go func() { // it ends with its calls
		read <- template.Source{Own: t.own}.Templates(r.Dir, now)
	}()
	ctx, cancel := context.WithTimeout(ctx, templatesTimeout)
	defer cancel()
	select {
	case all := <-read:
		loops, err := t.loops.All(ctx)
		return template.WithKnown(all, loops), err
	case <-ctx.Done():
		return nil, fmt.Errorf("read the templates of loops: %w", ctx.Err())
	}
}
