package statefolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/joho/godotenv"
	"golang.org/x/sys/unix"

	"ccbot/internal/control"
	"ccbot/internal/hookwire"
)

// subfolders are the folders that ccbot makes in its folder.
var subfolders = []string{"asks", "backups", "bindings", "cards", "changes", "chats", "codex", "events", "exports", "fleet", "inbox", "launch", "loops", "outbox", "prompts",
	"quarantine", "received", "schedules", "sessions", "status", "usage"}

// SettingsFile is in CCBOT_DIR.
const SettingsFile = "ccbot.env"

// ByteOrderMark begins a text file that some editors write.
const ByteOrderMark = "\ufeff"

// ParseSettings reads the text of SettingsFile.
func ParseSettings(text string) (map[string]string, error) {
	return godotenv.Unmarshal(strings.TrimPrefix(text, ByteOrderMark))
}

// ReadableVariable allows that other users may read SettingsFile. Set in that file itself it has no
// effect.
const ReadableVariable = "CCBOT_ALLOW_READABLE_ENV"

// Unusable returns why run, which uses all parts of a folder, cannot use some.
func Unusable(dir string) (all []error) {
	for _, name := range subfolders {
		path := filepath.Join(dir, name)
		if err := noLink(path); err != nil {
			all = append(all, err)
			continue
		}
		switch info, err := os.Stat(path); {
		case errors.Is(err, fs.ErrNotExist): // it is made
		case err != nil:
			all = append(all, err)
		case !info.IsDir():
			all = append(all, &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR})
		default:
			if err := unix.Access(path, unix.R_OK|unix.W_OK|unix.X_OK); err != nil {
				all = append(all, &fs.PathError{Op: "open", Path: path, Err: err})
			}
		}
	}
	if err := control.Replaceable(filepath.Join(dir, hookwire.SocketName)); err != nil {
		all = append(all, err)
	}
	lock := filepath.Join(dir, lockFile)
	switch info, err := os.Stat(lock); {
	case err != nil: // it is made
	case info.IsDir():
		all = append(all, &fs.PathError{Op: "open", Path: lock, Err: syscall.EISDIR})
	default:
		if err := unix.Access(lock, unix.R_OK|unix.W_OK); err != nil {
			all = append(all, &fs.PathError{Op: "open", Path: lock, Err: err})
		}
	}
	return all
}
