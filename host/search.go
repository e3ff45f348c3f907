package host

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"ccbot/port/folders"
)

// dependencies are the names of folders that programs fill with the code of others.
var dependencies = []string{"node_modules", "bower_components", "vendor", "venv", "site-packages", "__pycache__"}

// Search implements [folders.Searches].
func (m *Machine) Search(ctx context.Context, _, part string, most folders.Extent) (folders.Found, error) {
	limited, cancel := context.WithTimeout(ctx, most.Time)
	defer cancel()
	below := slices.Clone(m.Roots)
	if len(below) == 0 {
		below = []string{m.Home}
	}
	below = slices.DeleteFunc(below, func(root string) bool {
		return slices.ContainsFunc(below, func(other string) bool {
			_, inside := within(other, root)
			return inside && other != root
		})
	})
	s := search{part: strings.ToLower(part), most: most, found: folders.Found{Roots: below}}
	for _, root := range below {
		s.outside = append(s.outside, &place{root: root, rel: ".", depth: 1})
	}
	for limited.Err() == nil && s.found.Read < most.Folders {
		next := s.next()
		if next == nil {
			return s.result(), nil
		}
		s.read(next)
	}
	s.found.Cut = s.found.Cut || len(s.outside)+len(s.inside) > 0
	return s.result(), ctx.Err()
}

// place is a folder that a search knows.
type place struct {
	root, rel string // rel is "." for the root itself
	depth     int
	inside    bool // below the top folder of a repository
	isTop     bool // it is such a top folder
}

// search is a walk, breadth first. It reads what is in repositories last, so that it finds all
// repositories first.
type search struct {
	part            string
	most            folders.Extent
	outside, inside []*place // not read yet
	matches         []*place
	found           folders.Found
}

// next takes the folder that is read next, or nil.
func (s *search) next() (p *place) {
	from := &s.outside
	if len(*from) == 0 {
		from = &s.inside
	}
	if len(*from) == 0 {
		return nil
	}
	p, *from = (*from)[0], (*from)[1:]
	return p
}

// read reads a folder, and notes the folders in it.
func (s *search) read(p *place) {
	names, whole, err := namesIn(p.root, p.rel)
	if err != nil {
		if p.rel == "." || !errors.Is(err, fs.ErrNotExist) { // otherwise it has just been removed
			s.found.Unreadable++
		}
		return
	}
	s.found.Read++
	s.found.Cut = s.found.Cut || !whole
	p.isTop = slices.Contains(names, ".git")
	for _, name := range names {
		if strings.HasPrefix(name, ".") || slices.Contains(dependencies, name) || !folders.IsText(name) {
			continue
		}
		next := &place{root: p.root, rel: filepath.Join(p.rel, name), depth: p.depth + 1, inside: p.inside || p.isTop}
		s.note(next, name)
		switch {
		case next.depth > s.most.Depth:
			s.found.Cut = true
		case next.inside:
			s.inside = append(s.inside, next)
		default:
			s.outside = append(s.outside, next)
		}
	}
}

// note keeps a folder that matches.
func (s *search) note(p *place, name string) {
	if strings.Contains(s.part, "/") {
		name = p.rel
	}
	if strings.Contains(strings.ToLower(name), s.part) {
		s.matches = append(s.matches, p)
	}
}

// result returns the matches in their order.
func (s *search) result() folders.Found {
	slices.SortStableFunc(s.matches, func(a, b *place) int {
		if a.isTop != b.isTop {
			if a.isTop {
				return -1
			}
			return 1
		}
		return a.depth - b.depth
	})
	for _, p := range s.matches {
		if len(s.found.Dirs) == s.most.Found {
			s.found.Cut = true
			break
		}
		s.found.Dirs = append(s.found.Dirs, filepath.Join(p.root, p.rel))
	}
	return s.found
}

// namesIn are the names of the folders in a folder below a root, and of a .git in it, which may be
// a file, in the order of the alphabet. whole is false if the folder has too many entries. No link
// leads out of the root.
func namesIn(path, rel string) (names []string, whole bool, err error) {
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, false, err
	}
	defer root.Close()
	f, err := root.OpenFile(rel, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	all, err := f.ReadDir(mostChildren)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, false, err
	}
	for _, one := range all {
		if one.IsDir() || one.Name() == ".git" {
			names = append(names, one.Name())
		}
	}
	slices.Sort(names)
	return names, len(all) < mostChildren, nil
}
