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

	"ccbot/internal/ownfile"
)

// Sentinels of SettingsFile. Nothing was changed then.
var (
	errSettingsBusy    = errors.New("somebody else is changing the file; try again")
	errSettingsForeign = errors.New("not a file that ccbot edits") // what it is follows
)

// settingsName is the file that Claude Code reads in its configuration folder.
const settingsName = "settings.json"

const (
	maxSettings = 16 << 20
	keptBackups = 5
	editTries   = 5
	maxLinks    = 40 // as many as Linux follows
)

// SettingsFile is a person's settings of Claude Code.
type SettingsFile struct {
	Path string // absolute; may be a link, which is followed and stays
	Now  func() time.Time

	interfere func() // a test changes the file right before the last look
}

// SettingsIn is the settings file of a configuration folder of Claude Code.
func SettingsIn(configDir string) SettingsFile {
	return SettingsFile{Path: filepath.Join(configDir, settingsName), Now: time.Now}
}

// Read gives the file's bytes, none when there is no file.
func (s SettingsFile) Read() ([]byte, error) {
	now, err := takeSnapshot(s.Path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", s.Path, err)
	}
	return now.data, nil
}

// Writable says why Edit would not write the file; errSettingsForeign. A folder that takes no file shows only then.
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

// Edit replaces the file's bytes with those that edit makes of them, whole or not at all. A missing file is made. The
// bytes that were there are kept in a backup beside Path, whose name is given; the same bytes are not written and need
// none. edit is asked again when somebody else has written in the meantime.
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
	if old.exists {
		if backup, err = s.backup(old); err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
	}
	if err := s.replace(target, old, data); err != nil {
		if backup != "" {
			err = errors.Join(err, os.Remove(backup))
		}
		return "", err
	}
	s.prune()
	return backup, nil
}

// replace writes data unless the file is another than old by then. Only a writer that comes between that look and the
// rename right after it is overwritten; there is no lock that Claude Code or an editor would take. The new name is not
// synced: after a power cut either file is whole.
func (s SettingsFile) replace(target string, old snapshot, data []byte) error {
	pending, err := renameio.NewPendingFile(target, renameio.WithTempDir(filepath.Dir(target)),
		renameio.WithStaticPermissions(old.mode))
	if err != nil {
		return err
	}
	defer func() { _ = pending.Cleanup() }() // after a replace it has nothing to do
	if _, err := pending.Write(data); err != nil {
		return err
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
	return pending.CloseAtomicallyReplace()
}

// snapshot is what the file was at one moment.
type snapshot struct {
	exists bool
	data   []byte
	mode   fs.FileMode // of a missing file: the one to make it with
	owner  int
}

func takeSnapshot(path string) (snapshot, error) {
	missing := snapshot{mode: 0o600, owner: os.Geteuid()}
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe would hold the open
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

// nameless is an error of a file without its path, which the caller's has.
func nameless(err error) error {
	if named := (*fs.PathError)(nil); errors.As(err, &named) {
		return named.Err
	}
	return err
}

// oddity says what a file is that is no settings file; "" it may be one.
func oddity(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case !mode.IsRegular():
		return "a device"
	case info.Size() > maxSettings:
		return fmt.Sprintf("larger than %d MB", maxSettings>>20)
	}
	return ""
}

func (s snapshot) same(as snapshot) bool {
	return s.exists == as.exists && s.mode == as.mode && s.owner == as.owner && bytes.Equal(s.data, as.data)
}

// writable refuses what a rename could replace all the same: a file that is marked read-only is meant to stay, and one
// of another user (sudo) would change hands.
func (s snapshot) writable() error {
	switch {
	case s.mode&0o200 == 0:
		return fmt.Errorf("%w: it is read-only", errSettingsForeign)
	case s.owner != os.Geteuid():
		return fmt.Errorf("%w: it belongs to another user", errSettingsForeign)
	}
	return nil
}

// followLinks gives the file at the end of a chain of links, which need not exist.
func followLinks(path string) (string, error) {
	for range maxLinks {
		path = strings.TrimRight(path, "/")
		// A ".." in a link goes up from where the folder really is, so folders are resolved before names are joined.
		folder, name := path[:strings.LastIndexByte(path, '/')+1], path[strings.LastIndexByte(path, '/')+1:]
		if real, err := filepath.EvalSymlinks(folder); err == nil {
			path = filepath.Join(real, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		next, err := os.Readlink(path)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.EINVAL) { // not there, or no link
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

// backup keeps the bytes under a name behind all others, also when the clock was set back: names sort by time.
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

// prune keeps the newest backups of ours. What cannot be removed hurts nobody, and is no reason to report an edit that
// was made as one that was not.
func (s SettingsFile) prune() {
	ours := s.backups()
	for _, name := range ours[:max(0, len(ours)-keptBackups)] {
		_ = os.Remove(filepath.Join(filepath.Dir(s.Path), name))
	}
}

// backups are the names of ours, oldest first; none when the folder cannot be read.
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
