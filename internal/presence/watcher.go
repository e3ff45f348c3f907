package presence

import (
	"context"
	"log/slog"
	"path/filepath"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/watch"
)

// listAgain is how long a folder that could not be listed is left alone. Other looks find what it
// tells a little later.
const listAgain = 30 * time.Second

// Watcher tells the pids whose presence file was made, changed or removed. It never polls.
type Watcher struct {
	dir     Dir
	room    *watch.Room
	changed func(pid int)
	log     *slog.Logger
	known   map[int]bool // files that were there when the folder was listed, or told since
}

// NewWatcher makes a watcher of the folder path, which need not exist yet. changed is called from
// Run, one call at a time; it may come more often than the file changed, and comes once for every
// file at the start and after events were lost.
func NewWatcher(path string, room *watch.Room, changed func(pid int), log *slog.Logger) *Watcher {
	return &Watcher{dir: Dir{Path: filepath.Clean(path)}, room: room, changed: changed, log: log, known: map[int]bool{}}
}

// Run watches until ctx ends and returns its error. A folder that does not exist is waited for,
// also when it goes away later.
func (w *Watcher) Run(ctx context.Context) error {
	folder := w.room.Watch(w.dir.Path, func(name string, _ bool) bool { _, ok := pidOf(name); return ok })
	defer folder.Close()
	for {
		names, err := folder.Wait(ctx)
		if err != nil {
			return err
		}
		for name := range names {
			pid, _ := pidOf(name)
			w.known[pid] = true
			w.changed(pid)
		}
		for names == nil {
			err := w.tellAll()
			if err == nil {
				break
			}
			w.log.Warn("presence_watch_lost", logkey.Error, err.Error(), logkey.AgainIn, listAgain)
			if err := pause.For(ctx, listAgain); err != nil {
				return err
			}
		}
	}
}

// tellAll tells every file that is there, and every one that was and is not any more.
func (w *Watcher) tellAll() error {
	pids, err := w.dir.pids()
	if err != nil {
		return err
	}
	before := w.known
	w.known = make(map[int]bool, len(pids))
	for _, pid := range pids {
		w.known[pid] = true
		w.changed(pid)
	}
	for pid := range before {
		if !w.known[pid] {
			w.changed(pid)
		}
	}
	return nil
}
