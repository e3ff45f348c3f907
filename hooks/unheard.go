package hooks

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"
)

// Unheard says whether an event of a launch lies in dir/events that no sink has taken yet. What can
// never be read is nobody's.
func Unheard(dir string, launch uuid.UUID) (bool, error) {
	events := eventsIn(dir)
	names, err := events.List()
	if err != nil {
		return false, fmt.Errorf("unheard events: %w", err)
	}
	for _, name := range names {
		switch event, err := readEvent(events, name); {
		case errors.Is(err, fs.ErrNotExist), hopeless(err): // taken meanwhile, or to be set aside
		case err != nil:
			return false, fmt.Errorf("unheard events: %w", err)
		case event.Launch == launch.String():
			return true, nil
		}
	}
	return false, nil
}
