package chattest

import (
	"context"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/host"
	"ccbot/port/folders"
	"ccbot/port/talk"
)

// conversations reads the sessions' real transcripts.
type conversations struct{ world *World }

// said are the transcripts, as they are written and from any place.
type said struct {
	*transcripts
	conversations
}

func (c conversations) reached() host.Conversations {
	c.world.ports.wait()
	return host.Conversations{Agents: c.world.agentsIn(c.world.Dir), Records: c.world.Records, Dir: filepath.Join(c.world.Dir, "exports"), Tickets: &c.world.Tickets}
}

func (c conversations) Read(ctx context.Context, session uuid.UUID, at talk.Place, way talk.Direction, most int) ([]talk.Entry, error) {
	return c.reached().Read(ctx, session, at, way, most)
}

func (c conversations) Find(ctx context.Context, session uuid.UUID, at talk.Place, word string, most int, budget time.Duration) (talk.Found, error) {
	return c.reached().Find(ctx, session, at, word, most, c.world.within(budget))
}

func (c conversations) Days(ctx context.Context, session uuid.UUID, at talk.Place, most int, budget time.Duration) (talk.Days, error) {
	return c.reached().Days(ctx, session, at, most, c.world.within(budget))
}

func (w *World) within(budget time.Duration) time.Duration {
	if w.Slow {
		return 0
	}
	return budget
}

func (c conversations) Export(ctx context.Context, session uuid.UUID, most int64, words talk.Words) (folders.File, error) {
	return c.reached().Export(ctx, session, most, words)
}

func (c conversations) LastQuestions(ctx context.Context, sessions []uuid.UUID) ([]string, error) {
	return c.reached().LastQuestions(ctx, sessions)
}
