package spool

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watch calls changed once when it has begun to watch (list then: what came earlier is seen, what comes later is told)
// and after that whenever items may have come, also for several at once. changed is called from this goroutine; what
// comes meanwhile is told after it. Watch makes the folder where it is missing, also when it is taken away later. It returns nil when ctx
// ends, otherwise why it cannot watch.
func (f Folder) Watch(ctx context.Context, changed func()) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("spool: watch: %w", err)
	}
	defer func() { _ = watcher.Close() }() // nothing is read from it any more
	if err := f.add(watcher); err != nil {
		return err
	}
	changed()
	for ctx.Err() == nil {
		told, err := f.next(ctx, watcher)
		if err != nil {
			return err
		}
		if told {
			changed()
		}
	}
	return nil
}

// next waits for one notification and says whether items may have come.
func (f Folder) next(ctx context.Context, watcher *fsnotify.Watcher) (bool, error) {
	select {
	case <-ctx.Done():
		return false, nil
	case event := <-watcher.Events:
		if f.taken(event) {
			return true, f.add(watcher)
		}
		return f.arrival(event), nil
	case err := <-watcher.Errors:
		if errors.Is(err, fsnotify.ErrEventOverflow) {
			return true, nil // some were not told: all are looked at
		}
		return false, fmt.Errorf("spool: watch: %w", err)
	}
}

func (f Folder) add(watcher *fsnotify.Watcher) error {
	if err := f.Make(); err != nil {
		return err
	}
	if err := watcher.Add(f.Path); err != nil {
		return fmt.Errorf("spool: watch: %w", err)
	}
	return nil
}

// arrival holds for a new name; a rename within the folder shows as one. Dot names become items by another event.
func (f Folder) arrival(event fsnotify.Event) bool {
	return event.Has(fsnotify.Create) && !isDot(filepath.Base(event.Name))
}

// taken says whether the folder itself went away, and its watch with it.
func (f Folder) taken(event fsnotify.Event) bool {
	gone := event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename)
	return gone && filepath.Clean(event.Name) == filepath.Clean(f.Path)
}
