package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
	"ccbot/internal/wording"
)

// Worktree is a linked work tree that this program has made.
type Worktree struct {
	Dir    string // its top folder, without links
	Of     string // top folder of the repository's first work tree
	Branch string // that was made with it, under its folder's name
	made   time.Time
	admin  string // the repository's own folder about it
}

// ours is the file in a work tree's folder of the repository that marks ccbot as its maker. It is
// written last, and git removes it with the rest.
const ours = "ccbot"

// mostNames limits the folders of work trees next to one repository.
const mostNames = 1000

// AddWorktree makes a work tree next to the repository's that dir is in, named after it with a
// number, with a branch of about that name at a commit; empty: the checked-out one. It reuses an
// earlier one without work that free allows, so that a crash after AddWorktree leaks none. free
// returns an error for a folder that must not be used; after ErrTaken the next number is tried. No
// hook and no filter runs. It returns nil without an error if dir is in no repository, or if there
// is no git.
func AddWorktree(ctx context.Context, dir, commit string, env []string, free func(dir string) error) (*Worktree, error) {
	g, err := open(ctx, dir, env)
	if g == nil || err != nil {
		return nil, err
	}
	head, err := g.run(ctx, "rev-parse", "--quiet", "--verify", cmp.Or(commit, "HEAD")+"^{commit}")
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) && exit.ExitCode() == 1 {
		return nil, ErrNoCommit
	}
	if err != nil {
		return nil, err
	}
	w, err := worktreeAt(g.dir)
	if err != nil {
		return nil, err
	}
	if w != nil {
		if g, err = open(ctx, w.Of, env); g == nil || err != nil {
			return nil, err
		}
	}
	for n := 2; n < mostNames; n++ {
		path := fmt.Sprintf("%s-%d", g.dir, n)
		switch err := free(path); {
		case errors.Is(err, ErrTaken):
			continue
		case err != nil:
			return nil, err
		}
		if w, err := g.addAt(ctx, path, strings.TrimSpace(string(head))); w != nil || err != nil {
			return w, err
		}
	}
	return nil, wording.Errorf("git: there are already %d folders next to %s", mostNames, wording.Path(g.dir))
}

var (
	// ErrTaken says that a folder is used by something else.
	ErrTaken = errors.New("git: the folder is taken")
	// ErrNoCommit says that a repository has nothing yet that could be checked out.
	ErrNoCommit = errors.New("git: the repository has no commit")
)

// addAt makes a work tree at a path, or takes the unused one there; nil: something else is there.
func (g *caller) addAt(ctx context.Context, path, commit string) (*Worktree, error) {
	if err := os.Mkdir(path, 0o755); errors.Is(err, fs.ErrExist) {
		return g.leftover(ctx, path, commit)
	} else if err != nil {
		return nil, err
	}
	name := branchOf(path)
	// and what begins with that and a slash
	used, err := g.run(ctx, "for-each-ref", "--count=1", "refs/heads/"+name)
	if err != nil || len(used) > 0 {
		return nil, errors.Join(err, os.Remove(path))
	}
	if err := g.makeBranch(ctx, name, commit); err != nil {
		return nil, errors.Join(err, os.Remove(path))
	}
	_, err = g.run(ctx, "worktree", "add", "--quiet", "--no-checkout", path, name)
	if err == nil {
		err = checkOut(ctx, path, g.env)
	}
	if err == nil {
		err = claim(path, name)
	}
	if err != nil {
		return nil, errors.Join(err, g.undo(ctx, path, name, commit))
	}
	return FindWorktree(path)
}

// checkOut fills a new work tree. Git is opened in it, because the repository's configuration may
// have filters for this work tree only.
func checkOut(ctx context.Context, path string, env []string) error {
	g, err := open(ctx, path, env)
	if g == nil || err != nil {
		return err
	}
	// No file is marked as unchanged: git would not show its changes.
	_, err = g.run(ctx, "-c", "core.ignoreStat=false", "reset", "--quiet", "--hard", "--no-recurse-submodules")
	return err
}

