// Package disk makes calls on files of ccbot's own folder, so that a test can make each of them
// fail.
//
// It promises that a call does what the function of package os with the same name does, unless Fail
// is in force: then the call fails before it reaches the system, with the error that Fail's
// function returns. Guard's function is called before each call that changes something.
//
// It knows no folder and no file, and tries nothing again.
package disk

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/google/renameio/v2"
)

// failing is nil in every program that people run: only tests, and the program that is built for
// faults, set it.
var failing atomic.Pointer[func(op, path string) error]

// refusing is nil in a program that holds no folder.
var refusing atomic.Pointer[func(path string) error]

// Guard makes each call that would change path ask refuse first, until end is called. If refuse
// returns an error, the call returns it and does not reach the system. A later Guard replaces an
// earlier one.
func Guard(refuse func(path string) error) (end func()) {
	refusing.Store(&refuse)
	return func() { refusing.CompareAndSwap(&refuse, nil) }
}

// Fail makes calls fail until end is called: fail returns the error of one call, nil for a call
// that reaches the system. op is the name of the call in lower case, such as "rename".
func Fail(fail func(op, path string) error) (end func()) {
	failing.Store(&fail)
	return func() { failing.Store(nil) }
}

// check returns the error with which a call has to fail.
func check(op, path string) error {
	fail := failing.Load()
	if fail == nil {
		return nil
	}
	if err := (*fail)(op, path); err != nil {
		return &fs.PathError{Op: op, Path: path, Err: err}
	}
	return nil
}

// checkChange is check for a call that changes path.
func checkChange(op, path string) error {
	if refuse := refusing.Load(); refuse != nil {
		if err := (*refuse)(path); err != nil {
			return &fs.PathError{Op: op, Path: path, Err: err}
		}
	}
	return check(op, path)
}

// ReadDir is os.ReadDir.
func ReadDir(path string) ([]fs.DirEntry, error) {
	if err := check("readdir", path); err != nil {
		return nil, err
	}
	return os.ReadDir(path)
}

// ReadFile is os.ReadFile.
func ReadFile(path string) ([]byte, error) {
	return Read(path, func() ([]byte, error) { return os.ReadFile(path) })
}

// WalkDir is filepath.WalkDir. A fault fails the walk, not a call in it.
func WalkDir(path string, each fs.WalkDirFunc) error {
	if err := check("walkdir", path); err != nil {
		return each(path, nil, err)
	}
	return filepath.WalkDir(path, each)
}

// Stat is os.Stat.
func Stat(path string) (fs.FileInfo, error) {
	if err := check("stat", path); err != nil {
		return nil, err
	}
	return os.Stat(path)
}

// Lstat is os.Lstat.
func Lstat(path string) (fs.FileInfo, error) {
	if err := check("lstat", path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// Remove is os.Remove.
func Remove(path string) error {
	if err := checkChange("remove", path); err != nil {
		return err
	}
	return os.Remove(path)
}

// RemoveAll is os.RemoveAll.
func RemoveAll(path string) error {
	if err := checkChange("removeall", path); err != nil {
		return err
	}
	return os.RemoveAll(path)
}

// Rename is os.Rename.
func Rename(from, to string) error {
	if err := checkChange("rename", from); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// MkdirAll is os.MkdirAll.
func MkdirAll(path string, mode fs.FileMode) error {
	if err := checkChange("mkdirall", path); err != nil {
		return err
	}
	return os.MkdirAll(path, mode)
}

// WriteFile is os.WriteFile.
func WriteFile(path string, data []byte, mode fs.FileMode) error {
	if err := checkChange("writefile", path); err != nil {
		return err
	}
	return os.WriteFile(path, data, mode)
}

// OpenFile is os.OpenFile for a file that will be changed; Open is for reading.
func OpenFile(path string, flag int, mode fs.FileMode) (*os.File, error) {
	if err := checkChange("openfile", path); err != nil {
		return nil, err
	}
	return os.OpenFile(path, flag, mode)
}

// CreateTemp is os.CreateTemp.
func CreateTemp(dir, pattern string) (*os.File, error) {
	if err := checkChange("createtemp", dir); err != nil {
		return nil, err
	}
	return os.CreateTemp(dir, pattern)
}

// Truncate is os.Truncate.
func Truncate(path string, size int64) error {
	if err := checkChange("truncate", path); err != nil {
		return err
	}
	return os.Truncate(path, size)
}

// Open is os.Open.
func Open(path string) (*os.File, error) {
	if err := check("open", path); err != nil {
		return nil, err
	}
	return os.Open(path)
}

// Sync is the method Sync of a file or folder.
func Sync(file *os.File) error {
	if err := check("sync", file.Name()); err != nil {
		return err
	}
	return file.Sync()
}

// Chtimes is os.Chtimes.
func Chtimes(path string, accessed, modified time.Time) error {
	if err := checkChange("chtimes", path); err != nil {
		return err
	}
	return os.Chtimes(path, accessed, modified)
}

// Read is read, a function that reads the file at path.
func Read(path string, read func() ([]byte, error)) ([]byte, error) {
	if err := check("read", path); err != nil {
		return nil, err
	}
	return read()
}

// Replace writes a file as a whole: with a temporary file in temp, which is on the same file
// system, and a rename.
func Replace(path, temp string, data []byte, mode fs.FileMode) error {
	if err := checkChange("create", path); err != nil {
		return err
	}
	pending, err := renameio.NewPendingFile(path, renameio.WithTempDir(temp), renameio.WithPermissions(mode))
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }() // after a successful replace this does nothing
	if err := check("write", path); err != nil {
		return err
	}
	if _, err := pending.Write(data); err != nil {
		return err
	}
	if err := checkChange("replace", path); err != nil {
		return err
	}
	return pending.CloseAtomicallyReplace()
}
