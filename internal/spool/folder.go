package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
	"ccbot/internal/pause"
	"ccbot/internal/watch"
)

// Errors of Read and Put, matched with errors.Is. A missing item is fs.ErrNotExist.
var (
	ErrForeign = ownfile.ErrForeign // a link, pipe, folder, or another user's
	ErrTooBig  = ownfile.ErrTooBig
	// ErrName: the name is empty, or has a separator or a leading dot.
	ErrName = errors.New("not a name for an item")
)

// DefaultMaxSize limits an item where Folder.MaxSize is zero.
const DefaultMaxSize = 16 << 20

// Folder is one queue. The zero MaxSize means DefaultMaxSize bytes. With Fsync, a completed Put or
// Remove survives a power cut; without it only the death of the process: the bytes of an item are
// on the disk, its name may be lost. Its methods may be called concurrently and by several
// processes.
type Folder struct {
	Path    string
	MaxSize int64
	Fsync   bool
}

// Make makes the folder (0700) if it is missing.
func (f Folder) Make() error {
	if err := disk.MkdirAll(f.Path, 0o700); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// Tidy removes what writes that a crash has cut short left behind. Only who owns the folder alone
// calls it: a write that is under way looks the same.
func (f Folder) Tidy() error {
	entries, err := disk.ReadDir(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("spool: tidy: %w", err)
	}
	for _, entry := range entries {
		if !cutShort.MatchString(entry.Name()) || !entry.Type().IsRegular() {
			continue
		}
		if err := disk.Remove(filepath.Join(f.Path, entry.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("spool: tidy: %w", err)
		}
	}
	return nil
}

// Put writes an item, replacing an item of the same name, and makes the folder if it is missing.
// ErrName and ErrTooBig are mistakes of the caller; other errors come from the disk. After an error
// the old item is unchanged, unless only the final sync of the folder failed.
func (f Folder) Put(name string, data []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	if int64(len(data)) > f.maxSize() {
		return fmt.Errorf("spool: put %s: %d bytes: %w", name, len(data), ErrTooBig)
	}
	path := filepath.Join(f.Path, name)
	err := f.write(path, data)
	if errors.Is(err, fs.ErrNotExist) { // the folder is missing
		if err := f.Make(); err != nil {
			return err
		}
		err = f.write(path, data)
	}
	if err != nil {
		return fmt.Errorf("spool: put %s: %w", name, err)
	}
	return nil
}

// List returns the names of the items in order. Dot names (unfinished writes) are not items; a
// missing folder is an empty queue. A folder that has the place of an item is listed, and Read
// refuses it.
func (f Folder) List() ([]string, error) {
	entries, err := disk.ReadDir(f.Path) // sorted by name
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("spool: list: %w", err)
	}
	names := make([]string, 0, len(entries))
	for _, entry := range entries {
		if !isDot(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Read returns the bytes of an item. fs.ErrNotExist, ErrForeign and ErrTooBig are permanent; other
// errors may pass.
func (f Folder) Read(name string) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	path := filepath.Join(f.Path, name)
	data, err := disk.Read(path, func() ([]byte, error) { return ownfile.Read(path, f.maxSize(), 0) })
	if err != nil {
		return nil, fmt.Errorf("spool: read %s: %w", name, err)
	}
	return data, nil
}

// Remove removes an item from the queue; an absent item is no error.
func (f Folder) Remove(name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	path := filepath.Join(f.Path, name)
	err := disk.Remove(path)
	if errors.Is(err, syscall.EROFS) { // also for what is not there
		if _, gone := disk.Lstat(path); errors.Is(gone, fs.ErrNotExist) {
			err = gone
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && f.Fsync {
		err = SyncFolder(disk.Open(f.Path))
	}
	if err != nil {
		return fmt.Errorf("spool: remove %s: %w", name, err)
	}
	return nil
}

func (f Folder) write(path string, data []byte) error {
	// The temporary file must be in the item's folder: List skips its dot name, and the rename
	// stays within one file system.
	if !f.Fsync {
		return disk.Replace(path, f.Path, data, 0o600)
	}
	// The folder is opened first: without a file descriptor for it the item would be replaced, and
	// Put would report an error.
	folder, err := disk.Open(f.Path)
	if err != nil {
		return err
	}
	if err := disk.Replace(path, f.Path, data, 0o600); err != nil {
		return errors.Join(err, folder.Close())
	}
	return SyncFolder(folder, nil) // renameio syncs the file, not its new name
}

// Sync makes the names of the items survive a power cut.
func (f Folder) Sync() error {
	if err := SyncFolder(disk.Open(f.Path)); err != nil {
		return fmt.Errorf("spool: sync: %w", err)
	}
	return nil
}

func (f Folder) maxSize() int64 {
	if f.MaxSize > 0 {
		return f.MaxSize
	}
	return DefaultMaxSize
}

func checkName(name string) error {
	if name == "" || isDot(name) || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("spool: %q: %w", name, ErrName)
	}
	return nil
}

// cutShort is a name under which an item is written: a person's own files have others.
var cutShort = lazyregexp.New(`^\..+\d{3,}$`)

func isDot(name string) bool { return strings.HasPrefix(name, ".") }

// SyncFolder makes the names in a folder survive a power cut, and closes the folder. Its parameters
// are the results of opening the folder: SyncFolder(disk.Open(path)), or
// SyncFolder(root.Open(".")).
func SyncFolder(folder *os.File, err error) error {
	if err != nil {
		return err
	}
	return errors.Join(disk.Sync(folder), folder.Close())
}

// makeInterval is the pause before a folder that could not be made is made again.
const makeInterval = 5 * time.Second

// Watch calls changed once when it has begun to watch, and after that whenever items may have
// arrived, perhaps once for several items. A caller that lists the folder in changed misses
// nothing: the first list contains earlier items, and later items cause another call. changed is
// called from this goroutine; items that arrive during the call cause another call after it. Watch
// makes the folder if it is missing, even if it is removed later, and retries at every
// makeInterval. Watch returns when ctx ends.
func (f Folder) Watch(ctx context.Context, watcher *watch.Watcher, changed func()) {
	// A rename within the folder makes a new name too. A file with a dot name becomes an item by
	// such a rename.
	folder := watcher.Watch(f.Path, func(name string, made bool) bool { return made && !isDot(name) })
	defer folder.Close()
	for {
		if _, err := folder.Wait(ctx); err != nil {
			return
		}
		changed() // also if the folder cannot be made: the list of the folder has the reason
		for f.Make() != nil {
			if pause.For(ctx, makeInterval) != nil {
				return
			}
			changed()
		}
	}
}
