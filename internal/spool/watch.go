package spool

import (
	"context"

	"ccbot/internal/watch"
)

// Watch calls changed once when it has begun to watch (list then: what came earlier is seen, what
// comes later is told) and after that whenever items may have come, also for several at once.
// changed is called from this goroutine; what comes meanwhile is told after it. Watch makes the
// folder where it is missing, also when it is taken away later. It returns nil when ctx ends,
// otherwise why it cannot make the folder.
func (f Folder) Watch(ctx context.Context, room *watch.Room, changed func()) error {
	// A rename within the folder makes a new name too. Dot names become items by another one.
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
