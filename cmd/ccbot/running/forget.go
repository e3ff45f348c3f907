package running

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"ccbot/archive"
	"ccbot/cmd/ccbot/desk"
	"ccbot/cmd/ccbot/show"
	"ccbot/internal/control"
)

// Forget names the session whose record is to be deleted.
type Forget struct {
	Session uuid.UUID `json:"session_id"`
}

// forget deletes the record of a session that is over, and all copies of the record. No backup is
// made at the same time.
func (s *system) forget(ctx context.Context, id uuid.UUID) error {
	s.recovering.Lock()
	defer s.recovering.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, done := s.lasting(ctx)
	defer done()
	return s.keeper.Forget(ctx, id)
}

// Forgetting deletes the record of a session that is over, and all copies of it.
var Forgetting = Change[Forget, struct{}]{Verb: "forget", do: func(ctx context.Context, s *system, body Forget) (struct{}, error) {
	if body.Session == uuid.Nil {
		return struct{}{}, control.Refuse(control.CodeMalformed, "not the id of a session")
	}
	err := s.forget(ctx, body.Session)
	if r, there := s.store.Get(body.Session); there && errors.Is(err, archive.ErrNotOver) {
		err = desk.NotOver(s.english(), r)
	}
	return struct{}{}, err
}}

// purge removes the records that are due, and reports each.
func (s *system) purge(ctx context.Context) []show.Purge {
	records := s.store.List()
	return show.PurgesOf(s.keeper.Purge(ctx), records, time.Now(), s.PurgeAfter, "was forgotten", "; `ccbot recover --restore` brings it back for a week")
}
