package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/ownfile"
)

// Exposure is an entry on the way to ccbot's folder, or in it, with which other users could do what
// they must not.
type Exposure struct {
	Path     string
	Why      string
	Sentence string // Why, with what a person can do about it
	Refused  bool   // no ccbot starts with it; the next start repairs any other
	Closable bool   // others can only read ccbot's entry: Close repairs it
	uid      int
}

// Inspect looks at everything that a start looks at, and gives each objection. It changes nothing.
func Inspect(dir string, mayRead bool) ([]Exposure, error) {
	v, err := newViewer(mayRead)
	if err != nil {
		return nil, err
	}
	entries, real, err := wayTo(dir, placeFolder)
	if err != nil {
		return nil, err
	}
	if real != "" {
		way, _, err := wayTo(filepath.Join(real, SettingsFile), placeSettings)
		if err != nil {
			return nil, err
		}
		inside, err := entriesIn(real)
		if err != nil {
			return nil, err
		}
		entries = append(append(entries, way...), inside...)
	}
	var all []Exposure
	seen := make(map[string]bool)
	for _, e := range entries {
		if x := e.exposure(v); x.Why != "" && !seen[e.path] {
			seen[e.path] = true
			all = append(all, x)
		}
	}
	return all, nil
}

func (e entry) exposure(v viewer) Exposure {
	link := e.mode.Type() == fs.ModeSymlink
	writable := e.what != placeAbove && !link && e.mode.Perm()&groupsWrite != 0
	x := Exposure{Path: e.path, Closable: e.what != placeAbove && e.uid == v.uid && !writable && !link, uid: v.uid}
	o := e.objection(v)
	switch {
	case o.why != "":
		x.Why, x.Sentence, x.Refused = o.why, o.sentence(e.path), true
		if writable { // without the permission no one could see what another user has written
			x.Sentence += "; look at what is in it first"
		}
	case (e.what == placeFolder || e.what == placeBelow) && e.mode.IsDir() && e.mode.Perm()&0o077 != 0:
		x.Why = fmt.Sprintf("group or others may read %s", terminal.Printable(e.path))
		x.Sentence = x.Why + ": the next start closes it"
	}
	return x
}

// errReplaced is returned if an entry is not the one that was checked.
var errReplaced = errors.New("it is another one than before")

// Close takes the permissions of group and others away where they could only read. It follows no
// link.
func (x Exposure) Close() error {
	f, err := os.OpenFile(x.Path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	mode := info.Mode()
	switch {
	case !x.Closable, ownfile.Owner(info) != x.uid, mode.Perm()&groupsWrite != 0, !mode.IsDir() && !mode.IsRegular():
		return &fs.PathError{Op: "chmod", Path: x.Path, Err: errReplaced}
	}
	return f.Chmod(mode.Perm() &^ 0o077)
}

// IsOwnWrite reports whether a name in ccbot's folder belongs to an unfinished write of ccbot
// itself. A person may keep copies of ccbot.env there under any other name.
func IsOwnWrite(name string) bool {
	name, hidden := strings.CutPrefix(name, ".")
	own := strings.TrimRight(name, "0123456789")
	return hidden && own != name && slices.Contains(ownFiles, own)
}

// Subfolders are the folders that ccbot makes in its folder.
func Subfolders(dir string) []string {
	return each.As(subfolders, func(name string) string { return filepath.Join(dir, name) })
}
