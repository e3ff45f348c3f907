package upgrade

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
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
		found, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil {
			return err
		}
		for _, file := range found {
			if !strings.HasPrefix(filepath.Base(file), ".") { // a write that was cut short
				files = append(files, file)
			}
		}
	}
	copied, err := keep(dir, from, files)
	if err != nil {
		return fmt.Errorf("copy the files of version %d: %w", from, err)
	}
	changed := 0
	for _, file := range files {
		is, err := s.apply(dir, file, log)
		if err != nil {
			return fmt.Errorf("bring %s to version %d: %w", file, from+1, err)
		}
		if is {
			changed++
		}
	}
	log.Info("folder_upgraded", logkey.Version, from+1, logkey.Count, changed, logkey.Backup, copied)
	return nil
}

// apply changes one file and keeps its time, which may say when a session was removed.
func (s step) apply(dir, file string, log *slog.Logger) (changed bool, err error) {
	folder, name := folderOf(file), filepath.Base(file)
	data, err := folder.Read(name)
	if isLeft(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	info, err := disk.Stat(file)
	if err != nil {
		return false, err
	}
	within, err := filepath.Rel(dir, file)
	if err != nil {
		return false, err
	}
	next, err := s.change(filepath.ToSlash(within), data)
	if err != nil {
		log.Warn("file_not_upgraded", logkey.File, within, logkey.Error, err)
		return false, nil
	}
	if bytes.Equal(next, data) {
		return false, nil
	}
	if err := folder.Put(name, next); err != nil {
		return false, err
	}
	return true, disk.Chtimes(file, info.ModTime(), info.ModTime())
}

// keep copies files to a folder, and returns its path. A folder that is there is whole: it is moved
// to its place after the last file.
func keep(dir string, from int, files []string) (string, error) {
	to := recovery.UpgradeCopy(dir, from)
	if _, err := disk.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return to, err
	}
	parent := spool.Folder{Path: filepath.Dir(to), Fsync: true}
	part := filepath.Join(parent.Path, "."+filepath.Base(to))
	if err := disk.RemoveAll(part); err != nil {
		return "", err
	}
	if err := disk.MkdirAll(part, 0o700); err != nil {
		return "", err
	}
	for _, file := range files {
		data, err := folderOf(file).Read(filepath.Base(file))
		if isLeft(err) {
			continue
		}
		if err != nil {
			return "", err
		}
		within, err := filepath.Rel(dir, file)
		if err != nil {
			return "", err
		}
		if err := folderOf(filepath.Join(part, within)).Put(filepath.Base(file), data); err != nil {
			return "", err
		}
	}
	if err := disk.Rename(part, to); err != nil {
		return "", err
	}
	return to, parent.Sync()
}

func folderOf(file string) spool.Folder {
	return spool.Folder{Path: filepath.Dir(file), MaxSize: maxFile, Fsync: true}
}

// isLeft reports whether a file is nothing that ccbot has written: a link, a folder, or another
// user's.
func isLeft(err error) bool {
	return errors.Is(err, ownfile.ErrForeign) || errors.Is(err, ownfile.ErrTooBig) || errors.Is(err, os.ErrNotExist)
}
