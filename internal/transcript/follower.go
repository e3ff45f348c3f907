package transcript

import (
	"context"
	"log/slog"
	"path/filepath"

	"ccbot/internal/logkey"
	"ccbot/internal/watch"
)

// Follower reads a transcript and waits for more without polling. The file may not exist yet, nor
// its folders: Claude Code makes them at the first prompt. It is used by one goroutine at a time.
type Follower struct {
	path   string
	reader *Reader
	room   *watch.Room
	folder *watch.Watch // watched since Next waited for more
	log    *slog.Logger
	told   int // broken lines already logged
}

// NewFollower returns a follower that starts at c.
func NewFollower(c Cursor, room *watch.Room, log *slog.Logger) *Follower {
	return &Follower{path: filepath.Clean(c.Path), reader: Open(c), room: room, log: log}
}

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
		if f.folder == nil {
			// The folder is watched and not the file, because only the folder shows when another
			// file takes the place of this one.
			name := filepath.Base(f.path)
			f.folder = f.room.Watch(filepath.Dir(f.path), func(entry string, _ bool) bool { return entry == name })
		}
		if _, err := f.folder.Wait(ctx); err != nil {
			return Item{}, err
		}
	}
}

// Now is Next without waiting; false says that there is nothing more for now.
func (f *Follower) Now() (Item, bool, error) {
	item, ok, err := f.reader.Next()
	if n := f.reader.Broken(); n > f.told {
		f.log.Warn("transcript_broken_lines", logkey.Path, f.path, logkey.Count, n)
		f.told = n
	}
	return item, ok, err
}

// Close releases the file and the watch. It must not run at the same time as Next: end Next first,
// by its context.
func (f *Follower) Close() error {
	if f.folder != nil {
		f.folder.Close()
	}
	return f.reader.Close()
}
