package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ccbot/cmd/ccbot/terminal"
)

// Foreign is a folder of a PATH in which another user can put a program.
type Foreign struct {
	Folder string // as PATH has it
	Why    string
}

// ForeignFolders returns the folders of a PATH in which another user can put a program of any name.
// A folder that is not absolute is among them: it is another one for each program.
func ForeignFolders(path string) (all []Foreign, err error) {
	for _, dir := range filepath.SplitList(path) {
		why := "it is not absolute, so each program looks in another folder"
		if filepath.IsAbs(dir) {
			if why, err = OthersCanWrite(dir); err != nil {
				return nil, err
			}
		}
		known := slices.ContainsFunc(all, func(f Foreign) bool { return f.Folder == dir })
		if why != "" && !known {
			all = append(all, Foreign{dir, why})
		}
	}
	return all, nil
}

// OthersCanWrite returns the reason why a user other than this one and root can write what an
// absolute path leads to, or put something else in its place, and "" if none can. Above it the
// group is not checked, as above CCBOT_DIR; of the path itself it is not either, because a folder
// of programs is often shared by the administrators of a machine. The result is "" if this user
// cannot enter it, because then no program starts from there.
func OthersCanWrite(path string) (why string, err error) {
	v, err := newViewer()
	if err != nil {
		return "", err
	}
	way, real, err := wayTo(path)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ELOOP) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	for i, e := range way {
		// In a folder such as /tmp other users replace nothing, and can make what is not there yet.
		sticky := e.mode&fs.ModeSticky != 0 && e.path != real && (real != "" || i < len(way)-1)
		switch {
		case v.isForeign(e):
			return fmt.Sprintf("%s belongs to user %d", terminal.Printable(e.path), e.uid), nil
		case e.mode.Type() != fs.ModeSymlink && e.mode.Perm()&othersWrite != 0 && !sticky:
			return fmt.Sprintf("others may write %s", terminal.Printable(e.path)), nil
		}
	}
	return "", nil
}

// WithoutForeign returns a PATH without the folders in which another user can put a program.
func WithoutForeign(path string, foreign []Foreign) string {
	kept := slices.DeleteFunc(filepath.SplitList(path), func(dir string) bool {
		return slices.ContainsFunc(foreign, func(f Foreign) bool { return f.Folder == dir })
	})
	return strings.Join(kept, string(filepath.ListSeparator))
}
