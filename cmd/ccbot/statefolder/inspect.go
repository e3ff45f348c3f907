package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/ownfile"
)

// Exposure is an entry on the way to ccbot's folder, or in it, with which other users could do what
// they must not.
type Exposure struct {
	Path     string
	Why      string
	Sentence string // Why, with what a person can do about it
	Refused  bool   // no ccbot starts with it; the next start mends any other
	Own      bool   // of ccbot, and of this user: Close mends it
	uid      int
}

// Inspect looks at everything that a start looks at, and gives each objection. It changes nothing.
func Inspect(dir string, mayRead bool) ([]Exposure, error) {
	v, err := look(mayRead)
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
	x := Exposure{Path: e.path, Own: e.what != placeAbove && e.uid == v.uid, uid: v.uid}
	o := e.objection(v)
	switch {
	case o.why != "":
		x.Why, x.Sentence, x.Refused = o.why, o.sentence(e.path), true
	case (e.what == placeFolder || e.what == placeBelow) && e.mode.IsDir() && e.mode.Perm()&0o077 != 0:
		x.Why = fmt.Sprintf("group or others may read %s", terminal.Printable(e.path))
		x.Sentence = x.Why + ": the next start closes it"
	}
	return x
}

// errReplaced says that an entry is not what it was when it was looked at.
var errReplaced = errors.New("it is another one than before")

// Close takes the permissions of group and others away. It follows no link.
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
	if !x.Own || ownfile.Owner(info) != x.uid || !info.IsDir() && !info.Mode().IsRegular() {
		return &fs.PathError{Op: "chmod", Path: x.Path, Err: errReplaced}
	}
	return f.Chmod(info.Mode().Perm() &^ 0o077)
}

// Subfolders are the folders that ccbot makes in its folder.
func Subfolders(dir string) (paths []string) {
	for _, name := range subfolders {
		paths = append(paths, filepath.Join(dir, name))
	}
	return paths
}
