package transcript

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf16"

	"github.com/google/uuid"
)

// Find returns the transcript of a session below projectsDir (<config>/projects): that of the newest
// change when several folders hold one, which happens after a session was moved by hand. None is
// fs.ErrNotExist; a folder that cannot be read is another error. The folder cannot be told from the working directory: a session resumed elsewhere goes
// on in the folder where it began.
func Find(projectsDir string, sessionID uuid.UUID) (path string, err error) {
	dirs, err := os.ReadDir(projectsDir)
	if err != nil {
		return "", fmt.Errorf("find transcript: %w", err)
	}
	var (
		newest  time.Time
		unknown error
	)
	for _, d := range dirs {
		candidate := filepath.Join(projectsDir, d.Name(), sessionID.String()+".jsonl")
		info, err := os.Stat(candidate)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
				unknown = err
			}
			continue
		}
		if !info.Mode().IsRegular() {
			continue
		}
		if path == "" || info.ModTime().After(newest) {
			path, newest = candidate, info.ModTime()
		}
	}
	if path == "" && unknown != nil {
		return "", fmt.Errorf("find transcript of %s: %w", sessionID, unknown)
	}
	if path == "" {
		return "", fmt.Errorf("find transcript of %s: %w", sessionID, fs.ErrNotExist)
	}
	return path, nil
}

// Dir is the name of the folder that Claude Code (2.1.328) derives from a working directory, which must be
// free of symbolic links: all but ASCII letters and digits becomes '-', one for each UTF-16 unit.
func Dir(cwd string) string {
	var b strings.Builder
	for _, unit := range utf16.Encode([]rune(cwd)) {
		switch {
		case unit >= 'a' && unit <= 'z', unit >= 'A' && unit <= 'Z', unit >= '0' && unit <= '9':
			b.WriteByte(byte(unit))
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}
