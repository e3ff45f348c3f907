package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"strings"

	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/spool"
	"ccbot/recovery"
)

const (
	// Oldest is the oldest version of the folder from which the steps lead to Version.
	Oldest = 2
	// Version is the version of the folder that this program reads and writes.
	Version = 3
)

// step leads from a version to the next one.
type step struct {
	files  []string // patterns of the files that it may change
	change func(file string, data []byte) ([]byte, error)
}

// steps has each step at the version from which it leads.
var steps = map[int]step{
	2: {renamedFiles, rename},
}

// maxFile is the size of the largest file: a backup of all records.
const maxFile = 1 << 30

// Step brings the folder from a version to the next one. It is called again after an error or a
// crash. The caller holds the folder's lock, and writes the version afterwards.
func Step(dir string, from int, log *slog.Logger) error {
	s := steps[from]
	var files []string
	for _, pattern := range s.files {
		found, err := fs.Glob(os.DirFS(dir), pattern) // the folder's own name may have signs of a pattern
		if err != nil {
			return err
		}
		for _, file := range found {
			if !strings.HasPrefix(path.Base(file), ".") { // a write that was cut short
				files = append(files, filepath.FromSlash(file))
			}
		}
	}
	kept := recovery.UpgradeCopy(dir, from)
	begun := kept + "-unfinished"
	if err := keep(dir, begun, files); err != nil {
		return fmt.Errorf("copy the files of version %d: %w", from, err)
	}
	changed := 0
	for _, file := range files {
		is, err := s.apply(dir, begun, file, log)
		if err != nil {
			return fmt.Errorf("bring %s to version %d: %w", file, from+1, err)
		}
		if is {
			changed++
		}
	}
	if err := finish(begun, kept, changed > 0); err != nil {
		return fmt.Errorf("keep the files of version %d: %w", from, err)
	}
	log.Info("folder_upgraded", logkey.Version, from+1, logkey.Count, changed, logkey.Backup, kept)
	return nil
}

// apply changes one file and keeps the time of its copy, which may say when a session was removed.
// It reports whether the file differs from its copy.
func (s step) apply(dir, copies, file string, log *slog.Logger) (changed bool, err error) {
	to, name := folderOf(filepath.Join(dir, file)), filepath.Base(file)
	data, err := to.Read(name)
	if isLeft(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	was, err := folderOf(filepath.Join(copies, file)).Read(name)
	if isLeft(err) { // it was no file of ccbot's when the copy was made
		return false, nil
	}
	if err != nil {
		return false, err
	}
	next, err := s.change(filepath.ToSlash(file), data)
	if err != nil {
		log.Warn("file_not_upgraded", logkey.File, file, logkey.Error, err)
		return false, nil
	}
	if bytes.Equal(next, was) {
		return false, nil
	}
	if !bytes.Equal(next, data) {
		if err := to.Put(name, next); err != nil {
			return false, err
		}
	}
	return true, sameTime(filepath.Join(copies, file), filepath.Join(dir, file))
}

// sameTime gives a file the time of another one.
func sameTime(from, to string) error {
	info, err := disk.Stat(from)
	if err != nil {
		return err
	}
	return disk.Chtimes(to, info.ModTime(), info.ModTime())
}

// keep copies files to a folder. A folder that is there is whole, and of the same upgrade, which was cut short: it is moved to its
// place after the last file, and away at the end.
func keep(dir, to string, files []string) error {
	if _, err := disk.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	parent := spool.Folder{Path: filepath.Dir(to), Fsync: true}
	part := filepath.Join(parent.Path, "."+filepath.Base(to))
	if err := disk.RemoveAll(part); err != nil {
		return err
	}
	if err := disk.MkdirAll(part, 0o700); err != nil {
		return err
	}
	for _, file := range files {
		from, copied := filepath.Join(dir, file), filepath.Join(part, file)
		data, err := folderOf(from).Read(filepath.Base(file))
		if isLeft(err) {
			continue
		}
		if err == nil {
			err = folderOf(copied).Put(filepath.Base(file), data)
		}
		if err == nil {
			err = sameTime(from, copied)
		}
		if err != nil {
			return err
		}
	}
	if err := disk.Rename(part, to); err != nil {
		return err
	}
	return parent.Sync()
}

// finish moves the copies in the place of those of an earlier upgrade. If no file differs from its copy, this upgrade was done before,
// and only the version was not written: then the earlier copies stay.
func finish(begun, kept string, changed bool) error {
	if !changed {
		return disk.RemoveAll(begun)
	}
	if err := disk.RemoveAll(kept); err != nil {
		return err
	}
	if err := disk.Rename(begun, kept); err != nil {
		return err
	}
	return spool.Folder{Path: filepath.Dir(kept), Fsync: true}.Sync()
}

func folderOf(file string) spool.Folder {
	return spool.Folder{Path: filepath.Dir(file), MaxSize: maxFile, Fsync: true}
}

// isLeft reports whether a file is nothing that ccbot has written: a link, a folder, or another
// user's.
func isLeft(err error) bool {
	return errors.Is(err, ownfile.ErrForeign) || errors.Is(err, ownfile.ErrTooBig) || errors.Is(err, os.ErrNotExist)
}
