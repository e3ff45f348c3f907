package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/bot/port/places"
	"ccbot/bot/port/refusal"
)

// Bounds implements [places.Places].
func (m *Machine) Bounds() places.Bounds { return places.Bounds{Home: m.Home, Roots: m.Roots} }

// Resolve implements [places.Places].
func (m *Machine) Resolve(_ context.Context, base, path string) (dir string, err error) {
	switch base = cmp.Or(base, m.Home); {
	case path == "~" || strings.HasPrefix(path, "~/"):
		path = filepath.Join(m.Home, path[1:])
	case strings.HasPrefix(path, "~"): // but ./~x is a folder of that name
		name, rest, _ := strings.Cut(path[1:], "/")
		other, err := user.Lookup(name)
		if err != nil {
			return path, &refusal.Error{Code: refusal.DirMissing, Dir: path, Err: err}
		}
		path = filepath.Join(other.HomeDir, rest)
	case !filepath.IsAbs(path):
		path = filepath.Join(base, path)
	}
	dir = WithoutLinks(filepath.Clean(path))
	if !InRoots(m.Roots, dir) {
		return dir, outside(dir)
	}
	return dir, nil
}

func outside(dir string) error {
	return &refusal.Error{Code: refusal.DirOutside, Dir: dir, Err: fmt.Errorf("%s is outside of CCBOT_ROOTS", dir)}
}

// Make implements [places.Places]. Inside the roots it follows no link that is made at this moment
// to lead out of them.
func (m *Machine) Make(_ context.Context, dir string) error {
	err := m.make(dir)
	if err == nil || refusal.Is(err, refusal.DirOutside) {
		return err
	}
	return &refusal.Error{Code: refusal.DirNoAccess, Dir: dir, Reason: reason(err), Err: err}
}

func (m *Machine) make(dir string) error {
	if len(m.Roots) == 0 {
		return os.MkdirAll(dir, 0o755)
	}
	for _, path := range m.Roots {
		rel, inside := within(path, WithoutLinks(dir))
		if !inside {
			continue
		}
		root, err := os.OpenRoot(path)
		if err != nil {
			return err
		}
		return errors.Join(root.MkdirAll(rel, 0o755), root.Close())
	}
	return outside(WithoutLinks(dir))
}

// InRoots reports whether sessions may be opened in dir: below one of the roots, which have no
// links in them; without roots anywhere. The links of dir are resolved as far as the path exists,
// so that none leads out.
func InRoots(roots []string, dir string) bool {
	real := WithoutLinks(dir)
	return len(roots) == 0 || slices.ContainsFunc(roots, func(root string) bool {
		_, inside := within(root, real)
		return inside
	})
}

// within reports whether a path lies in a folder, and where in it. Both must be without links.
func within(folder, path string) (rel string, ok bool) {
	rel, err := filepath.Rel(folder, path)
	return rel, err == nil && filepath.IsLocal(rel)
}

// WithoutLinks is a path with its links resolved, as far as the path exists.
func WithoutLinks(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); err != nil && parent != path {
		return filepath.Join(WithoutLinks(parent), filepath.Base(path))
	} else if err != nil {
		return path
	}
	return real
}
