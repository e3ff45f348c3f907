//go:build !linux

package writerlock

import (
	"errors"

	"github.com/google/uuid"
)

// Held knows no holder on this system.
func (Home) Held() (map[int][]uuid.UUID, error) {
	return nil, errors.New("writer locks: the system does not report them")
}
