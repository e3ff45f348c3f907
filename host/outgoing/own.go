package outgoing

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Own names ccbot's own files.
type Own struct {
	Dir      string // CCBOT_DIR
	Settings string // ccbot.env, which may lie elsewhere; empty: none
}

// identity is the device and the inode of a file.
type identity struct{ dev, ino any }

func identify(info fs.FileInfo) (identity, bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return identity{}, false
	}
	return identity{s.Dev, s.Ino}, true
}

// identities are the files and folders that may not leave.
type identities map[identity]bool

// has reports whether a file is among them. It is if its identity is unknown.
func (i identities) has(info fs.FileInfo) bool {
	id, ok := identify(info)
	return !ok || i[id]
}

// hasAbove reports whether a folder, or one above it, is among them: a link in CCBOT_DIR may lead
// to a folder whose files are not collected.
func (i identities) hasAbove(dir string) bool {
	for {
		info, err := os.Stat(dir)
		if err != nil || i.has(info) {
			return true
		}
		if dir == filepath.Dir(dir) {
			return false
		}
		dir = filepath.Dir(dir)
	}
}

// find collects CCBOT_DIR, everything in it and the targets of its links. It fails if there is no
// CCBOT_DIR, because ccbot's own files could not be recognised then.
func (o Own) find() (identities, error) {
	dir, err := filepath.EvalSymlinks(o.Dir)
	if err != nil || o.Dir == "" {
		return nil, fmt.Errorf("find CCBOT_DIR %q: %w", o.Dir, errors.Join(err, fs.ErrInvalid))
	}
	all := make(identities)
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		switch {
		case err == nil:
			return all.add(path)
		case path != dir && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
			return nil // it has just gone, or ccbot cannot read it either, like lost+found
		}
		return fmt.Errorf("find CCBOT_DIR: %w", err)
	})
	if err == nil && o.Settings != "" {
		err = all.add(o.Settings)
	}
	return all, err
}

// add adds a path, and its target if it is a link.
func (i identities) add(path string) error {
	for _, look := range []func(string) (fs.FileInfo, error){os.Lstat, os.Stat} {
		info, err := look(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) {
			continue // a link leads nowhere, or the file has just gone
		}
		if err != nil {
			return fmt.Errorf("identify ccbot's own files: %w", err)
		}
		if id, ok := identify(info); ok {
			i[id] = true
		}
		if info.Mode().Type() != fs.ModeSymlink {
			break
		}
	}
	return nil
}