// leftover returns the work tree at path if this program made it at that commit and nothing has
// changed since.
func (g *caller) leftover(ctx context.Context, path, commit string) (*Worktree, error) {
	w, err := FindWorktree(path)
	if err != nil || w == nil || w.Of != g.dir || w.Dir != path {
		return nil, nil // an unreadable one is not free either
	}
	in := *g
	in.dir = path
	at, err := in.run(ctx, "rev-parse", "HEAD", "--symbolic-full-name", "HEAD")
	if err != nil || string(at) != commit+"\nrefs/heads/"+w.Branch+"\n" {
		return nil, ctx.Err()
	}
	if work, err := w.Work(ctx, g.env); err != nil || work != "" {
		return nil, ctx.Err()
	}
	return w, nil
}

// makeBranch makes a branch that does not exist. A cancelled update could leave it unknown whether
// this call made it, so the call ignores ctx after its start.
func (g *caller) makeBranch(ctx context.Context, name, commit string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), timeout)
	defer cancel()
	_, err := g.run(ctx, "update-ref", "refs/heads/"+name, commit, "")
	return err
}

// dropBranch removes a branch that is still at a commit, unless another work tree uses it.
func (g *caller) dropBranch(ctx context.Context, name, commit string) error {
	at, err := g.run(ctx, "for-each-ref", "--format=%(worktreepath)", "refs/heads/"+name)
	if err != nil || strings.TrimSpace(string(at)) != "" || g.goesOnWith(name) {
		return err
	}
	_, err = g.run(ctx, "update-ref", "-d", "refs/heads/"+name, commit)
	return err
}

// goesOnWith reports whether a rebase or a bisection has begun that ends on a branch: until then no
// branch is checked out there.
func (g *caller) goesOnWith(name string) bool {
	first := filepath.Join(g.dir, ".git")
	folders := []string{first}
	others, _ := os.ReadDir(filepath.Join(first, "worktrees")) // mostly it does not exist
	for _, other := range others {
		folders = append(folders, filepath.Join(first, "worktrees", other.Name()))
	}
	for _, folder := range folders {
		for _, file := range []string{"rebase-merge/head-name", "rebase-apply/head-name", "BISECT_START"} {
			said, err := ownfile.Read(filepath.Join(folder, file), maxComplaint, ownfile.Others)
			if err == nil && strings.TrimPrefix(strings.TrimSpace(string(said)), "refs/heads/") == name {
				return true
			}
		}
	}
	return false
}

// notInBranch matches the characters of a folder's name that are left out of a branch name, because
// git refuses them or takes them for a pattern.
var notInBranch = lazyregexp.New(`[^\pL\pN_-]+`)

// branchOf is the name of the branch that is made with the work tree of a folder.
func branchOf(path string) string {
	return strings.Trim(notInBranch.ReplaceAllString(filepath.Base(path), "-"), "-")
}

// claim notes that this program has made a work tree.
func claim(path, name string) error {
	w, err := worktreeAt(path)
	if err != nil {
		return err
	}
	if w == nil {
		return wording.Errorf("git: no work tree in %s", wording.Path(path))
	}
	return os.WriteFile(filepath.Join(w.admin, ours), []byte(name+"\n"), 0o600)
}

// undoing limits the removal of a failed attempt: many files may be checked out.
const undoing = 20 * time.Second

// undo takes away what a failed attempt has made: the folder, and the branch.
func (g *caller) undo(ctx context.Context, path, branch, commit string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoing)
	defer cancel()
	_, _ = g.run(ctx, "worktree", "remove", "--force", "--force", path)
	err := g.dropBranch(ctx, branch, commit)
	if gone := os.Remove(path); !errors.Is(gone, fs.ErrNotExist) {
		err = errors.Join(err, gone)
	}
	return err
}

// FindWorktree returns the work tree that dir is in, or nil if this program has not made one there.
// A folder with a mere copy of a work tree's .git file does not count: git knows the work tree by
// another path.
func FindWorktree(dir string) (*Worktree, error) {
	w, err := worktreeAt(dir)
	if w == nil || err != nil {
		return nil, err
	}
	known, err := w.knownPath()
	if err != nil || known != w.Dir {
		return nil, unless(err, fs.ErrNotExist)
	}
	file := filepath.Join(w.admin, ours)
	name, err := ownfile.Read(file, maxComplaint, 0)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Stat(file); err == nil {
			w.Branch, w.made = strings.TrimSpace(string(name)), info.ModTime()
			return w, nil
		}
	}
	return nil, unless(err, fs.ErrNotExist)
}

