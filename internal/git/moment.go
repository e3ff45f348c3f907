package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"ccbot/internal/lazyregexp"
)

// Moment is a work tree as it was.
type Moment struct {
	Tree string `json:"tree"` // id of a commit or a tree; empty: there was no file
	// Objects is a folder with the objects of the tree that the repository does not have; empty: it
	// has all.
	Objects string `json:"-"`
	// Known has the files that are known by their prints only: untracked files, files that are too
	// large, and files whose content may not be shown. Partial says that there were more of them.
	Known   map[string]Print `json:"known,omitempty"`
	Partial bool             `json:"partial,omitempty"`
	At      time.Time        `json:"at,omitzero"`
}

var (
	// kept limits the content that a moment has. Files beyond it are known by their prints.
	kept = bounds{file: 4 << 20, all: 32 << 20, files: 5000}
	// compared limits the content that is compared with a moment. Git treats a larger file as
	// binary.
	compared = bounds{file: 64 << 20, all: 256 << 20, files: 50_000}
)

// Snapshot records the work tree. Objects that the repository does not have are written into the
// folder objects.
func (t *Tree) Snapshot(ctx context.Context, objects string) (Moment, error) {
	m := Moment{Objects: objects, Known: make(map[string]Print), At: time.Now().UTC()}
	if err := os.MkdirAll(objects, 0o700); err != nil {
		return Moment{}, err
	}
	g := t.with(objects)
	is, err := t.take(ctx, g, kept)
	if err != nil {
		return Moment{}, err
	}
	said, err := g.run(ctx, "write-tree", "--missing-ok")
	if m.Tree = strings.TrimSpace(string(said)); err == nil && !commitID.MatchString(m.Tree) {
		err = fmt.Errorf("git: invalid tree id %q", m.Tree)
	}
	if err != nil {
		return Moment{}, err
	}
	inside, elsewhere, cut, err := t.untracked(ctx)
	for _, path := range slices.Concat(inside, elsewhere, slices.Collect(maps.Keys(is.untaken))) {
		if p, _, ok := t.print(path); ok {
			m.Known[path] = p
		}
	}
	m.Partial = is.cut || cut
	return m, err
}

// Print identifies the content of the work tree. It is empty if there are too many files. Files
// that are known by size and time only change it whenever they are written.
func (t *Tree) Print(ctx context.Context) (string, error) {
	m, err := t.Snapshot(ctx, t.written())
	if err != nil || m.Partial {
		return "", err
	}
	m.At = time.Time{}
	data, err := json.Marshal(m) // sorts the files
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:]), err
}

// viaLink reports whether a folder above a file is a link: then git does not have the file.
func (t *Tree) viaLink(path string) bool {
	dir := filepath.Dir(filepath.Join(t.Root, path))
	real, err := filepath.EvalSymlinks(dir)
	return err != nil || real != dir
}

// ErrNoMoment is returned if the repository no longer has the commit or tree of a moment.
var ErrNoMoment = errors.New("git: the moment is not known")

