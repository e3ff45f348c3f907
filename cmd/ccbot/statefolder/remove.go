package statefolder

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/spool"
)

// prices is a file of CCBOT_DIR that a person writes.
const prices = "prices.json"

// marks are the files by which a folder is known as ccbot's.
var marks = []string{instanceFile, formatFile, SettingsFile}

// fleetMarks are the files in fleet/ by which a folder is known that has none of marks, because
// `ccbot host hub` or `ccbot join` alone has used it.
var fleetMarks = []string{"keys", "joining", "member"}

// removedLast are the files without which a second Remove would not know the folder, and the lock,
// which Remove's caller holds.
var removedLast = append(slices.Clone(marks), lockFile)

// Contents returns the names of the entries of ccbot's folder in the order in which Remove removes
// them, and the names of the entries that are not ccbot's. A missing folder has none. A folder with
// the names of ccbot's own folders and none of marks and fleetMarks was never ccbot's: CCBOT_DIR
// names a folder of a person by mistake, whose backups/ is theirs.
func Contents(dir string) (known, unknown []string, err error) {
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, Error(dir, err)
	}
	var last []string
	foreign := hasAny(entries, subfolders) && !hasAny(entries, marks) && !hasFleet(dir)
	for _, e := range entries {
		switch name := e.Name(); {
		case foreign:
			unknown = append(unknown, name)
		case !isKnown(name, e.Type()):
			unknown = append(unknown, name)
		case slices.Contains(removedLast, name):
			last = append(last, name)
		default:
			known = append(known, name)
		}
	}
	slices.SortFunc(last, func(a, b string) int { return slices.Index(removedLast, a) - slices.Index(removedLast, b) })
	return append(known, last...), unknown, nil
}

func hasAny(entries []fs.DirEntry, names []string) bool {
	return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return slices.Contains(names, e.Name()) })
}

// hasFleet reports whether fleet/ has one of its files with keys, which only this user may read.
func hasFleet(dir string) bool {
	return slices.ContainsFunc(fleetMarks, func(name string) bool {
		info, err := os.Lstat(filepath.Join(dir, "fleet", name))
		return err == nil && info.Mode() == 0o600
	})
}

// isKnown reports whether an entry is one that ccbot makes, or reads as a person's settings.
func isKnown(name string, kind fs.FileMode) bool {
	switch {
	case slices.Contains(subfolders, name):
		return kind.IsDir()
	case name == SettingsFile, name == prices:
		return !kind.IsDir()
	}
	return (slices.Contains(ownFiles, name) || IsOwnWrite(name)) && (kind.IsRegular() || kind == fs.ModeSocket)
}

// LinkTo returns the target of ccbot's folder if the folder is a link, and otherwise "".
func LinkTo(dir string) string {
	to, _ := os.Readlink(dir)
	return to
}

// Remove removes what ccbot keeps in its folder, and the folder if nothing else is in it. It
// follows no link, and refuses a folder that is one. It may be called again after a kill at any
// moment. The caller holds the lock.
func Remove(dir string) error {
	named, err := os.Lstat(dir)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		return err
	}
	if !named.IsDir() {
		return fmt.Errorf("%s is not a separate folder: nothing in it was removed", terminal.Printable(dir))
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if opened, err := root.Stat("."); err != nil || !os.SameFile(named, opened) {
		return fmt.Errorf("%s: %w", terminal.Printable(dir), errReplaced)
	}
	known, unknown, err := Contents(dir)
	if err != nil {
		return err
	}
	for _, name := range known {
		if err := root.RemoveAll(name); err != nil {
			return fmt.Errorf("remove what is in %s: %w", terminal.Printable(dir), err)
		}
	}
	if len(unknown) > 0 {
		return spool.SyncFolder(root.Open("."))
	}
	return os.Remove(dir)
}
