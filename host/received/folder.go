package received

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"ccbot/internal/ownfile"
	"ccbot/port/folders"
)

// Folder is the folder below a session's directory in which files from the chat lie.
const Folder = folders.InboxName

// ErrNotOurs is returned if the folder's name belongs to something that is not a directory of this
// uid: a link, a file, another user's directory, or something that changed during the check.
var ErrNotOurs = errors.New(Folder + " is not ccbot's directory")

// openFolder opens the folder of a session's directory and, with make, creates it if it is missing.
// The returned root stays in the directory that was checked, even if its name now belongs to
// something else.
func openFolder(dir string, make bool) (*os.Root, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if make {
		if err := root.Mkdir(Folder, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
	named, err := statFolder(root)
	if err != nil {
		return nil, err
	}
	return enter(root, named)
}

// statFolder finds what has the folder's name, and refuses everything but a directory of this uid.
func statFolder(root *os.Root) (fs.FileInfo, error) {
	named, err := root.Lstat(Folder)
	if err == nil && (!named.IsDir() || ownfile.Owner(named) != os.Geteuid()) {
		err = ErrNotOurs
	}
	return named, err
}

// enter opens the directory that was checked. It refuses another one that now has its name.
func enter(root *os.Root, named fs.FileInfo) (*os.Root, error) {
	box, err := root.OpenRoot(Folder)
	if err != nil {
		return nil, err
	}
	opened, err := box.Stat(".")
	if err == nil && !os.SameFile(named, opened) {
		err = ErrNotOurs
	}
	// The repository made it; other users must not see files of a chat.
	if err == nil && opened.Mode().Perm()&0o077 != 0 {
		err = box.Chmod(".", 0o700)
	}
	if err != nil {
		return nil, errors.Join(err, box.Close())
	}
	return box, nil
}

// inPlace makes sure that the folder still has its name, because the agent finds the file by this
// name.
func inPlace(dir string, box *os.Root) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	named, err := root.Lstat(Folder)
	if err != nil {
		return err
	}
	opened, err := box.Stat(".")
	if err != nil {
		return err
	}
	if !os.SameFile(named, opened) {
		return ErrNotOurs
	}
	return nil
}

// Inode distinguishes a file from a later one with the same name; 0 where the system has no such
// number.
func Inode(info fs.FileInfo) uint64 {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return stat.Ino
	}
	return 0
}

// ignoreAll is the .gitignore of the folder, because none of its files belongs into a commit.
const ignoreAll = "*\n"

const ignoreFile = ".gitignore"

// ignore writes the folder's .gitignore, through an unused temporary name. A .gitignore that exists
// stays as it is.
func ignore(box *os.Root, part string, link linker) error {
	if _, err := box.Lstat(ignoreFile); err == nil || !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := create(box, part)
	if err != nil {
		return err
	}
	_, err = f.WriteString(ignoreAll)
	if err = errors.Join(err, f.Close()); err == nil {
		err = publish(box, part, ignoreFile, link)
	}
	if errors.Is(err, fs.ErrExist) { // it appeared a moment ago
		err = nil
	}
	return errors.Join(err, remove(box, part))
}

func create(box *os.Root, name string) (*os.File, error) {
	return box.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
}

// linker adds a second name to a file, as (*os.Root).Link does.
type linker func(box *os.Root, from, to string) error

// publish adds the final name to a file; the error is fs.ErrExist when that name is in use. The
// temporary name may stay.
func publish(box *os.Root, part, name string, link linker) error {
	err := link(box, part, name)
	if !errors.Is(err, syscall.EPERM) && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EMLINK) {
		return err
	}
	// This file system has no hard links. The name is reserved first, because a rename replaces an
	// existing file.
	f, err := create(box, name)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), box.Rename(part, name))
}

// remove removes a name, never the target of a link; a missing name is no error.
func remove(box *os.Root, name string) error {
	if err := box.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove: %w", err)
	}
	return nil
}
