package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/internal/ownfile"
	"ccbot/internal/wording"
)

// Tree is the work tree of a repository, opened for one Mark, or for one Since and the Patches
// after it. Git notes its findings in a copy of the index, in a separate folder, and writes objects
// there. So the repository stays as it is.
//
// A tree is opened for a folder in it. Git compares all files with its index, but it reports only
// their names. The content of a file reaches an object or a patch only if the file is in that
// folder and Files opens it: git reads a copy of it.
type Tree struct {
	Root    string // top folder, without links
	folder  string // path of the folder from Root, with slashes; "." is Root
	files   Files
	git     caller
	dir     string // the repository's own folder
	work    string // the folder of the index's copy
	objects string // the repository's own
	empty   string // id of the tree without files
	taken   taken  // by Since
}

// Files opens the files of the folder that a tree is opened for.
type Files interface {
	// Open opens a file for reading if its content may be shown. rel is the path from the folder.
	// At most info.Size() bytes are read.
	Open(rel string) (f *os.File, info fs.FileInfo, err error)
}

const (
	// maxIndex bounds the copy: this is an index of some million files.
	maxIndex = 512 << 20
	// maxList limits the kept output of a list of files.
	maxList = 4 << 20
)

// OpenTree opens the work tree that dir is in, for that folder. It returns nil without an error if
// there is no work tree or no git; a bare repository has none, even if its worktrees are around it.
// files are dir's. env is as for [Compare]. The tree's folder is in work until the tree is closed;
// after a kill the owner of work removes it.
func OpenTree(ctx context.Context, dir string, files Files, env []string, work string) (*Tree, error) {
	g, err := open(ctx, dir, env)
	if g == nil || err != nil {
		return nil, err
	}
	t := &Tree{Root: g.dir, files: files, git: *g}
	if t.folder, err = relativePath(t.Root, dir); err != nil {
		return nil, err
	}
	t.git.env = append(t.git.env, "GIT_LITERAL_PATHSPECS=1")
	said, err := t.git.run(ctx, "rev-parse", "--show-object-format", "--git-path", "objects", "--git-path", "index",
		"--is-bare-repository", "--absolute-git-dir")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(said), "\n"), "\n")
	if len(lines) != 5 {
		return nil, fmt.Errorf("git: the path of the repository in %s has a line end", t.Root)
	}
	if lines[3] == "true" {
		return nil, nil
	}
	t.objects, t.empty, t.dir = t.absolute(lines[1]), emptyTrees[lines[0]], lines[4]
	if err := os.MkdirAll(work, 0o700); err != nil {
		return nil, err
	}
	if t.work, err = os.MkdirTemp(work, "open-"); err != nil {
		return nil, err
	}
	// Git would put a shared index next to the repository's.
	t.git.options = append(t.git.options, "-c", "core.splitIndex=false", "-c", "core.untrackedCache=false", "-c", "core.safecrlf=false",
		"-c", "core.bigFileThreshold=64m", "-c", "core.sharedRepository=0600")
	copied := filepath.Join(t.work, "index")
	t.git.env = append(t.git.env, "GIT_WORK_TREE="+t.Root, "GIT_INDEX_FILE="+copied)
	t.git = t.with(t.written())
	if err = errors.Join(os.Mkdir(t.written(), 0o700), os.Mkdir(t.copies(), 0o700)); err == nil {
		err = copyIndex(t.absolute(lines[2]), copied)
	}
	if err == nil {
		err = t.refresh(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// emptyTrees are the ids of the tree without files, which every repository knows.
var emptyTrees = map[string]string{
	"sha1":   "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
	"sha256": "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
}

// relativePath returns the path of a folder from another one, with slashes.
func relativePath(root, dir string) (string, error) {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	rel, err := filepath.Rel(root, dir)
	return filepath.ToSlash(rel), err
}

// within returns the path of a file from the folder that the tree is opened for, if it is in there.
func (t *Tree) within(path string) (rel string, ok bool) {
	if t.folder == "." {
		return path, true
	}
	return strings.CutPrefix(path, t.folder+"/")
}

// Close removes the copy of the index.
func (t *Tree) Close() error { return os.RemoveAll(t.work) }

// written returns the folder for objects of temporary use.
func (t *Tree) written() string { return filepath.Join(t.work, "objects") }

// copies returns the folder from which git reads the content of changed files.
func (t *Tree) copies() string { return filepath.Join(t.work, "copies") }

func (t *Tree) absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(t.Root, path)
}

// copyIndex copies an index with its time: a file that has changed in the moment in which the index
// was written is known by that.
func copyIndex(from, to string) error {
	f, info, err := ownfile.Open(from, ownfile.Links|ownfile.Others)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // nothing is tracked yet
	case err != nil:
		return err
	}
	defer f.Close()
	if info.Size() > maxIndex {
		return wording.Errorf("git: the index %s is too large", wording.Path(from))
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, f)
	return errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime()))
}

