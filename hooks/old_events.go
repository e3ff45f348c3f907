package hooks

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
)

// keepEvents is the age up to which an event that was not read is still delivered. keepTemporary is
// the age up to which a half-written file may still be in work: a hook lives for seconds.
const (
	keepEvents    = 7 * 24 * time.Hour
	keepTemporary = time.Hour
)

// Dropped is the number of events that were too old to be delivered when this process started.
func (e *Events) Dropped() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.dropped
}

// expireLocked removes, once per process, events that are too old and files that a killed hook left
// half-written. A file that cannot be removed is delivered like any other.
func (e *Events) expireLocked() error {
	if e.expired {
		return nil
	}
	e.expired = true
	entries, err := os.ReadDir(e.folder.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errList, err)
	}
	var errs []error
	for _, entry := range entries {
		old, temporary := e.tooOld(entry)
		if !old {
			continue
		}
		if err := os.Remove(filepath.Join(e.folder.Path, entry.Name())); err != nil {
			errs = append(errs, fmt.Errorf("old hook event: %w", err))
		} else if !temporary {
			e.dropped++
		}
	}
	if e.dropped > 0 {
		e.log.Warn("hook_events_dropped", logkey.Count, e.dropped, logkey.OlderThan, keepEvents)
	}
	return errors.Join(errs...)
}

func (e *Events) tooOld(entry fs.DirEntry) (old, temporary bool) {
	info, err := entry.Info()
	if err != nil || !info.Mode().IsRegular() {
		return false, false // gone, or to be put into quarantine
	}
	if strings.HasPrefix(entry.Name(), ".") {
		return e.now().Sub(info.ModTime()) > keepTemporary, true
	}
	written, ok := hookwire.EventTime(entry.Name())
	if !ok {
		written = info.ModTime()
	}
	return e.now().Sub(written) > keepEvents, false
}
