package systemfont

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

const (
	maxFile    = 64 << 20 // bytes; the largest font of Debian's Noto CJK has 27 MB
	maxDepth   = 8        // of folders
	maxEntries = 20_000   // of all folders together
	maxFiles   = 2_000    // that are opened in one search
)

// errUnsafe is returned for anything but a file or folder that only its owner can write.
var errUnsafe = errors.New("not a file or folder that only root can write")

// Folders are the folders in which fonts are installed. The zero value has no fonts. It may be used
// by several goroutines.
type Folders struct {
	// the folder that the paths begin at; every folder below it is checked, and itself
	root  string
	paths []string // absolute, below root
	owner uint32   // of all files and folders

	mu sync.Mutex // held during a search, so that one font is in memory at a time
}

// System returns the folders in which Linux and macOS install fonts for all users.
func System() *Folders {
	return In("/usr/share/fonts", "/usr/local/share/fonts",
		// of Debian's package of this name: its Korean characters
		"/usr/share/fonts-droid-fallback",
		"/System/Library/Fonts", "/Library/Fonts")
}

// In returns the given folders. Their paths are absolute.
func In(paths ...string) *Folders { return &Folders{root: "/", paths: paths} }

// candidate is a file whose name is the name of a font.
type candidate struct {
	path  string
	emoji bool
	rank  int // files with a lower rank come first
}

// candidates returns the font files in the order of a search: plain faces before bold, italic and
// narrow faces.
func (f *Folders) candidates() []candidate {
	var found []candidate
	room := maxEntries
	for _, path := range f.paths {
		f.list(path, 0, &room, &found)
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return a.rank - b.rank })
	return found[:min(len(found), maxFiles)]
}

// list appends the fonts of a folder and of the folders in it. A folder that cannot be read has
// none.
func (f *Folders) list(path string, depth int, room *int, found *[]candidate) {
	dir, err := f.open(path, unix.S_IFDIR)
	if err != nil {
		return
	}
	defer dir.Close()
	entries, _ := dir.ReadDir(max(*room, 1))
	*room -= len(entries)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		name := filepath.Join(path, entry.Name())
		switch {
		case *room <= 0:
			return
		case entry.IsDir() && depth < maxDepth:
			f.list(name, depth+1, room, found)
		case entry.Type().IsRegular() && slices.Contains([]string{".ttf", ".ttc", ".otf", ".otc"}, strings.ToLower(filepath.Ext(name))):
			*found = append(*found, newCandidate(name))
		}
	}
}

func newCandidate(path string) candidate {
	c, name := candidate{path: path}, strings.ToLower(filepath.Base(path))
	for _, special := range []string{"bold", "italic", "oblique", "light", "thin", "black", "medium", "condensed", "serif"} {
		if strings.Contains(name, special) {
			c.rank++
		}
	}
	c.emoji = strings.Contains(name, "emoji")
	return c
}

// open opens a regular file or a folder below f.root. It walks there from the root by descriptors,
// checks each of them, and follows no link.
func (f *Folders) open(path string, kind uint32) (*os.File, error) {
	below, err := filepath.Rel(f.root, path)
	if err != nil {
		return nil, err
	}
	fd, err := unix.Open(f.root, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	for name := range strings.SplitSeq(below, "/") {
		next := -1
		if err = f.check(fd, unix.S_IFDIR); err == nil {
			next, err = unix.Openat(fd, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
		}
		_ = unix.Close(fd)
		if fd = next; err != nil {
			return nil, err
		}
	}
	if err := f.check(fd, kind); err != nil {
		_ = unix.Close(fd)
		return nil, err
	}
	return os.NewFile(uintptr(fd), path), nil
}

// check returns an error unless a descriptor is of a kind and only its owner can write it.
func (f *Folders) check(fd int, kind uint32) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	if uint32(st.Mode)&unix.S_IFMT != kind || st.Uid != f.owner || st.Mode&0o022 != 0 { //nolint:unconvert // 16 bits on macOS
		return errUnsafe
	}
	return nil
}
