package statefolder

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/watch"
)

// goneConfirm is how long the folder must be gone before Run returns: a folder that was renamed may
// come back. Until then nothing is written.
const goneConfirm = time.Second

// errGone is returned if the folder was moved, replaced, removed or emptied.
var errGone = errors.New("ccbot's folder is no longer the one that it has locked")

// Held is a folder whose locks this process holds. The locks are on the folder and not on its path:
// if the folder is moved or removed, another ccbot can lock a new folder at the same path. Then
// this one must stop acting.
type Held struct {
	dir    string
	locks  locks
	folder fs.FileInfo
	free   func() // ends Guard
	doubt  chan struct{}
}

func hold(dir string, l locks) (*Held, error) {
	folder, err := l.folder.Stat()
	return &Held{dir: dir, locks: l, folder: folder, free: func() {}, doubt: make(chan struct{}, 1)}, err
}

// Close releases the locks.
func (h *Held) Close() error {
	h.free()
	return h.locks.Close()
}

// Guard makes all writes to the folder fail from now on while the folder is gone. The instance file
// must exist.
func (h *Held) Guard() {
	h.free = disk.Guard(func(path string) error {
		if !within(h.dir, path) || !h.isGone() {
			return nil
		}
		pause.Poke(h.doubt)
		return errGone
	})
}

// isGone reports whether the path certainly leads to another folder or to none, or the folder was
// emptied. An error that may pass is not an answer. A copy of the folder is another folder, even
// with the same instance: it is not locked, and it may be older than what this process knows.
func (h *Held) isGone() bool {
	now, err := disk.Stat(h.dir)
	if err == nil && os.SameFile(now, h.folder) {
		_, err = disk.Lstat(filepath.Join(h.dir, instanceFile))
		return errors.Is(err, fs.ErrNotExist)
	}
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// Run watches the folder until ctx ends. It returns an error as soon as the folder is gone.
func (h *Held) Run(ctx context.Context, room *watch.Watcher, log *slog.Logger) error {
	w := room.Watch(h.dir, func(name string, _ bool) bool { return name == instanceFile })
	defer w.Close()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		for {
			if _, err := w.Wait(ctx); err != nil {
				return err
			}
			pause.Poke(h.doubt)
		}
	})
	g.Go(func() error {
		for pause.Until(ctx, pause.Forever, h.doubt) {
			if !h.isGone() || pause.For(ctx, goneConfirm) != nil || !h.isGone() {
				continue
			}
			log.Error("state_folder_gone", logkey.Dir, h.dir, logkey.Error, errGone)
			return &folderError{"ccbot's folder " + h.dir + " was moved, replaced, removed or emptied, and another ccbot may use that path now: " +
				"bring the folder back, or start ccbot with the one that is there", errGone}
		}
		return ctx.Err()
	})
	return g.Wait()
}