// refresh notes in the copy which files are as they were, whatever their time says.
func (t *Tree) refresh(ctx context.Context) error {
	_, err := t.git.run(ctx, "update-index", "-q", "--unmerged", "--ignore-submodules", "--refresh")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil // some have changed
	}
	return err
}

// Head is the branch that is checked out, empty for none, and the commit, empty before the first
// one.
func (t *Tree) Head(ctx context.Context) (branch, commit string) {
	said, err := t.git.run(ctx, "symbolic-ref", "--quiet", "--short", "HEAD")
	if err == nil {
		branch = strings.TrimSpace(string(said))
	}
	said, err = t.git.run(ctx, "rev-parse", "--quiet", "--verify", "HEAD^{commit}")
	if err == nil {
		commit = strings.TrimSpace(string(said))
	}
	return branch, commit
}

// list returns the NUL-terminated parts of git's output; cut means that there are more.
func (g caller) list(ctx context.Context, args ...string) (parts []string, cut bool, err error) {
	said := &start{limit: maxList}
	if err := g.runWithInput(ctx, "", said, args...); err != nil {
		return nil, false, err
	}
	return said.parts(), said.cut, nil
}

// parts returns the parts that end with NUL. The rest is empty or was cut.
func (s *start) parts() []string {
	parts := strings.Split(s.kept.String(), "\x00")
	return parts[:len(parts)-1]
}

// with is a caller that writes objects into a folder, and finds them in the repository and in more
// folders.
func (t *Tree) with(objects string, more ...string) caller {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	var folders []string
	for _, folder := range append([]string{t.objects}, more...) {
		folders = append(folders, `"`+quoted.Replace(folder)+`"`)
	}
	g := t.git
	g.env = slices.Concat(g.env, []string{"GIT_OBJECT_DIRECTORY=" + objects,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + strings.Join(folders, string(os.PathListSeparator))})
	return g
}

// untracked returns the files that are neither tracked nor ignored, in the tree's folder and
// outside. A repository among them is a folder with a slash at its end.
func (t *Tree) untracked(ctx context.Context) (inside, outside []string, cut bool, err error) {
	said := &sorter{t: t, inside: start{limit: maxList}, outside: start{limit: maxList}}
	if err := t.git.runWithInput(ctx, "", said, "ls-files", "--others", "--exclude-standard", "-z"); err != nil {
		return nil, nil, false, err
	}
	return said.inside.parts(), said.outside.parts(), said.inside.cut || said.outside.cut, nil
}

// sorter keeps the first paths in the tree's folder and the first paths outside, separately: many
// files outside must not displace the files of the folder.
type sorter struct {
	t               *Tree
	inside, outside start
	rest            []byte // the beginning of the next path
}

func (s *sorter) Write(p []byte) (int, error) {
	s.rest = append(s.rest, p...)
	for {
		path, rest, whole := bytes.Cut(s.rest, []byte{0})
		if !whole {
			return len(p), nil
		}
		to := &s.outside
		if _, ok := s.t.within(string(path)); ok {
			to = &s.inside
		}
		_, _ = to.Write(s.rest[:len(path)+1])
		s.rest = rest
	}
}

// Print identifies the content of a file without reading it.
type Print struct {
	Size int64 `json:"size"`
	Time int64 `json:"time"` // of its last change, in nanoseconds
}

// print returns the Print and the mode of a path.
func (t *Tree) print(path string) (p Print, mode fs.FileMode, ok bool) {
	info, err := os.Lstat(filepath.Join(t.Root, path))
	if err != nil {
		return Print{}, 0, false
	}
	return Print{info.Size(), info.ModTime().UnixNano()}, info.Mode(), true
}
