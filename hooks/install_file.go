package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"ccbot/internal/bytesize"
	"ccbot/internal/ownfile"
)

// Errors of SettingsFile, matched with errors.Is. With any of them nothing was changed.
var (
	errSettingsBusy = errors.New("somebody else is changing the file; try again")
	// The error that wraps it says what the file is.
	errSettingsForeign = errors.New("not a file that ccbot edits")
)

// settingsName is the name of the file that Claude Code reads in its configuration folder.
const settingsName = "settings.json"

const (
	maxSettings = 16 << 20
	keptBackups = 5
	editTries   = 5
	maxLinks    = 40 // as many as Linux follows
)

// SettingsFile is a person's settings file of Claude Code.
type SettingsFile struct {
	Path string // absolute; a link is followed and stays a link
	Now  func() time.Time

	interfere func() // for tests: changes the file right before the last look
}

// SettingsIn is the settings file in a configuration folder of Claude Code.
func SettingsIn(configDir string) SettingsFile {
	return SettingsFile{Path: filepath.Join(configDir, settingsName), Now: time.Now}
}

// Read returns the file's bytes, none when there is no file.
func (s SettingsFile) Read() ([]byte, error) {
	now, err := takeSnapshot(s.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Path, err)
	}
	return now.data, nil
}

// Writable returns the reason for which Edit would refuse to write the file (errSettingsForeign). A
// folder in which no file can be made is found out by Edit only.
func (s SettingsFile) Writable() error {
	now, err := takeSnapshot(s.Path)
	if err == nil {
		err = now.writable()
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", s.Path, err)
	}
	return nil
}

// Edit replaces the file's bytes with those that edit returns, completely or not at all. A missing
// file is made. The previous bytes are kept in a backup beside Path, and the backup's name is
// returned; when edit changes nothing, nothing is written and no backup is made. What an earlier edit
// has kept and this one brings back needs no backup any more, and a file that was made for an earlier
// edit goes when nothing is left in it. edit is called again when another program has written the
// file in between.
func (s SettingsFile) Edit(edit func([]byte) ([]byte, error)) (backup string, err error) {
	for range editTries {
		backup, err = s.editOnce(edit)
		if !errors.Is(err, errSettingsBusy) {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("edit %s: %w", s.Path, err)
	}
	return backup, nil
}

func (s SettingsFile) editOnce(edit func([]byte) ([]byte, error)) (backup string, err error) {
	target, err := followLinks(s.Path)
	if err != nil {
		return "", nameless(err)
	}
	old, err := takeSnapshot(target)
	if err != nil {
		return "", err
	}
	data, err := edit(old.data)
	if err != nil || bytes.Equal(data, old.data) {
		return "", err
	}
	if err := old.writable(); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return "", err
	}
	undone, before := s.keeping(data)
	gone := len(undone) == 0 && saysNothing(data) && target == s.Path // no backup says that there was a file before
	if len(undone) > 0 {
		data = before
	} else if old.exists && !gone {
		if backup, err = s.backup(old); err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
	}
	if err := s.replace(target, old, data, gone); err != nil {
		if backup != "" {
			err = errors.Join(err, os.Remove(backup))
		}
		return "", err
	}
	s.prune(undone)
	return backup, nil
}

// replace writes data, or removes the file, unless the file has changed since old was read. A writer
// is overwritten only when it writes between that last look and the rename right after it; this gap
// stays, because there is no lock that Claude Code or an editor would take. The new name is not
// synced: after a power cut the file is completely the old or completely the new one.
func (s SettingsFile) replace(target string, old snapshot, data []byte, remove bool) error {
	effect := func() error { return os.Remove(target) }
	if !remove {
		pending, err := renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
			renameio.WithStaticPermissions(old.mode))
		if err != nil {
			return err
		}
		defer func() { _ = pending.Cleanup() }() // after a successful replace this does nothing
		if _, err := pending.Write(data); err != nil {
			return err
		}
		effect = pending.CloseAtomicallyReplace
	}
	if s.interfere != nil {
		s.interfere()
	}
	again, err := followLinks(s.Path)
	if err != nil {
		return err
	}
	now, err := takeSnapshot(again)
	if err != nil {
		return err
	}
	if again != target || !now.same(old) {
		return errSettingsBusy
	}
	return effect()
}

// snapshot is the state of the file at one moment.
type snapshot struct {
	exists bool
	data   []byte
	mode   fs.FileMode // for a missing file: the mode to make it with
	owner  int
}

