package git

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"ccbot/internal/ownfile"
)

// Checkout is a work tree of a repository, whoever has made it, and what is checked out there.
type Checkout struct {
	Dir    string // its top folder, without links
	Branch string // empty: none is checked out
}

// BranchIn returns the branch that is checked out in a linked work tree that dir is in; empty: dir
// is in none, or no branch is checked out. It reads a few small files and does not run git.
func BranchIn(dir string) string {
	w, err := worktreeAt(dir)
	if err != nil || w == nil || !w.isKnown() {
		return ""
	}
	return branchAt(w.admin)
}

// Checkouts returns the work trees of the repository that dir is in: the first one, then the others
// by branch. It returns nil if the repository has only one. It omits a folder that is gone or that
// git knows by another path.
func Checkouts(dir string) []Checkout {
	first, ok := findRoot(dir)
	if w, err := worktreeAt(dir); err == nil && w != nil && w.isKnown() {
		first = w.Of
	}
	folder := filepath.Join(first, ".git")
	admins, err := os.ReadDir(filepath.Join(folder, "worktrees"))
	if !ok || err != nil {
		return nil
	}
	var all []Checkout
	for _, admin := range admins[:min(len(admins), mostNames)] {
		w := &Worktree{admin: filepath.Join(folder, "worktrees", admin.Name())}
		known, err := w.knownPath()
		if err != nil {
			continue
		}
		if at, err := worktreeAt(known); err == nil && at != nil && at.Of == first && at.isKnown() {
			all = append(all, Checkout{Dir: at.Dir, Branch: branchAt(at.admin)})
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortFunc(all, func(a, b Checkout) int {
		return cmp.Or(strings.Compare(a.Branch, b.Branch), strings.Compare(a.Dir, b.Dir))
	})
	all = slices.Compact(all) // a folder inside another one that has lost its own .git
	return append([]Checkout{{Dir: first, Branch: branchAt(folder)}}, all...)
}

// isKnown reports whether git knows the work tree by its folder. A copy of a work tree's .git file
// makes no work tree.
func (w *Worktree) isKnown() bool {
	known, err := w.knownPath()
	return err == nil && ownfile.Same(filepath.Join(known, ".git"), filepath.Join(w.Dir, ".git"))
}

// branchAt returns the branch that HEAD names in git's folder of a work tree; empty: none.
func branchAt(folder string) string {
	said, err := ownfile.Read(filepath.Join(folder, "HEAD"), maxComplaint, 0)
	if err != nil {
		return ""
	}
	branch, isBranch := strings.CutPrefix(strings.TrimSpace(string(said)), "ref: refs/heads/")
	if !isBranch {
		return "" // a commit's id
	}
	return branch
}
