package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/logkey"
	"ccbot/internal/ownfile"
)

// entry is a folder, a link or a file.
type entry struct {
	path string
	uid  int
	mode fs.FileMode
}

// viewer is the user who looks at entries.
type viewer struct {
	uid  int
	root int // whose / is: in a user namespace root's files have another number
}

func newViewer() (viewer, error) {
	info, err := os.Stat("/")
	if err != nil {
		return viewer{}, err
	}
	return viewer{uid: os.Geteuid(), root: ownfile.Owner(info)}, nil
}

const (
	groupsWrite = 0o022 // group or others
	groupsRead  = 0o044
	othersWrite = 0o002
)

// refused is the reason why an entry is not used, with what a person can do about it.
type refused string

func (r refused) Error() string { return string(r) }

// RefuseOthers refuses ccbot's folder unless this user and root alone can decide what is in it. The
// way to the folder belongs to them, and others may not write it. The folder itself is this user's,
// and neither its group nor others may write it. An access list shows in the permissions of the
// group. What is in the folder is not looked at, except ccbot.env, which may be a link to a secret:
// nobody else could have put it there, and own closes the folder to other readers.
//
// It reads no content and changes nothing. A missing folder is fine. env is the path, without links,
// of the checked ccbot.env, and empty if there is no such file: no other file may be read.
func RefuseOthers(dir string, mayRead bool) (env string, err error) {
	v, err := newViewer()
	if err != nil {
		return "", err
	}
	way, real, err := wayTo(dir)
	if why := v.check(way, real, v.folder); why != nil {
		return "", exit.Usage(why)
	}
	if err == nil && real != "" {
		named := filepath.Join(real, SettingsFile)
		way, env, err = wayTo(named)
		if why := v.check(way, env, func(e entry) error { return v.settings(e, mayRead) }); why != nil {
			if env != named {
				why = fmt.Errorf("%s is a link: put a file of its own there, unless ccbot shall use the other one. %w", terminal.Printable(named), why)
			}
			return "", exit.Usage(why)
		}
	}
	switch to, _ := os.Readlink(dir); {
	case errors.Is(err, syscall.ENOTDIR):
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %s is a file or below a file: move the file away, or set CCBOT_DIR to a folder", dir))
	case err != nil:
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %w", err))
	case to != "" && real == "": // it would look like a folder without settings
		return "", exit.Usage(fmt.Errorf("CCBOT_DIR: %s is a link to %s, which is not there: mount or make that, or remove the link", dir, to))
	}
	return env, nil
}

// own makes ccbot's folder if it is missing, refuses one that others could have written, and closes
// it to them if they can read it. It refuses a link in the place of a folder in it: that may lead to
// a person's files.
func own(dir string, log *slog.Logger) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// The permissions of ccbot.env were judged before it was read.
	if _, err := RefuseOthers(dir, true); err != nil {
		return err
	}
	for _, name := range subfolders {
		if err := noLink(filepath.Join(dir, name)); err != nil {
			return exit.Usage(err)
		}
	}
	info, err := os.Stat(dir)
	if err != nil || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	log.Info("folder_closed", logkey.Folder, dir, logkey.Was, info.Mode().Perm().String())
	return nil
}

// noLink refuses a link in the place of one of ccbot's own folders.
func noLink(path string) error {
	if info, err := os.Lstat(path); err == nil && info.Mode().Type() == fs.ModeSymlink {
		return fmt.Errorf("%s is a link, and ccbot moves and removes what it finds in its own folders: put the folder itself in its place", terminal.Printable(path))
	}
	return nil
}

