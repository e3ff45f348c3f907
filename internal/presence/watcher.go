package presence

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Watcher tells the pids whose presence file was made, changed or removed. It never polls.
type Watcher struct {
	dir     Dir
	changed func(pid int)
	log     *slog.Logger

	watched string       // what is watched now: the folder, or its nearest ancestor that exists
	known   map[int]bool // files that were there when last heard of
}

// NewWatcher makes a watcher of the folder path, which need not exist yet. changed is called from Run, one call at a time;
// it may come more often than the file changed, and comes once for every file at the start and after events were lost.
func NewWatcher(path string, changed func(pid int), log *slog.Logger) *Watcher {
	return &Watcher{dir: Dir{Path: filepath.Clean(path)}, changed: changed, log: log, known: map[int]bool{}}
}

// Run watches until ctx ends and returns its error. A folder that does not exist is waited for, also when it goes away
// later. Any other return means that the watch is lost.
func (w *Watcher) Run(ctx context.Context) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("presence: watch: %w", err)
	}
	defer notify.Close()
	if err := w.settle(notify); err != nil {
		return err
	}
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-notify.Events:
			if !ok {
				return errors.New("presence: watch: closed")
			}
			if err := w.handle(notify, event); err != nil {
				return err
			}
		case err := <-notify.Errors:
			if !errors.Is(err, fsnotify.ErrEventOverflow) {
				return fmt.Errorf("presence: watch %s: %w", w.watched, err)
			}
			w.log.Warn("presence events were lost; listing again", "path", w.dir.Path)
			if err := w.settle(notify); err != nil {
				return err
			}
		}
	}
}

// settle watches the folder, or the nearest ancestor that exists, and then tells every file: whatever changed before the
// watch stood is found by the listing, whatever changes after it comes as an event.
func (w *Watcher) settle(notify *fsnotify.Watcher) error {
	for {
		target, err := nearest(w.dir.Path)
		if err != nil {
			return err
		}
		if err := w.move(notify, target); errors.Is(err, os.ErrNotExist) {
			continue // gone between the look and the watch
		} else if err != nil {
			return err
		}
		// The next folder may have been made between the look and the watch; its event would never come.
		if again, err := nearest(w.dir.Path); err != nil {
			return err
		} else if again == target {
			return w.tellAll()
		}
	}
}

// nearest is the path itself when it is there, else its nearest ancestor that is.
func nearest(path string) (string, error) {
	for {
		_, err := os.Stat(path)
		if err == nil {
			return path, nil
		}
		if !errors.Is(err, os.ErrNotExist) || path == filepath.Dir(path) {
			return "", fmt.Errorf("presence: watch: %w", err)
		}
		path = filepath.Dir(path)
	}
}

// move always adds: a folder that was removed and made again has the same name but needs a new watch.
func (w *Watcher) move(notify *fsnotify.Watcher, target string) error {
	if w.watched != "" && w.watched != target {
		_ = notify.Remove(w.watched) // it may be gone already, and its watch with it
	}
	w.watched = ""
	if err := notify.Add(target); err != nil {
		return fmt.Errorf("presence: watch %s: %w", target, err)
	}
	w.watched = target
	return nil
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

func (w *Watcher) handle(notify *fsnotify.Watcher, event fsnotify.Event) error {
	switch {
	case w.watched != w.dir.Path: // something happened in an ancestor
		return w.settle(notify)
	case event.Name == w.dir.Path:
		if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
			_ = notify.Remove(w.watched) // after a rename the watch would follow the folder to its new place
			return w.settle(notify)
		}
		return nil
	case filepath.Dir(event.Name) != w.dir.Path:
		return nil // late, from a folder watched before
	}
	pid, ok := pidOf(filepath.Base(event.Name))
	if !ok {
		return nil
	}
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		delete(w.known, pid)
	} else {
		w.known[pid] = true
	}
	w.changed(pid)
	return nil
}
