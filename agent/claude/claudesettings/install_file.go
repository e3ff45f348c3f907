package claudesettings

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"ccbot/internal/ownfile"
)

// Errors of SettingsFile, matched with errors.Is. With any of them nothing was changed.
var (
	errSettingsBusy = errors.New("another program is changing the file; try again")
	// The wrapping error describes the file.
	errSettingsForeign = errors.New("not a file that ccbot edits")
)

// settingsName is the name of the file that Claude Code reads in its configuration folder.
const settingsName = "settings.json"

const (
	maxSettings = 16 << 20
	editTries   = 5
	maxLinks    = 40 // as many as Linux follows
)

// SettingsFile is a person's settings file of Claude Code.
type SettingsFile struct {
	Path string // absolute; a link is followed and stays a link
	Now  func() time.Time

	interfere func() // for tests: changes the file right before the last check
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
// file is made. A backup next to Path keeps the previous bytes, and its name is returned; if there
// was no file, an empty backup notes that, and no name is returned. No new backup is made if an
// earlier one holds every byte of the file that is not ours. When edit changes nothing, nothing is
// written. edit is called again when another program has written the file in between.
func (s SettingsFile) Edit(edit func([]byte) ([]byte, error)) (backup string, err error) {
	err = s.retry(func(target string, old snapshot) error {
		backup, err = s.editOnce(target, old, edit)
		return err
	})
	if err != nil {
		return "", err
	}
	return backup, nil
}

// retry calls try with the file's state, and again when another program has written the file.
func (s SettingsFile) retry(try func(target string, old snapshot) error) (err error) {
	for range editTries {
		if err = s.once(try); !errors.Is(err, errSettingsBusy) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("edit %s: %w", s.Path, err)
	}
	return nil
}

func (s SettingsFile) once(try func(target string, old snapshot) error) error {
	target, err := followLinks(s.Path)
	if err != nil {
		return nameless(err)
	}
	old, err := takeSnapshot(target)
	if err != nil {
		return err
	}
	return try(target, old)
}

func (s SettingsFile) editOnce(target string, old snapshot, edit func([]byte) ([]byte, error)) (string, error) {
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
	earlier, known := s.earlier()
	made := ""
	if !known || !old.exists || !isInstalled(earlier.data, old.data) {
		if earlier, err = s.backup(old); err != nil {
			return "", fmt.Errorf("backup: %w", err)
		}
		made = earlier.path
	}
	if err := s.replace(target, old, data, false); err != nil {
		if made != "" {
			err = errors.Join(err, os.Remove(made))
		}
		return "", err
	}
	if earlier.absent {
		return "", nil
	}
	return earlier.path, nil
}

// Uninstalled is the result of Uninstall.
type Uninstalled struct {
	Changes []Change
	Kept    []string // backups that still hold bytes of a person which the file does not have
}

// Uninstall removes our hooks from the file. If the file was not edited since the install, it is as
// it was before, or gone if there was none; a file that was there before is never removed.
// Otherwise see the function Uninstall. A backup goes only after the result was read back from a
// synced file, and only if its bytes are in the file or it holds nothing but our hooks.
func (s SettingsFile) Uninstall() (done Uninstalled, err error) {
	err = s.retry(func(target string, old snapshot) error {
		done, err = s.uninstallOnce(target, old)
		return err
	})
	return done, err
}

func (s SettingsFile) uninstallOnce(target string, old snapshot) (done Uninstalled, err error) {
	earlier, known := s.earlier()
	var before []byte
	if known {
		before = append([]byte{}, earlier.data...) // not nil, which means unknown
	}
	data, changes, err := Uninstall(old.data, before)
	if err != nil {
		return done, err
	}
	done.Changes = changes
	result := snapshot{exists: old.exists, data: data}
	if len(changes) > 0 {
		if err := old.writable(); err != nil {
			return done, err
		}
		result.exists = !earlier.absent || !isInstalled(nil, old.data)
		if err := s.replace(target, old, data, !result.exists); err != nil {
			return done, err
		}
	}
	done.Kept = s.prune(result, before, isOnDisk(target, result))
	return done, nil
}

// isOnDisk reports whether the file is synced, and has this content when it is read back.
func isOnDisk(target string, want snapshot) bool {
	for _, path := range []string{target, filepath.Dir(target)} {
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) && path == target && !want.exists {
			continue
		}
		if err != nil {
			return false
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return false
		}
	}
	now, err := takeSnapshot(target)
	return err == nil && now.exists == want.exists && (!want.exists || bytes.Equal(now.data, want.data))
}

// replace writes data, or removes the file, unless the file has changed since old was read. A
// writer is overwritten only when it writes between the last check and the rename right after it;
// this gap stays, because there is no lock that Claude Code or an editor would take. The new name
// is not synced: after a power cut the file is completely the old or completely the new one.
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

// oddity returns the kind of a file that cannot be a settings file; "" means that it can be one.
func oddity(info fs.FileInfo) string {
	switch mode := info.Mode(); {
	case mode.IsDir():
		return "a directory"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case !mode.IsRegular():
		return "a device"
	case info.Size() > maxSettings:
		return fmt.Sprintf("larger than %d MiB", maxSettings>>20)
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