// check looks at what is on the way to real with onTheWay, and at real with last.
func (v viewer) check(way []entry, real string, last func(e entry) error) error {
	for _, e := range way {
		err := v.onTheWay(e)
		if e.path == real {
			err = last(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isForeign reports whether an entry belongs neither to this user nor to root, who could do anything
// anyway.
func (v viewer) isForeign(e entry) bool { return e.uid != v.uid && e.uid != 0 && e.uid != v.root }

// onTheWay judges a folder or a link on the way. Its group is not checked, because its members were
// chosen by the person who administers the machine. In a folder such as /tmp nobody can replace
// what another user has made.
func (v viewer) onTheWay(e entry) error {
	path := terminal.Printable(e.path)
	switch {
	case v.isForeign(e):
		return refused(fmt.Sprintf("%s belongs to user %d, who could put another folder in ccbot's place: choose another CCBOT_DIR, or run ccbot as that user", path, e.uid))
	case e.mode.Type() == fs.ModeSymlink, e.mode.Perm()&othersWrite == 0, e.mode&fs.ModeSticky != 0:
		return nil
	}
	return refused(fmt.Sprintf("others may write %s, and so put another folder in ccbot's place: `%s %s` ends that", path, v.asOwner(e, "chmod o-w"), terminal.ShellWord(e.path)))
}

// folder judges ccbot's folder.
func (v viewer) folder(e entry) error {
	path := terminal.Printable(e.path)
	switch {
	case e.uid != v.uid: // no chown: the ccbot of that user would refuse the folder then
		return refused(fmt.Sprintf("%s belongs to user %d, and this ccbot runs as user %d: run ccbot as that user, or choose another CCBOT_DIR", path, e.uid, v.uid))
	case e.mode.Perm()&groupsWrite != 0:
		return refused(fmt.Sprintf("group or others may write %s, and ccbot would take what they write for its own: look at what is in it, then `chmod 700 %s`", path, terminal.ShellWord(e.path)))
	}
	return nil
}

// settings judges ccbot.env. It may be root's, as a secret that is mounted; but the uid that the
// kernel shows for an owner without a uid in this user namespace is not root's.
func (v viewer) settings(e entry, mayRead bool) error {
	path, word := terminal.Printable(e.path), terminal.ShellWord(e.path)
	switch {
	case e.mode.IsDir(): // it is not read as settings, and reading it fails
		return nil
	case e.uid != v.uid && e.uid != 0:
		return refused(fmt.Sprintf("%s belongs to user %d, and this ccbot runs as user %d: look at what is in it, then `sudo chown %d %s`", path, e.uid, v.uid, v.uid, word))
	case e.mode.Perm()&groupsWrite != 0:
		return refused(fmt.Sprintf("group or others may write %s, which has the commands that ccbot runs: look at what is in it, then `%s %s`", path, v.asOwner(e, "chmod go-w"), word))
	case e.mode.Perm()&groupsRead == 0 || mayRead:
		return nil
	case e.uid != v.uid: // after a chmod this user could not read it either
		return refused(fmt.Sprintf("group or others may read %s, where the token is: if that is meant, set %s=1 in the environment", path, ReadableVariable))
	}
	return refused(fmt.Sprintf("group or others may read %s, where the token is: `chmod 600 %s` ends that, and /revoke at @BotFather gives a new token; if it is meant, set %s=1 in the environment",
		path, word, ReadableVariable))
}

// asOwner is a command as the owner of an entry would run it.
func (v viewer) asOwner(e entry, command string) string {
	if e.uid != v.uid {
		return "sudo " + command
	}
	return command
}

// mostLinks is the number of links that the kernel follows.
const mostLinks = 40

// wayTo returns every folder and link from / to path, and path itself as the last one, or what was
// seen before an error. real is path without links, and empty if path does not exist.
func wayTo(path string) (way []entry, real string, err error) {
	if way, err = addEntry(nil, "/"); err != nil {
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
		way, err = addEntry(way, next)
		if errors.Is(err, fs.ErrNotExist) {
			return way, "", nil
		}
		if err != nil {
			return way, "", err
		}
		if way[len(way)-1].mode.Type() != fs.ModeSymlink {
			at = next
			continue
		}
		if links++; links > mostLinks {
			return way, "", &fs.PathError{Op: "follow", Path: path, Err: syscall.ELOOP}
		}
		to, err := os.Readlink(next)
		if err != nil {
			return way, "", err
		}
		if filepath.IsAbs(to) {
			at = "/"
		}
		rest = append(strings.Split(to, "/"), rest...)
	}
	return way, at, nil
}

// addEntry looks at a path and follows no link.
func addEntry(way []entry, path string) ([]entry, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return way, err
	}
	return append(way, entry{path: path, uid: ownfile.Owner(info), mode: info.Mode()}), nil
}
