package git

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Moment is a work tree as it was.
type Moment struct {
	Tree string `json:"tree"` // id of a commit or a tree; empty: there was no file
	// Objects is a folder with those objects of the tree that the repository does not have; empty: there are none.
	Objects string `json:"-"`
	// Known are the files that are known by their prints only: those that git was not told of, and those that are too
	// large. Partial says that there were more of them.
	Known   map[string]Print `json:"known,omitempty"`
	Partial bool             `json:"partial,omitempty"`
	At      time.Time        `json:"at,omitzero"`
}

// What is kept of changed files for a moment; those beyond it are known by their prints.
const (
	maxKept      = 4 << 20 // bytes of one file
	maxKeptAll   = 32 << 20
	maxKeptFiles = 5000
)

// Mark remembers the work tree as it is. What the repository does not have of it is written into the folder objects.
func (t *Tree) Mark(ctx context.Context, objects string) (Moment, error) {
	m := Moment{Objects: objects, Known: make(map[string]Print), At: time.Now().UTC()}
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return Moment{}, err
	}
	g := t.with(objects)
	changed, cut, err := g.list(ctx, "diff-files", "--name-only", "-z", "--ignore-submodules=dirty")
	if err != nil {
		return Moment{}, err
	}
	kept, gone := t.sort(changed, m.Known)
	for _, q := range []struct {
		paths []string
		how   string
	}{{gone, "--force-remove"}, {kept, "--remove"}} {
		if len(q.paths) > 0 {
			input := strings.Join(q.paths, "\x00") + "\x00"
			if err := g.ask(ctx, input, &start{}, "update-index", "-z", "--add", q.how, "--stdin"); err != nil {
				return Moment{}, err
			}
		}
	}
	said, err := g.run(ctx, "write-tree", "--missing-ok")
	if m.Tree = strings.TrimSpace(string(said)); err == nil && !commitID.MatchString(m.Tree) {
		err = fmt.Errorf("git: %q is no tree", m.Tree)
	}
	if err != nil {
		return Moment{}, err
	}
	untracked, more, err := t.untracked(ctx)
	for _, path := range untracked {
		if p, _, ok := t.print(path); ok {
			m.Known[path] = p
		}
	}
	m.Partial = cut || more
	return m, err
}

// sort says which of the changed files are read, and which are not there any more. Those that are too large or cannot
// be read are noted by their prints.
func (t *Tree) sort(changed []string, known map[string]Print) (kept, gone []string) {
	room, done := int64(maxKeptAll), make(map[string]bool)
	for _, path := range changed {
		if done[path] { // one that is not merged stands there for each side
			continue
		}
		done[path] = true
		p, mode, there := t.print(path)
		switch {
		case there && mode.IsDir() && !t.behindLink(path): // a submodule; of another folder git takes the path out
			kept = append(kept, path)
		case !there, t.behindLink(path), !mode.IsRegular() && mode.Type() != os.ModeSymlink:
			gone = append(gone, path)
		case p.Size > min(maxKept, room), len(kept) == maxKeptFiles, mode.IsRegular() && !readable(filepath.Join(t.Root, path)):
			known[path] = p
		default:
			room -= p.Size
			kept = append(kept, path)
		}
	}
	return kept, gone
}

// behindLink reports whether a folder above a file is a link: then git does not have the file.
func (t *Tree) behindLink(path string) bool {
	dir := filepath.Dir(filepath.Join(t.Root, path))
	real, err := filepath.EvalSymlinks(dir)
	return err != nil || real != dir
}

func readable(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	return f.Close() == nil
}
