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

// listAgain is the pause after a folder could not be listed. During the pause, changes are found a
// little later by the other ways in which callers look for them.
const listAgain = 30 * time.Second

// Watcher reports the pids whose presence files were made, changed or removed. It never polls.
type Watcher struct {
	dir     Dir
	watcher *watch.Watcher
	changed func(pid int)
	log     *slog.Logger
	known   map[int]bool // files found when the folder was listed, or reported since
}

// NewWatcher makes a watcher of the folder path, which need not exist yet. Run calls changed, one
// call at a time. It may call changed more often than a file changed, and calls it once for every
// file at the start and after events were lost.
func NewWatcher(path string, watcher *watch.Watcher, changed func(pid int), log *slog.Logger) *Watcher {
	return &Watcher{dir: Dir{Path: filepath.Clean(path)}, watcher: watcher, changed: changed, log: log, known: map[int]bool{}}
}

// Watch is Run of a new watcher.
func (d Dir) Watch(ctx context.Context, folders *watch.Watcher, log *slog.Logger, changed func(pid int)) error {
	return NewWatcher(d.Path, folders, changed, log).Run(ctx)
}

// Run watches until ctx ends and returns its error. It waits for a folder that does not exist, even
// when the folder is removed later.
func (w *Watcher) Run(ctx context.Context) error {
	folder := w.watcher.Watch(w.dir.Path, func(name string, _ bool) bool { _, ok := pidOf(name); return ok })
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
			err := w.reportAll()
			if err == nil {
				break
			}
			w.log.Warn("presence_watch_lost", logkey.Error, err, logkey.AgainIn, listAgain)
			if err := pause.For(ctx, listAgain); err != nil {
				return err
			}
		}
	}
}

// reportAll reports every file that exists, and every known file that no longer exists.
func (w *Watcher) reportAll() error {
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
