package git

import (
	"context"
	"errors"
	"os/exec"
	"slices"
	"strconv"
	"strings"
)

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
