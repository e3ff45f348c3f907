package bot

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ccbot/bot/outbox"
	"ccbot/internal/glyph"
)

// foundFile is an open file that may be sent. What was checked is its
// descriptor, so nothing that happens to its name later matters.
type foundFile struct {
	*os.File
	path string // without links
	info fs.FileInfo
}

// openFile opens a regular file of a size that can be sent. Links are followed
// first, and where they lead decides whether the file is inside, or one of ccbot's
// own.
func (b *Bot) openFile(path, dir string) (foundFile, error) {
	if !filepath.IsAbs(path) {
		return foundFile{}, refuseFile("the path is not absolute")
	}
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	own, err := filepath.EvalSymlinks(b.StateDir)
	if err != nil || b.StateDir == "" { // then nothing could be told from ccbot's own
		return foundFile{}, fmt.Errorf("find CCBOT_DIR %q: %w", b.StateDir, errors.Join(err, fs.ErrInvalid))
	}
	if _, below := within(own, path); below {
		return foundFile{}, refuseFile(ownFile)
	}
	return openInside(dir, path)
}

const ownFile = "files of ccbot's own are never sent"

// within says whether a path lies in a folder, and where there. Both are without
// links.
func within(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// openInside opens a file through the session's folder, which a link that has
// appeared by now cannot lead out of. A folder that is reached through a link gives
// nothing: the record has only its name, and an agent can make a link of it that
// leads to all there is.
func openInside(dir, path string) (foundFile, error) {
	base := filepath.Clean(dir)
	root, err := os.OpenRoot(base)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	defer root.Close()
	if !isRoot(root, base) {
		return foundFile{}, refuseFile("the session's folder is reached through a link: nothing is sent from there")
	}
	rel, inside := within(base, path)
	if !inside {
		return foundFile{}, refuseFile(outsideFile)
	}
	f, err := openRegular(root, rel)
	if err == nil && !isRoot(root, base) {
		return foundFile{}, errors.Join(refuseFile("the session's folder changed just now"), f.Close())
	}
	f.path = path
	return f, err
}

const outsideFile = "it lies outside of the session's folder: copy it into the folder first"

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

// openRegular looks before it opens, because opening a device does things, and
// looks at what it has opened, because that is what is sent.
func openRegular(root *os.Root, name string) (foundFile, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	if !before.Mode().IsRegular() {
		return foundFile{}, refuseFile("it is not a regular file")
	}
	// A FIFO that takes its place just now must not hold us up.
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return foundFile{}, fileReason(err)
	}
	info, err := f.Stat()
	if err == nil {
		err = checkFile(before, info)
	}
	if err != nil {
		return foundFile{}, errors.Join(err, f.Close())
	}
	return foundFile{File: f, info: info}, nil
}

func checkFile(before, info fs.FileInfo) error {
	switch {
	case !info.Mode().IsRegular():
		return refuseFile("it is not a regular file")
	case !os.SameFile(before, info): // a link, or another file
		return refuseFile("it changed just now")
	case !hasOneName(info): // the other may be that of a file of ccbot's own
		return refuseFile("it has more than one name, by a hard link: copy it first")
	case info.Size() == 0: // also those of /proc, in which our own environment is
		return refuseFile("it is empty")
	case info.Size() > outbox.MaxFile:
		return refuseFile("it has %s, and Telegram takes %s", bytesText(info.Size()), bytesText(outbox.MaxFile))
	}
	return nil
}

// hasOneName says whether no hard link gives a file a second name.
func hasOneName(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && s.Nlink == 1
}

// reason is what the system says of a failure, without the path that the reader
// knows anyway.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}

// bytesText is a size as people read it.
func bytesText(n int64) string {
	switch {
	case n < 1<<10:
		return fmt.Sprintf("%d B", n)
	case n < 1<<20:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
}
