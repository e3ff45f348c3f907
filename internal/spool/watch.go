package spool

import (
	"context"

	"ccbot/internal/watch"
)

// Watch calls changed once when it has begun to watch, and after that whenever items may have
// arrived, perhaps once for several items. A caller that lists the folder in changed misses
// nothing: the first list contains earlier items, and later items cause another call. changed is
// called from this goroutine; items that arrive during the call cause another call after it. Watch
// makes the folder where it is missing, also when the folder is removed later. It returns nil when
// ctx ends, otherwise the reason for which it cannot make the folder.
func (f Folder) Watch(ctx context.Context, room *watch.Room, changed func()) error {
	// A rename within the folder makes a new name too. A file with a dot name becomes an item by
	// such a rename.
	folder := room.Watch(f.Path, func(name string, made bool) bool { return made && !isDot(name) })
	defer folder.Close()
	for {
		if _, err := folder.Wait(ctx); err != nil {
			return nil
		}
		if err := f.Make(); err != nil {
			return err
		}
		changed()
	}
}
