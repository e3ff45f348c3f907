package engine

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/offline"
	"ccbot/host"
	"ccbot/internal/session"
	"ccbot/loop"
	"ccbot/port/news"
	"ccbot/schedule"
)

// copies are all that is left of a session apart from its record.
type copies struct {
	archive.Copies
	loops     *loop.Keeper
	schedules *schedule.Keeper
}

// Erase implements archive.Copies. It also removes the loops and schedules: a crash before the
// record goes leaves a session that can be forgotten again.
func (c copies) Erase(ctx context.Context, id uuid.UUID) error {
	return errors.Join(c.Copies.Erase(ctx, id), c.loops.Forget(id), c.schedules.Forget(id))
}

func copiesOf(e *Engine) copies { return copies{offline.Backups(e.Dir), e.Loops, e.Schedules} }

// Forget deletes the record of an ended session, and all copies of the record, loops and schedules.
// No backup is made at the same time.
func (e *Engine) Forget(ctx context.Context, id uuid.UUID) error {
	e.recovering.Lock()
	defer e.recovering.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, done := e.Lasting(ctx)
	defer done()
	return e.Keeper.Forget(ctx, id)
}

// Clear does the steps before a record is forgotten: the chat's own; then it removes the settings
// of the session's launch, and its status.
func (e *Engine) Clear(ctx context.Context, r session.Record) error {
	if err := e.Receipts.Chat.SessionNews(ctx, host.View(e.Coding, r), news.Forgotten{}); err != nil {
		return err
	}
	err := offline.Moments(e.Dir).Forget(r.ID)
	if settings := e.Coding.Of(r.AgentName).Settings; settings != nil {
		err = errors.Join(err, settings.Remove(r.ID))
	}
	return err
}
