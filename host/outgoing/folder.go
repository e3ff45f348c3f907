package outgoing

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ccbot/internal/glyph"
	"ccbot/port/refusal"
)

// Folder is the open folder of a session. The caller closes it.
type Folder struct {
	root *os.Root
	dir  string
	own  identities
}

// Open opens a folder. It returns refusal.FileLinked if the path contains a link, because an agent
// could replace its folder by a link to any place. Each error of this package is a refusal, except
// if ccbot's own files cannot be found.
func Open(dir string, own Own) (*Folder, error) {
	all, err := own.find()
	if err != nil {
		return nil, err
	}
	dir = filepath.Clean(dir)
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(err)
	}
	switch {
	case !isRoot(root, dir):
		err = &refusal.Error{Code: refusal.FileLinked, Dir: dir}
	case all.hasAbove(dir):
		err = &refusal.Error{Code: refusal.FileOwn, Dir: dir}
	}
	if err != nil {
		return nil, errors.Join(err, root.Close())
	}
	return &Folder{root: root, dir: dir, own: all}, nil
}

// Close closes the folder. Its open files stay open.
func (f *Folder) Close() error { return f.root.Close() }

// Stays returns refusal.FileChanged if the folder no longer has its name.
func (f *Folder) Stays() error {
	if !isRoot(f.root, f.dir) {
		return &refusal.Error{Code: refusal.FileChanged, Dir: f.dir}
	}
	return nil
}

// isRoot reports whether the opened folder is still the one that has the name.
func isRoot(root *os.Root, dir string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Lstat(dir)
	if err != nil || !os.SameFile(opened, named) {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == dir
}

// RelativePath returns the path of a file from the folder. The absolute path has no links.
func (f *Folder) RelativePath(path string) (rel string, err error) {
	rel, err = filepath.Rel(f.dir, path)
	if err == nil && filepath.IsLocal(rel) {
		return rel, nil
	}
	if info, err := os.Stat(path); err == nil && f.own.has(info) {
		return "", refuse(refusal.FileOwn)
	}
	return "", refuse(refusal.FileOutside)
}

// Open opens a file that may leave; rel is its path from the folder. The caller reads at most
// info.Size() bytes: a file of /proc has none, and ccbot's own environment is there.
func (f *Folder) Open(rel string) (file *os.File, info fs.FileInfo, err error) {
	err = f.walk(f.root, rel, func(folder *os.Root, name string) (err error) {
		file, info, err = f.openRegular(folder, name)
		return err
	})
	return file, info, err
}

// OpenDir opens a folder in the folder, to be listed.
func (f *Folder) OpenDir(rel string) (dir *os.File, err error) {
	err = f.walk(f.root, rel, func(folder *os.Root, name string) error {
		named, err := folder.Lstat(name)
		if err != nil {
			return unreadable(err)
		}
		if !named.IsDir() {
			return refuse(refusal.FileIrregular)
		}
		dir, err = folder.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY, 0)
		if err != nil {
			return unreadable(err)
		}
		opened, err := dir.Stat()
		switch {
		case err != nil || !os.SameFile(named, opened):
			err = refuse(refusal.FileChanged)
		case f.own.has(opened):
			err = refuse(refusal.FileOwn)
		}
		if err != nil {
			err = errors.Join(err, dir.Close())
		}
		return err
	})
	return dir, err
}

// walk opens the folders on the way to a path one at a time, and calls do with the last one. It
// refuses a link on the way, and a folder of ccbot's own, even if that is mounted under another
// name.
func (f *Folder) walk(here *os.Root, rel string, do func(folder *os.Root, name string) error) error {
	info, err := here.Stat(".")
	if err != nil {
		return unreadable(err)
	}
	if f.own.has(info) {
		return refuse(refusal.FileOwn)
	}
	name, rest, deeper := strings.Cut(rel, string(filepath.Separator))
	if !deeper {
		return do(here, name)
	}
	named, err := here.Lstat(name)
	if err != nil {
		return unreadable(err)
	}
	next, err := here.OpenRoot(name)
	if err != nil {
		return unreadable(err)
	}
	defer next.Close()
	if opened, err := next.Stat("."); err != nil || !os.SameFile(named, opened) {
		return refuse(refusal.FileChanged)
	}
	return f.walk(next, rest, do)
}

// openRegular checks the name first, because opening a device has effects, and then the opened
// file, because that is the file that is read.
func (f *Folder) openRegular(folder *os.Root, name string) (*os.File, fs.FileInfo, error) {
	before, err := folder.Lstat(name)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	if !before.Mode().IsRegular() {
		return nil, nil, refuse(refusal.FileIrregular)
	}
	// O_NONBLOCK, because a FIFO that takes the file's place just now must not block us.
	file, err := folder.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	info, err := file.Stat()
	if err == nil {
		err = f.check(before, info)
	}
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return file, info, nil
}

// check decides whether an open file may leave; before is the file that had its name.
func (f *Folder) check(before, info fs.FileInfo) error {
	s, known := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return refuse(refusal.FileIrregular)
	case !os.SameFile(before, info): // a link, or another file
		return refuse(refusal.FileChanged)
	case !known || s.Nlink != 1: // the other name may be anywhere
		return refuse(refusal.FileNamed)
	case f.own.has(info):
		return refuse(refusal.FileOwn)
	}
	return nil
}

func refuse(code refusal.Code) error { return &refusal.Error{Code: code} }

// unreadable is the refusal of a file that cannot be read.
func unreadable(err error) error {
	e := &refusal.Error{Code: refusal.FileUnreadable, Reason: glyph.Name(err.Error()), Err: err}
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		e.Reason = path.Err.Error() // the reader knows the path
	}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = refusal.FileMissing
	}
	return e
}
