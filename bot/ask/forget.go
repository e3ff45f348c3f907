package ask

import (
	"errors"
	"fmt"

	"github.com/google/uuid"
)

// Forget takes away all cards of a session that is itself forgotten.
func (s *Store) Forget(session uuid.UUID) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for id, c := range s.cards {
		if c.Request.Session != session {
			continue
		}
		if err := s.folder.Remove(file(id)); err != nil {
			errs = append(errs, fmt.Errorf("forget ask %s: %w", id, err))
			continue
		}
		delete(s.cards, id)
	}
	return errors.Join(errs...)
}
