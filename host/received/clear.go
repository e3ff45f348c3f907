package received

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/internal/keepjson"
	"ccbot/internal/spool"
	"ccbot/internal/wording"
)

// Box is the folder of one session's directory.
type Box struct {
	Dir      string   // the session's directory
	Recorded int      // files on record
	Others   []string // everything else in it but its own .gitignore
}

// Boxes looks at the folders of these directories, and of all directories on record in records
// ($CCBOT_DIR/received). A directory in which the folder is missing, or is not ours, has no box. It
// changes nothing.
func Boxes(records string, dirs []string) (all []Box, err error) {
	s := &Store{records: spool.Folder{Path: records}}
	known, err := s.loadAll()
	if err != nil {
		return nil, err
	}
	recorded := make(map[string][]string)
	for _, r := range known {
		recorded[r.Dir] = append(recorded[r.Dir], r.Part, r.Name)
		dirs = append(slices.Clip(dirs), r.Dir)
	}
	dirs = slices.Clone(dirs)
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		b, err := readBox(dir, recorded[dir])
		if isNoBox(err) {
			continue
		}
		if err != nil {
			return nil, wording.Errorf("look into %s: %w", wording.Path(filepath.Join(dir, Folder)), err)
		}
		all = append(all, b)
	}
	return all, nil
}

// isNoBox reports whether an error means that a directory has no Box.
func isNoBox(err error) bool { return errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotOurs) }

// readBox looks at the folder of one directory. Unlike openFolder it changes no permission.
func readBox(dir string, recorded []string) (b Box, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return b, err
	}
	defer root.Close()
	if _, err := statFolder(root); err != nil {
		return b, err
	}
	names, err := namesIn(root, Folder)
	b.Dir = dir
	for _, name := range names {
		switch {
		case slices.Contains(recorded, name):
			b.Recorded++
		case name != ignoreFile || !isIgnoreAll(root, filepath.Join(Folder, name)):
			b.Others = append(b.Others, name)
		}
	}
	return b, err
}

func namesIn(root *os.Root, folder string) ([]string, error) {
	f, err := root.Open(folder)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// isIgnoreAll reports whether a file is the .gitignore that ignore writes.
func isIgnoreAll(root *os.Root, name string) bool {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() != int64(len(ignoreAll)) {
		return false
	}
	data, err := root.ReadFile(name)
	return err == nil && string(data) == ignoreAll
}

// loadAll returns all records that can be read.
func (s *Store) loadAll() (all map[string]record, err error) {
	items, err := s.records.List()
	all = make(map[string]record)
	for _, item := range items {
		key, ok := strings.CutSuffix(item, recordSuffix)
		if !ok {
			continue
		}
		r, err := s.load(key)
		if errors.Is(err, keepjson.ErrNewer) {
			return nil, fmt.Errorf("%s: %w", filepath.Join(s.records.Path, item), err)
		}
		if err == nil {
			all[key] = r
		}
	}
	return all, err
}

// Clear removes all files on record that are unchanged, and the folders of these directories, and
// of those on record, that hold nothing else. It may be called again after a kill at any moment.
func (s *Store) Clear(dirs []string) error {
	known, err := s.loadAll()
	if err != nil {
		return fmt.Errorf("clear: %w", err)
	}
	var errs []error
	dirs = slices.Clone(dirs)
	for key, r := range known {
		dirs = append(dirs, r.Dir)
		if err := s.clear(r, r.Name != ""); err != nil {
			errs = append(errs, fmt.Errorf("clear %s: %w", key, err))
			continue
		}
		errs = append(errs, s.forget(key))
	}
	slices.Sort(dirs)
	for _, dir := range slices.Compact(dirs) {
		if err := removeFolder(dir); err != nil && !isNoBox(err) {
			errs = append(errs, wording.Errorf("remove %s: %w", wording.Path(filepath.Join(dir, Folder)), err))
		}
	}
	return errors.Join(errs...)
}

// removeFolder removes the folder of a directory if it has nothing but its own .gitignore.
func removeFolder(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	named, err := statFolder(root)
	if err != nil {
		return err
	}
	box, err := enter(root, named)
	if err != nil {
		return err
	}
	defer box.Close()
	names, err := namesIn(box, ".")
	if err != nil {
		return err
	}
	if len(names) == 1 && names[0] == ignoreFile && isIgnoreAll(box, ignoreFile) {
		if err := remove(box, ignoreFile); err != nil {
			return err
		}
		names = nil
	}
	if len(names) > 0 {
		return nil
	}
	return root.Remove(Folder) // fails if the folder is not empty
}
