package transcript

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// Follower reads a transcript and waits for more without polling. The file may not exist yet, nor its
// folders: Claude Code makes them at the first prompt. It is used by one goroutine at a time and holds one
// inotify instance (Linux allows 128 for each user by default).
type Follower struct {
	path    string
	reader  *Reader
	log     *slog.Logger
	watcher *fsnotify.Watcher
	watched string // the folder being watched: the file's own, or the nearest one above that exists
	told    int    // broken lines already logged
}

// NewFollower returns a follower that starts at c.
func NewFollower(c Cursor, log *slog.Logger) *Follower {
	return &Follower{path: filepath.Clean(c.Path), reader: Open(c), log: log}
}

// Broken is how many lines were passed because they are no JSON or too long.
func (f *Follower) Broken() int { return f.reader.Broken() }

// Next returns the next item, waiting for it until ctx ends. ErrTruncated is as for Reader.Next.
func (f *Follower) Next(ctx context.Context) (Item, error) {
	for {
		if err := ctx.Err(); err != nil {
			return Item{}, err
		}
		item, ok, err := f.Now()
		if err != nil || ok {
			return item, err
		}
		// A watch that is new may have missed what came just before it: read again first.
		moved, err := f.watch()
		if err != nil {
			return Item{}, fmt.Errorf("follow transcript: %w", err)
		}
		if moved {
			continue
		}
		if err := f.wait(ctx); err != nil {
			return Item{}, err
		}
	}
}

// Now is Next without waiting; false says that there is nothing more for now.
func (f *Follower) Now() (Item, bool, error) {
	item, ok, err := f.reader.Next()
	f.tellBroken()
	return item, ok, err
}

// Close releases the file and the watch. It must not run while Next does: end that by its context.
func (f *Follower) Close() error {
	err := f.reader.Close()
	if f.watcher != nil {
		err = errors.Join(err, f.watcher.Close())
	}
	return err
}

// watch moves the watch to the file's folder, or to the nearest folder above it that exists. The folder and
// not the file, because that also tells when another file takes its place.
func (f *Follower) watch() (moved bool, err error) {
	if f.watcher == nil {
		if f.watcher, err = fsnotify.NewWatcher(); err != nil {
			f.watcher = nil
			return false, err
		}
	}
	dir := nearestDir(filepath.Dir(f.path))
	if dir == f.watched {
		return false, nil
	}
	if f.watched != "" {
		// Fails when the folder is gone, which is fine: so is its watch.
		_ = f.watcher.Remove(f.watched)
		f.watched = ""
	}
	err = f.watcher.Add(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil // removed in between: look again
	}
	if err != nil {
		return false, err
	}
	f.watched = dir
	return true, nil
}

// nearestDir is dir or the first folder above it that exists.
func nearestDir(dir string) string {
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return dir
		}
		dir = parent
	}
}

// wait returns when something happened that may concern the file.
func (f *Follower) wait(ctx context.Context) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-f.watcher.Events:
			if !ok {
				return fs.ErrClosed
			}
			if f.concerns(event) {
				return nil
			}
		case err, ok := <-f.watcher.Errors:
			if !ok {
				return fs.ErrClosed
			}
			if errors.Is(err, fsnotify.ErrEventOverflow) {
				return nil // some were lost: look
			}
			return fmt.Errorf("follow transcript: %w", err)
		}
	}
}

// concerns leaves out the other transcripts of the same folder, which may be busy.
func (f *Follower) concerns(event fsnotify.Event) bool {
	if event.Name == f.watched && event.Has(fsnotify.Remove|fsnotify.Rename) {
		f.watched = "" // the folder itself went; the same name may come back as another folder
		return true
	}
	if event.Name == f.path {
		return true
	}
	// Waiting for a folder: any new one may be on the way to the file.
	return f.watched != filepath.Dir(f.path) && event.Has(fsnotify.Create)
}

func (f *Follower) tellBroken() {
	if n := f.reader.Broken(); n > f.told {
		f.log.Warn("transcript_broken_lines", "path", f.path, "count", n)
		f.told = n
	}
}