// knownPath returns the folder that git takes for the work tree, and removes if asked to.
func (w *Worktree) knownPath() (string, error) {
	said, err := ownfile.Read(filepath.Join(w.admin, "gitdir"), maxComplaint, 0)
	if err != nil {
		return "", err
	}
	mark := strings.TrimSpace(string(said))
	if !filepath.IsAbs(mark) { // worktree.useRelativePaths, since git 2.48
		mark = filepath.Join(w.admin, mark)
	}
	return filepath.Dir(mark), nil
}

// unless returns err, or nil if err matches one of answers.
func unless(err error, answers ...error) error {
	for _, answer := range answers {
		if errors.Is(err, answer) {
			return nil
		}
	}
	return err
}

// TopOf is the top folder of the work tree that dir is in; empty: it is in none.
func TopOf(dir string) string {
	root, _ := findRoot(dir)
	return root
}

// MainOf returns the top folder of the repository's first work tree if dir is in another one;
// otherwise "".
func MainOf(dir string) string {
	w, err := worktreeAt(dir)
	if w == nil || err != nil || !w.isKnown() {
		return ""
	}
	return w.Of
}

// SameRepository reports whether two folders are in work trees of one repository.
func SameRepository(dir, other string) bool {
	main := func(dir string) string { return cmp.Or(MainOf(dir), TopOf(dir)) }
	return main(dir) != "" && main(dir) == main(other)
}

// worktreeAt returns the linked work tree that dir is in, regardless of its maker.
func worktreeAt(dir string) (*Worktree, error) {
	root, ok := findRoot(dir)
	if !ok {
		_, err := os.Stat(dir)
		return nil, unless(err, fs.ErrNotExist, syscall.ENOTDIR)
	}
	said, err := ownfile.Read(filepath.Join(root, ".git"), maxComplaint, ownfile.Others)
	if err != nil { // mostly it is a folder
		return nil, unless(err, ownfile.ErrForeign, fs.ErrNotExist)
	}
	admin, linked := strings.CutPrefix(strings.TrimSpace(string(said)), "gitdir: ")
	if !filepath.IsAbs(admin) {
		admin = filepath.Join(root, admin)
	}
	worktrees := filepath.Dir(admin)
	first := filepath.Dir(worktrees)
	if !linked || filepath.Base(worktrees) != "worktrees" || filepath.Base(first) != ".git" {
		return nil, nil
	}
	return &Worktree{Dir: root, admin: admin, Of: filepath.Dir(first)}, nil
}

// ErrWork says that there is work in a work tree.
type ErrWork struct{ Work }

func (e ErrWork) Error() string { return "git: the work tree has work in it: " + string(e.Work) }

// Remove removes a work tree and its branch. It returns an ErrWork if there is work in it. Git
// itself checks again for uncommitted changes, and the branch is removed only if it has the
// folder's name, is unchanged, and no other work tree uses it.
func (w *Worktree) Remove(ctx context.Context, env []string) error {
	// git looks there for changes, with what is configured for that work tree
	g, err := open(ctx, w.Dir, env)
	switch {
	case err != nil:
		return err
	case g == nil:
		return wording.Errorf("git: no work tree in %s", wording.Path(w.Dir))
	}
	g.dir = w.Of
	tip, _ := g.run(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+w.Branch)
	work, err := w.Work(ctx, env)
	switch {
	case err != nil:
		return err
	case work != "":
		return ErrWork{work}
	}
	if _, err := g.run(ctx, "worktree", "remove", w.Dir); err != nil {
		return err
	}
	// Otherwise the mark is damaged, or the work tree was moved.
	if id := strings.TrimSpace(string(tip)); commitID.MatchString(id) && w.Branch == branchOf(w.Dir) {
		return g.dropBranch(ctx, w.Branch, id)
	}
	return nil
}

// open returns a caller for the repository that dir is in, with filters and hooks switched off, or
// nil if there is no repository or no git. It refuses a repository whose data is in another folder.
func open(ctx context.Context, dir string, env []string) (g *caller, err error) {
	root, ok := findRoot(dir)
	if !ok {
		return nil, nil
	}
	program, err := exec.LookPath("git")
	if err != nil {
		return nil, nil
	}
	if _, err := folderOf(root); err != nil {
		return nil, err
	}
	g = &caller{program: program, dir: root, env: clean(env)}
	g.options, err = g.programsOff(ctx)
	return g, err
}
