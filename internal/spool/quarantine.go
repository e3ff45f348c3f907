package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"ccbot/internal/clip"
	"ccbot/internal/disk"
)

// ReasonSuffix is added to the name of a file in quarantine; the file with the resulting name
// contains the reason.
const ReasonSuffix = ".reason"

// unreportedSuffix is added to the name for an empty file that marks an item as unreported.
const unreportedSuffix = ".untold"

// maxName limits the name of an item in quarantine, in bytes: the number and the suffixes must fit
// into a file name too.
const maxName = 200

// maxQuarantined limits the search for a free name among items that had the same name.
const maxQuarantined = 10000

// Quarantine moves an item to dir (on the same file system; made when missing), as <folder>-<name>,
// and writes the reason to a file next to it. It replaces nothing in dir. The item is moved without
// being opened: a link stays a link. A missing item is not an error.
func (f Folder) Quarantine(name, dir, reason string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := f.quarantine(name, dir, reason, false); err != nil {
		return fmt.Errorf("spool: quarantine %s: %w", name, err)
	}
	return nil
}

func (f Folder) quarantine(name, dir, reason string, tell bool) error {
	source := filepath.Join(f.Path, name)
	if _, err := disk.Lstat(source); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	if err := disk.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	target, err := reserve(filepath.Join(dir, clip.Bytes(filepath.Base(f.Path)+"-"+name, maxName, "")), reason)
	if err != nil {
		return err
	}
	// Before the move: a crash in between may leave a mark without an item, never an item without a
	// mark.
	if tell {
		err = disk.WriteFile(target+unreportedSuffix, nil, 0o600)
	}
	if err == nil {
		err = disk.Rename(source, target)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(err, disk.Remove(target+ReasonSuffix), MarkReported(dir, filepath.Base(target)))
	}
	if !f.Fsync {
		return nil
	}
	// Sync the new name first: after a power cut the item may be in both folders, never in none.
	return errors.Join(SyncFolder(disk.Open(dir)), SyncFolder(disk.Open(f.Path)))
}

// reserve finds a name for which neither the item nor its reason file exists. The reason file is
// made exclusively, so it reserves the name against another quarantine at the same time.
func reserve(path, reason string) (string, error) {
	for n := range maxQuarantined {
		target := path
		if n > 0 {
			target = path + "." + strconv.Itoa(n)
		}
		if _, err := disk.Lstat(target); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) { // an item may be there
			return "", err
		}
		file, err := disk.OpenFile(target+ReasonSuffix, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		// on a full disk it stays empty: that is no reason to leave the item where it blocks the
		// queue
		if err == nil {
			_, _ = file.WriteString(reason + "\n")
			_ = file.Close()
		}
		if !errors.Is(err, fs.ErrExist) {
			return target, err
		}
	}
	return "", fmt.Errorf("%s: %w", path, fs.ErrExist)
}

// Unreported returns the names of the items that Loaders with Report have moved to dir and that are
// not marked as reported. It returns none if dir is missing.
func Unreported(dir string) (names []string, err error) {
	all, err := Folder{Path: dir}.List()
	for _, mark := range all {
		name, ok := strings.CutSuffix(mark, unreportedSuffix)
		if !ok {
			continue
		}
		if _, err := disk.Lstat(filepath.Join(dir, name)); err == nil {
			names = append(names, name)
		}
	}
	return names, err
}

// MarkReported marks the named items as reported; Unreported no longer returns them.
func MarkReported(dir string, names ...string) error {
	var errs []error
	for _, name := range names {
		errs = append(errs, Folder{Path: dir}.Remove(name+unreportedSuffix))
	}
	return errors.Join(errs...)
}
