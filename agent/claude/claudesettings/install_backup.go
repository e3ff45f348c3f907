package claudesettings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
)

// A backup is a copy of the settings file from before an edit. Its name sorts by time. If there was
// no file, the backup is empty and its name ends in backupAbsent.
type backup struct {
	path   string
	absent bool
	data   []byte
}

const (
	backupPrefix = settingsName + ".ccbot-"
	backupTime   = "20060102T150405.000Z"
	backupAbsent = "-absent"
)

var backupForm = lazyregexp.New(`^settings\.json\.ccbot-\d{8}T\d{6}\.\d{3}Z(-absent)?$`)

// backup keeps the bytes under a name that sorts after all other backups, even when the clock was
// set back.
func (s SettingsFile) backup(old snapshot) (backup, error) {
	at := s.Now().UTC()
	for _, name := range s.backupNames() {
		t, err := time.Parse(backupPrefix+backupTime, strings.TrimSuffix(name, backupAbsent))
		if err == nil && !at.Truncate(time.Millisecond).After(t) {
			at = t.Add(time.Millisecond)
		}
	}
	made := backup{absent: !old.exists, data: old.data}
	made.path = filepath.Join(filepath.Dir(s.Path), backupPrefix+at.Format(backupTime))
	if made.absent {
		made.path += backupAbsent
	}
	f, err := os.OpenFile(made.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return backup{}, errSettingsBusy
	}
	if err != nil {
		return backup{}, err
	}
	_, err = f.Write(old.data)
	if err = errors.Join(err, f.Chmod(old.mode), f.Sync(), f.Close()); err != nil {
		return backup{}, errors.Join(err, os.Remove(made.path))
	}
	return made, nil
}

// backups are our backups that can be read, oldest first.
func (s SettingsFile) backups() (all []backup) {
	for _, name := range s.backupNames() {
		b := backup{path: filepath.Join(filepath.Dir(s.Path), name), absent: strings.HasSuffix(name, backupAbsent)}
		data, err := ownfile.Read(b.path, maxSettings, 0)
		if err != nil {
			continue
		}
		b.data = data
		all = append(all, b)
	}
	return all
}

// earlier returns the newest backup without ccbot's hooks: the file before the install.
func (s SettingsFile) earlier() (found backup, ok bool) {
	for _, b := range s.backups() {
		if !hasOurs(b.data) {
			found, ok = b, true
		}
	}
	return found, ok
}

// prune removes the backups that hold no byte of a person which the file does not have, if synced,
// and returns those that stay. before is the file before the install.
func (s SettingsFile) prune(file snapshot, before []byte, synced bool) (kept []string) {
	needless := make(map[string]bool)
	for _, b := range s.backups() {
		needless[b.path] = synced && b.isNeedless(file, before)
	}
	for _, name := range s.backupNames() {
		path := filepath.Join(filepath.Dir(s.Path), name)
		if !needless[path] || os.Remove(path) != nil {
			kept = append(kept, path)
		}
	}
	return kept
}

func (b backup) isNeedless(file snapshot, before []byte) bool {
	if len(b.data) == 0 || file.exists && bytes.Equal(b.data, file.data) {
		return true
	}
	if without, _, err := Uninstall(b.data, before); err == nil && file.exists && bytes.Equal(without, file.data) {
		return true
	}
	without, _, err := Uninstall(b.data, nil)
	return err == nil && isEmptyDocument(without)
}

// isEmptyDocument reports whether the bytes are blank, or an empty object.
func isEmptyDocument(data []byte) bool {
	text := strings.Join(strings.Fields(strings.TrimPrefix(string(data), byteOrderMark)), "")
	return text == "" || text == "{}"
}

// backupNames are the names of our backups, oldest first; none when the folder cannot be read.
func (s SettingsFile) backupNames() (names []string) {
	entries, _ := os.ReadDir(filepath.Dir(s.Path)) // sorted by name
	for _, e := range entries {
		if e.Type().IsRegular() && backupForm.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}
