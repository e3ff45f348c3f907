package host

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/google/uuid"

	"ccbot/bot/port/files"
	"ccbot/bot/port/refusal"
)

// Open implements [files.Files]. Links are followed first, and where they lead decides whether the
// file is inside, or one of ccbot's own. What was checked is a descriptor.
func (m *Machine) Open(_ context.Context, session uuid.UUID, path string) (files.File, error) {
	r, ok := m.Records.Get(session)
	if !ok {
		return files.File{}, refuse(refusal.NotFound)
	}
	if !filepath.IsAbs(path) {
		return files.File{}, refuse(refusal.FileRelative)
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	own, err := filepath.EvalSymlinks(m.StateDir)
	if err != nil || m.StateDir == "" { // then nothing could be told from ccbot's own
		return files.File{}, fmt.Errorf("find CCBOT_DIR %q: %w", m.StateDir, errors.Join(err, fs.ErrInvalid))
	}
	if _, below := within(own, path); below {
		return files.File{}, refuse(refusal.FileOwn)
	}
	ours, err := os.Stat(own)
	if err != nil {
		return files.File{}, fmt.Errorf("find CCBOT_DIR: %w", err)
	}
	return openInside(r.Dir, path, ours)
}

func refuse(code refusal.Code) error { return &refusal.Error{Code: code} }

// openInside opens a file through the session's folder, which a link that has appeared by now
// cannot lead out of. A folder that is reached through a link gives nothing: the record has only
// its name, and an agent can make a link of it that leads to all there is. Nothing below ours, the
// folder of ccbot's own, is given out, whatever name it has.
func openInside(dir, path string, ours fs.FileInfo) (files.File, error) {
	base := filepath.Clean(dir)
	root, err := os.OpenRoot(base)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	defer root.Close()
	if !isRoot(root, base) {
		return files.File{}, refuse(refusal.FileLinked)
	}
	rel, inside := within(base, path)
	if !inside {
		return files.File{}, refuse(refusal.FileOutside)
	}
	f, err := openBelow(root, rel, ours)
	if err == nil && !isRoot(root, base) {
		return files.File{}, errors.Join(refuse(refusal.FileChanged), f.Body.Close())
	}
	return f, err
}

// withoutLinks says that a folder is where its name says.
func withoutLinks(dir string) bool {
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == dir
}

// isRoot says that what was opened is still what has the name.
func isRoot(root *os.Root, dir string) bool {
	opened, err := root.Stat(".")
	if err != nil {
		return false
	}
	named, err := os.Lstat(dir)
	return err == nil && os.SameFile(opened, named) && withoutLinks(dir)
}

// openBelow opens a file a folder at a time. A link on the way, which was none when the path was
// looked at, ends it; so does the folder of ccbot's own, also where it is mounted under another
// name or spelt otherwise.
func openBelow(root *os.Root, rel string, ours fs.FileInfo) (files.File, error) {
	here, err := root.Stat(".")
	if err != nil {
		return files.File{}, fileReason(err)
	}
	if os.SameFile(here, ours) {
		return files.File{}, refuse(refusal.FileOwn)
	}
	folder, rest, deeper := strings.Cut(rel, string(filepath.Separator))
	if !deeper {
		return openRegular(root, rel)
	}
	named, err := root.Lstat(folder)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	next, err := root.OpenRoot(folder)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	defer next.Close()
	if opened, err := next.Stat("."); err != nil || !os.SameFile(named, opened) {
		return files.File{}, refuse(refusal.FileChanged)
	}
	return openBelow(next, rest, ours)
}

// openRegular looks before it opens, because opening a device does things, and looks at what it has
// opened, because that is what is sent.
func openRegular(root *os.Root, name string) (files.File, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	if !before.Mode().IsRegular() {
		return files.File{}, refuse(refusal.FileIrregular)
	}
	// A FIFO that takes its place just now must not hold us up.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return files.File{}, fileReason(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(before, info)
	}
	if err != nil {
		return files.File{}, errors.Join(err, f.Close())
	}
	return files.File{Name: filepath.Base(name), Size: info.Size(), Body: f}, nil
}

func checkFile(before, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return refuse(refusal.FileIrregular)
	case !os.SameFile(before, info): // a link, or another file
		return refuse(refusal.FileChanged)
	case !hasOneName(info): // the other may be that of a file of ccbot's own
		return refuse(refusal.FileNamed)
	case info.Size() == 0: // also those of /proc, in which our own environment is
		return refuse(refusal.FileEmpty)
	}
	return nil
}

// hasOneName says whether no hard link gives a file a second name.
func hasOneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}

// fileReason is the refusal of a file that cannot be had.
func fileReason(err error) error {
	e := &refusal.Error{Code: refusal.FileUnreadable, Reason: reason(err), Err: err}
	if errors.Is(err, fs.ErrNotExist) {
		e.Code = refusal.FileMissing
	}
	return e
}
