package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/internal/hookwire"
	"ccbot/internal/spool"
)

// Unheard says whether an event of a launch lies in dir/events that no sink has taken yet. What can
// never be read is nobody's.
func Unheard(dir string, launch uuid.UUID) (bool, error) {
	folder := spool.Folder{Path: filepath.Join(dir, hookwire.EventsFolder), MaxSize: hookwire.MaxEvent}
	names, err := folder.List()
	if err != nil {
		return false, fmt.Errorf("unheard events: %w", err)
	}
	for _, name := range names {
		data, err := folder.Read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // it was taken meanwhile
		}
		if err != nil && !hopeless(err) {
			return false, fmt.Errorf("unheard events: %w", err)
		}
		event, err := hookwire.ReadEvent(data)
		if err == nil && event.Launch == launch.String() {
			return true, nil
		}
	}
	return false, nil
}