func takeSnapshot(path string) (snapshot, error) {
	missing := snapshot{mode: 0o600, owner: os.Geteuid()}
	// Without O_NONBLOCK, opening a pipe would block.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	}
	if err != nil {
		return snapshot{}, nameless(err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return snapshot{}, nameless(err)
	}
	if what := oddity(info); what != "" {
		return snapshot{}, fmt.Errorf("%w: it is %s", errSettingsForeign, what)
	}
	s := snapshot{exists: true, mode: info.Mode().Perm(), owner: ownfile.Owner(info)}
	s.data, err = io.ReadAll(io.LimitReader(f, maxSettings))
	return s, err
}

// nameless removes the path from an error, because the caller's error already has it.
func nameless(err error) error {
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		return named.Err
	}
	return err
}

// oddity says what the file is if it cannot be a settings file; "" means that it can be one.
func oddity(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case !mode.IsRegular():
		return "a device"
	case info.Size() > maxSettings:
		return "larger than " + bytesize.Text(maxSettings)
	}
	return ""
}

func (s snapshot) same(as snapshot) bool {
	return s.exists == as.exists && s.mode == as.mode && s.owner == as.owner && bytes.Equal(s.data, as.data)
}

// writable refuses two files that a rename could replace nevertheless: a file that is marked
// read-only is meant to stay, and a file of another user (sudo) would change its owner.
func (s snapshot) writable() error {
	switch {
	case s.mode&0o200 == 0:
		return fmt.Errorf("%w: it is read-only", errSettingsForeign)
	case s.owner != os.Geteuid():
		return fmt.Errorf("%w: it belongs to another user", errSettingsForeign)
	}
	return nil
}

// followLinks returns the file at the end of a chain of links; that file need not exist.
func followLinks(path string) (string, error) {
	for range maxLinks {
		path = strings.TrimRight(path, "/")
		// A ".." in a link goes up from the real place of the folder, so the folder is resolved
		// before the names are joined.
		folder, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			path = filepath.Join(real, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		next, err := os.Readlink(path)
		// Not there, or no link.
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) {
			return filepath.Clean(path), nil
		}
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(next) {
			next = filepath.Dir(path) + "/" + next
		}
		path = next
	}
	return "", syscall.ELOOP
}

const (
	backupPrefix = settingsName + ".ccbot-"
	backupTime   = "20060102T150405.000Z"
)

var backupForm = regexp.MustCompile(`^settings\.json\.ccbot-\d{8}T\d{6}\.\d{3}Z$`)

// backup keeps the bytes under a name that sorts behind all other backups, even when the clock was
// set back: names sort by time.
func (s SettingsFile) backup(old snapshot) (string, error) {
	at := s.Now().UTC()
	for _, name := range s.backups() {
		t, err := time.Parse(backupPrefix+backupTime, name)
		if err == nil && !at.Truncate(time.Millisecond).After(t) {
			at = t.Add(time.Millisecond)
		}
	}
	name := filepath.Join(filepath.Dir(s.Path), backupPrefix+at.Format(backupTime))
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", errSettingsBusy
	}
	if err != nil {
		return "", err
	}
	_, err = f.Write(old.data)
	if err = errors.Join(err, f.Chmod(old.mode), f.Sync(), f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(name))
	}
	return name, nil
}

// prune removes backups that nobody needs any more, and keeps the newest of the others. A backup that
// cannot be removed does no harm, and is no reason to report a successful edit as failed.
func (s SettingsFile) prune(needless []string) {
	for _, name := range needless {
		_ = os.Remove(filepath.Join(filepath.Dir(s.Path), name))
	}
	ours := s.backups()
	for _, name := range ours[:max(0, len(ours)-keptBackups)] {
		_ = os.Remove(filepath.Join(filepath.Dir(s.Path), name))
	}
}

// keeping are the names of our backups that hold data, and the bytes of the newest: where data says
// nothing, they may say nothing in other bytes.
func (s SettingsFile) keeping(data []byte) (names []string, before []byte) {
	for _, name := range s.backups() {
		kept, err := ownfile.Read(filepath.Join(filepath.Dir(s.Path), name), maxSettings, 0)
		if err == nil && (bytes.Equal(kept, data) || saysNothing(kept) && saysNothing(data)) {
			names, before = append(names, name), kept
		}
	}
	return names, before
}

// saysNothing reports whether the bytes are blank, or an empty object.
func saysNothing(data []byte) bool {
	text := strings.Join(strings.Fields(string(data)), "")
	return text == "" || text == "{}"
}

// backups are the names of our backups, oldest first; none when the folder cannot be read.
func (s SettingsFile) backups() []string {
	entries, _ := os.ReadDir(filepath.Dir(s.Path)) // sorted by name
	var names []string
	for _, e := range entries {
		if e.Type().IsRegular() && backupForm.MatchString(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}
