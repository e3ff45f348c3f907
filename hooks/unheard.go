package hooks

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/google/uuid"
)

// Unheard reports whether dir/events contains an event of a launch that no sink has taken yet. A
// file that can never be read counts for no launch.
func Unheard(dir string, launch uuid.UUID) (bool, error) {
	events := eventsIn(dir)
	names, err := events.List()
	if err != nil {
		return false, fmt.Errorf("unheard events: %w", err)
	}
	for _, name := range names {
		switch event, err := readEvent(events, name); {
		case errors.Is(err, fs.ErrNotExist), hopeless(err):
			// Taken since the listing, or to be put aside.
		case err != nil:
			return false, fmt.Errorf("unheard events: %w", err)
		case event.Launch == launch.String():
			return true, nil
		}
	}
	return false, nil
}