// Change is a file that has changed.
type Change struct {
	// with slashes, from the tree's root; a repository that is not tracked has a slash at its end
	Path    string
	From    string // its earlier path, if it was renamed
	Status  Status
	Added   int // lines
	Deleted int
	Binary  bool // it has no lines
	// TooLarge reports that the lines of the file are not counted.
	TooLarge bool
	// Withheld reports that the content may not be shown, because Files does not open the file.
	Withheld bool
	module   bool // a submodule, at another commit
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

// Found is the result of Since.
type Found struct {
	Files   []Change // in the folder that the tree is opened for, sorted by path
	Outside int      // number of changed files outside of that folder
	Cut     bool     // there are more files
}

// Since finds the files that have changed since a moment, committed since or not.
func (t *Tree) Since(ctx context.Context, m Moment) (found Found, err error) {
	tree, err := t.treeOf(ctx, m)
	if err != nil {
		return found, err
	}
	if t.taken, err = t.take(ctx, t.git, compared); err != nil {
		return found, err
	}
	untracked, elsewhere, cut, err := t.untracked(ctx)
	if err != nil {
		return found, err
	}
	var more bool
	if found.Files, more, err = t.inFolder(ctx, m, tree, untracked); err != nil {
		return found, err
	}
	found.Outside, err = t.countOutside(ctx, m, tree, elsewhere)
	found.Cut = t.taken.cut || cut || more
	return found, err
}

// inFolder returns the changed files of the tree's folder.
func (t *Tree) inFolder(ctx context.Context, m Moment, tree string, untracked []string) (all []Change, cut bool, err error) {
	args := slices.Concat(comparing, []string{"--raw", "--numstat", "-z", tree, "--"}, t.pathspec())
	parts, cut, err := t.reading(m).list(ctx, args...)
	if err != nil {
		return nil, false, err
	}
	listed := parseList(parts)
	there := make(map[string]bool)
	for _, c := range listed {
		there[c.Path] = true
	}
	for path, why := range t.taken.untaken {
		if why != outside && !there[path] {
			listed = append(listed, Change{Path: path, Status: Modified})
			there[path] = true
		}
	}
	for _, c := range listed {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if c.Status == Deleted || !t.isKnown(m, c.Path) {
			all = append(all, t.judged(c))
		}
	}
	room := int64(maxCountedAll)
	for _, path := range untracked {
		if ctx.Err() != nil {
			return nil, false, ctx.Err()
		}
		if !there[path] && t.isNew(m, path) {
			all = append(all, t.newFile(path, &room))
		}
	}
	slices.SortStableFunc(all, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return all, cut, nil
}

// judged returns a change without its figures if the content may not be shown or is too large.
func (t *Tree) judged(c Change) Change {
	// a submodule has only a commit id to show
	if c.Status == Deleted || c.module || t.taken.copied[c.Path] {
		return c
	}
	bare := Change{Path: c.Path, From: c.From, Status: c.Status}
	switch why := t.taken.untaken[c.Path]; {
	case why == tooLarge:
		bare.TooLarge = true
		return bare
	// a file may have replaced the folder since
	case why != 0, t.taken.folders[c.Path], !t.mayShow(c.Path):
		bare.Withheld = true
		return bare
	}
	return c
}

// pathspec limits git to the tree's folder. A file that was moved into the folder is then a new
// file.
func (t *Tree) pathspec() []string {
	if t.folder == "." {
		return nil
	}
	return []string{t.folder}
}

// countOutside returns the number of changed files outside of the tree's folder.
func (t *Tree) countOutside(ctx context.Context, m Moment, tree string, untracked []string) (n int, err error) {
	if t.folder == "." {
		return 0, nil
	}
	changed, _, err := t.reading(m).list(ctx, slices.Concat(comparing, []string{"--no-renames", "--name-only", "-z", tree, "--"})...)
	if err != nil {
		return 0, err
	}
	counted := make(map[string]bool)
	for _, path := range slices.AppendSeq(changed, maps.Keys(t.taken.untaken)) {
		if _, inside := t.within(path); !inside && !t.isKnown(m, path) {
			counted[path] = true
		}
	}
	for _, path := range untracked {
		if t.isNew(m, path) {
			counted[path] = true
		}
	}
	return len(counted), nil
}

// isNew reports whether an untracked file is new or has changed since a moment.
func (t *Tree) isNew(m Moment, path string) bool {
	if t.isKnown(m, path) {
		return false
	}
	if !m.Partial {
		return true
	}
	p, _, there := t.print(path)
	// an older file may be one that the moment does not name
	return !there || p.Time >= m.At.UnixNano()
}

// comparing is git's command that compares the copy of the index with a tree, without the programs
// that the repository names. It compares a submodule by its commit only: otherwise git would have
// to run there.
var comparing = []string{"diff", "--cached", "--no-ext-diff", "--no-textconv", "--no-color", "--no-relative",
	"--ignore-submodules=dirty", "--submodule=short", "--find-renames", "-l400", "-O/dev/null"}

// reading returns a caller with the objects of a moment. Its work tree is the folder of the copies,
// because git may read a file of the work tree instead of an object.
func (t *Tree) reading(m Moment) caller {
	if m.Objects == "" {
		return t.amongCopies(t.git)
	}
	return t.amongCopies(t.with(t.written(), m.Objects))
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
	if !known {
		return false
	}
	now, _, there := t.print(path)
	return there && now == was
}

// isModule matches a change whose result is a submodule.
var isModule = lazyregexp.New(`^:\d+ 160000 `)

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
			c := Change{Status: Modified, Path: next(), module: isModule.MatchString(part)}
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
	return all
}
