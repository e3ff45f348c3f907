package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/disk"
)

// probe is written and removed in ccbot's folder: at each start, and while the disk may be full.
const probe = ".probe"

// LeastFree is the free space that a start needs, in bytes: room for some records and messages.
const LeastFree = 256 << 10

// probeFolder writes a file into a folder, and removes it.
func probeFolder(dir string, size int) error {
	path := filepath.Join(dir, probe)
	err := writeProbe(path, size)
	if removed := disk.Remove(path); err == nil && !errors.Is(removed, fs.ErrNotExist) {
		err = removed
	}
	return err
}

func writeProbe(path string, size int) error {
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, size))
	if err == nil {
		err = f.Sync() // with delayed allocation only this proves that there is room
	}
	return errors.Join(err, f.Close())
}

// Error says in a sentence what a person has to repair when ccbot's own folder causes the error, at
// a start or hours later; any other error stays as it is.
func Error(dir string, err error) error {
	if reported := (*folderError)(nil); errors.As(err, &reported) {
		return err
	}
	path := (*fs.PathError)(nil)
	if !errors.As(err, &path) || !within(dir, path.Path) {
		return err
	}
	var what string
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		what = fmt.Sprintf("there is no room left; make some and try again (a start takes %s)", i18n.Words{}.Size(LeastFree))
	case errors.Is(err, syscall.EROFS):
		what = "it is read-only; mount it for writing, or set CCBOT_DIR to another folder"
	case errors.Is(err, fs.ErrPermission):
		what = "this user has no permission; correct that, or set CCBOT_DIR to another folder"
	default:
		return err
	}
	detail := err.Error()
	if filepath.Base(path.Path) == probe { // the person does not know the probe file
		detail = path.Err.Error()
	}
	return &folderError{fmt.Sprintf("ccbot's folder %s cannot be used: %s; the saved data stays: %s", dir, what, detail), err}
}

// folderError is the complete sentence. It is a separate type so that none of the several places
// that an error of the folder passes puts the sentence around it again.
type folderError struct {
	text  string
	cause error
}

func (e *folderError) Error() string { return e.text }

// Unwrap returns the cause, and at the socket a refusal: the sentence is for the caller.
func (e *folderError) Unwrap() []error {
	return []error{e.cause, control.Refuse(control.CodeRefused, e.text)}
}

func within(dir, path string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// touch sets a file's time and makes the file if it is missing. Setting it works on a full disk.
func touch(path string, at time.Time) error {
	err := disk.Chtimes(path, at, at)
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	f, err := disk.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), disk.Chtimes(path, at, at))
}
