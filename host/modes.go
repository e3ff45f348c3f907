package host

import (
	"context"

	"github.com/google/uuid"

	"ccbot/bot/port/modes"
)

// Switch reads what a session's agent runs with, and wants something else of it.
func (m Sessions) Switch(ctx context.Context, id uuid.UUID, want modes.Wish) (modes.Now, error) {
	now, err := m.Lifecycle.Switch(ctx, id, want)
	return now, m.refused(err)
}
