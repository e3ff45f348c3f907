package statefolder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/joho/godotenv"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/hookwire"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
	"ccbot/internal/suspect"
)

// subfolders are the folders that ccbot makes in its folder.
var subfolders = []string{"asks", "backups", "bindings", "cards", "changes", "chats", "events", "exports", "fleet", "inbox", "launch", "loops", "outbox", "prompts",
	"quarantine", "received", "schedules", "sessions", "status", "usage"}

// nested are those in which ccbot makes folders.
var nested = []string{"backups", "changes", "fleet"}

// ownFiles are the other files that ccbot makes. ccbot.env is not among them, because a person
// writes it. pace.json is of an earlier version.
var ownFiles = []string{lockFile, formatFile, instanceFile, aliveFile, lowFile, probe, hookwire.SocketName, hookwire.SocketName + "~",
	claudeFile, "commands.json", "holds.json", "pace.json", "parked.json", "rich.json", "windows.json", suspect.Name}

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

// volumeFolder exists at the top of every separate file system; it belongs to root, and is not
// ccbot's.
const volumeFolder = "lost+found"

// mostLooked limits the entries of a folder that are checked. A folder that only its owner may
// write contains nothing of other users, unless it was writable for them earlier; and there may be
// very many hook events and messages.
const mostLooked = 1000

// newViewer describes the user who looks at the disk.
func newViewer(mayRead bool) (viewer, error) {
	info, err := os.Stat("/")
	if err != nil {
		return viewer{}, err
	}
	return viewer{uid: os.Geteuid(), root: ownfile.Owner(info), mayRead: mayRead}, nil
}

// RefuseOthers looks at the folders above ccbot's folder, at the folder itself and at ccbot.env,
// and refuses entries that other users could have written. It reads no content and changes nothing.
// A missing entry is fine. env is the path, without links, of the checked ccbot.env, and empty if
// there is no such file: no other file may be read.
func RefuseOthers(dir string, mayRead bool) (env string, err error) {
	v, err := newViewer(mayRead)
	if err != nil {
		return "", err
	}
	entries, real, err := wayTo(dir, placeFolder)
	if err == nil && real != "" {
		var more []entry
		more, env, err = wayTo(filepath.Join(real, SettingsFile), placeSettings)
		entries = append(entries, more...)
	}
	if errors.Is(err, syscall.ENOTDIR) {
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %s is a file or below a file: move the file away, or set CCBOT_DIR to a folder", dir))
	}
	if err != nil {
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %w", err))
	}
	if err := refusal(real, entries, v); err != nil {
		return "", err
	}
	// It would look like a folder without settings.
	if to, _ := os.Readlink(dir); to != "" && real == "" {
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %s is a link to %s, which is not there: mount or make that, or remove the link", dir, to))
	}
	return env, nil
}

// own makes ccbot's folder if it is missing. It refuses a folder with entries that other users
// could have written, and removes the permissions of other users from the folder, and from the
// folders in it, if these users can only read there.
func own(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	v, err := newViewer(true) // withFile has judged the permissions of ccbot.env before it read the file
	if err != nil {
		return err
	}
	entries, real, err := wayTo(dir, placeFolder)
	if err != nil {
		return err
	}
	inside, err := entriesIn(real)
	if err != nil {
		return err
	}
	entries = append(entries, inside...)
	if err := refusal(real, entries, v); err != nil {
		return err
	}
	for _, e := range entries {
		if e.what != placeFolder && e.what != placeBelow || !e.mode.IsDir() || e.mode.Perm()&0o077 == 0 {
			continue
		}
		if err := os.Chmod(e.path, 0o700); err != nil {
			return err
		}
		log.Info("folder_closed", logkey.Folder, e.path, logkey.Was, e.mode.Perm().String())
	}
	return nil
}

// mostLinks is the number of links that the kernel follows.
const mostLinks = 40

// wayTo returns every folder and link from / to path, and path itself as the last one. real is path
// without links, and empty if path does not exist; then the entries end with the last one that
// exists.
func wayTo(path string, last place) (entries []entry, real string, err error) {
	if entries, err = addEntry(nil, "/", placeAbove); err != nil {
		return nil, "", err
	}
	at, rest, links := "/", strings.Split(path, "/"), 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			at = filepath.Dir(at) // it has no links now
			continue
		}
		next := filepath.Join(at, name)
		entries, err = addEntry(entries, next, placeAbove)
		if errors.Is(err, fs.ErrNotExist) {
			return entries, "", nil
		}
		if err != nil {
			return nil, "", err
		}
		if entries[len(entries)-1].mode.Type() != fs.ModeSymlink {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return nil, "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		to, err := os.Readlink(next)
		if err != nil {
			return nil, "", err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	for i := range entries {
		if entries[i].path == at {
			entries[i].what = last
		}
	}
	return entries, at, nil
}

// addEntry looks at a path and follows no link.
func addEntry(entries []entry, path string, what place) ([]entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return entries, err
	}
	return append(entries, entry{path: path, what: what, uid: ownfile.Owner(info), mode: info.Mode()}), nil
}

// entriesIn returns the entries that ccbot uses in its folder, and the entries of the folders that
// ccbot makes there. It does not look at other things that a person keeps there, since ccbot does
// not use them. Entries that disappear during the scan, as hook events do, are left out.
func entriesIn(dir string) (entries []entry, err error) {
	add := func(path string, what place) (err error) {
		if entries, err = addEntry(entries, path, what); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err := add(filepath.Join(dir, SettingsFile), placeSettings); err != nil {
		return nil, err
	}
	for _, name := range ownFiles {
		if err := add(filepath.Join(dir, name), placePart); err != nil {
			return nil, err
		}
	}
	for _, name := range subfolders {
		folder, before := filepath.Join(dir, name), len(entries)
		if err := add(folder, placeBelow); err != nil {
			return nil, err
		}
		// A file in a folder's place is an error of the code that needs the folder.
		if len(entries) == before || !entries[before].mode.IsDir() {
			continue
		}
		inside, err := someOf(folder)
		if err != nil {
			return nil, err
		}
		for _, name := range inside {
			if name == volumeFolder {
				continue
			}
			if err := add(filepath.Join(folder, name), placePart); err != nil {
				return nil, err
			}
		}
		if slices.Contains(nested, name) {
			for i := before + 1; i < len(entries); i++ {
				if entries[i].mode.Type()&(fs.ModeDir|fs.ModeSymlink) != 0 {
					entries[i].what = placeBelow
				}
			}
		}
	}
	return entries, nil
}

// someOf returns the names in a folder, at most mostLooked.
func someOf(dir string) ([]string, error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(mostLooked)
	if errors.Is(err, io.EOF) { // it is empty
		return nil, nil
	}
	return names, err
}
