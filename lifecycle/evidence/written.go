package evidence

import (
	"context"

	"github.com/google/uuid"
)

// Written returns which of some conversations processes write at this moment, or may write. The agents of
// sessions count like any other process.
func (s *Sources) Written(ctx context.Context, claudeIDs ...uuid.UUID) (map[uuid.UUID]bool, error) {
	e, err := s.Read(ctx, claudeIDs...)
	if err != nil {
		return nil, err
	}
	written := make(map[uuid.UUID]bool)
	for _, v := range e.Verdicts {
		written[v.SessionID] = true
	}
	return written, nil
}
