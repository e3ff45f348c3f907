package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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

// ErrNoMoment says that the repository does not have the commit or tree of a moment any more.
var ErrNoMoment = errors.New("git: the moment is not known")

// Change is a file that has changed.
type Change struct {
	Path    string // with slashes, from the tree's root; a repository that is not tracked has a slash at its end
	From    string // its earlier path, where it was renamed
	Status  Status
	Added   int // lines
	Deleted int
	Binary  bool // it has no lines, or is too large to count them
	module  bool // a submodule, at another commit
}

// Status is git's letter for how a file has changed.
type Status byte

// The letters of git that are told apart; any other one is a Modified.
const (
	Modified  Status = 'M'
	Added     Status = 'A'
	Deleted   Status = 'D'
	Renamed   Status = 'R'
	Untracked Status = '?'
)

// Since are the files that have changed since a moment, committed since or not, by their paths; cut says that there are
// more.
func (t *Tree) Since(ctx context.Context, m Moment) (all []Change, cut bool, err error) {
	tree, err := t.treeOf(ctx, m)
	if err != nil {
		return nil, false, err
	}
	parts, cut, err := t.reading(m).list(ctx, slices.Concat(comparing, []string{"--raw", "--numstat", "-z", tree, "--"})...)
	if err != nil {
		return nil, false, err
	}
	all = slices.DeleteFunc(parseList(parts), func(c Change) bool { return c.Status != Deleted && t.isKnown(m, c.Path) })
	untracked, more, err := t.untracked(ctx)
	if err != nil {
		return nil, false, err
	}
	tracked := make(map[string]bool)
	for _, c := range all {
		tracked[c.Path] = true
	}
	room := int64(maxCountedAll)
	for _, path := range untracked {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if tracked[path] || t.isKnown(m, path) {
			continue
		}
		if p, _, there := t.print(path); m.Partial && there && p.Time < m.At.UnixNano() {
			continue // it was there before
		}
		all = append(all, t.newFile(path, &room))
	}
	slices.SortStableFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all, cut || more, nil
}

// comparing is how git compares: with nothing that the repository names. What only looks changed is left out, and noted
// in the copy of the index. Of a submodule that is its commit: to see more, git would have to run there.
var comparing = []string{"-c", "diff.autoRefreshIndex=true", "diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative",
	"--ignore-submodules=dirty", "--submodule=short", "--find-renames", "-l400", "-O/dev/null"}

// reading calls git with the objects of a moment.
func (t *Tree) reading(m Moment) caller {
	if m.Objects == "" {
		return t.git
	}
	return t.with(t.written(), m.Objects)
}

func (t *Tree) treeOf(ctx context.Context, m Moment) (string, error) {
	if m.Tree == "" {
		return t.empty, nil
	}
	if !commitID.MatchString(m.Tree) { // git would take it for something else
		return "", ErrNoMoment
	}
	_, err := t.reading(m).run(ctx, "cat-file", "-e", m.Tree+"^{tree}")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", ErrNoMoment
	}
	return m.Tree, err
}

// isKnown reports whether a file is as it was, by its print.
func (t *Tree) isKnown(m Moment, path string) bool {
	was, known := m.Known[path]
	now, _, there := t.print(path)
	return known && there && now == was
}

// parseList reads what --raw --numstat -z say: first how each file has changed, then its lines.
func parseList(parts []string) (all []Change) {
	next := func() (part string) {
		if len(parts) > 0 {
			part, parts = parts[0], parts[1:]
		}
		return part
	}
	at := make(map[string]int)
	for len(parts) > 0 {
		part := next()
		if strings.HasPrefix(part, ":") {
			c := Change{Status: Modified, Path: next(), module: strings.HasPrefix(part, ":160000 160000 ")}
			switch letter := part[strings.LastIndexByte(part, ' ')+1:]; {
			case strings.HasPrefix(letter, "R"):
				c.Status, c.From, c.Path = Renamed, c.Path, next()
			case letter == "A" || letter == "D":
				c.Status = Status(letter[0])
			}
			if _, twice := at[c.Path]; c.Path != "" && !twice {
				at[c.Path] = len(all)
				all = append(all, c)
			}
			continue
		}
		figures := strings.SplitN(part, "\t", 3)
		if len(figures) != 3 {
			continue
		}
		path := figures[2]
		if path == "" { // its two paths follow
			next()
			path = next()
		}
		if i, ok := at[path]; ok {
			added, err := strconv.Atoi(figures[0])
			deleted, _ := strconv.Atoi(figures[1])
			all[i].Added, all[i].Deleted, all[i].Binary = max(added, 0), max(deleted, 0), err != nil
		}
	}
	// Whether a submodule is at another commit than in the index is not what was asked: its figures say that.
	return slices.DeleteFunc(all, func(c Change) bool { return c.module && c.Added+c.Deleted == 0 })
}
