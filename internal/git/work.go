package git

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"ccbot/internal/lazyregexp"
	"ccbot/internal/wording"
)

// Work is the reason why a work tree must not be removed.
type Work string

// The kinds of work. Ignored files do not count; see HasIgnored.
const (
	Uncommitted Work = "uncommitted" // something is changed, staged or untracked, or another work tree is in it
	Unmerged    Work = "unmerged"    // commits that no other branch, tag or remote branch has
	Unfinished  Work = "unfinished"  // a merge, a rebase, a bisection … has begun
	Stashed     Work = "stashed"     // a stash that was made in it, or may have been
)

// unfinished are the files that git keeps while something is under way.
var unfinished = []string{"MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "BISECT_LOG", "rebase-merge", "rebase-apply", "sequencer"}

// Work returns the kind of work in a work tree, or "".
func (w *Worktree) Work(ctx context.Context, env []string) (Work, error) {
	g, err := open(ctx, w.Dir, env)
	switch {
	case err != nil:
		return "", err
	case g == nil:
		return "", wording.Errorf("git: no work tree in %s", wording.Path(w.Dir))
	}
	for _, file := range unfinished {
		if _, err := os.Lstat(filepath.Join(w.admin, file)); err == nil {
			return Unfinished, nil
		}
	}
	for _, kind := range []struct {
		work Work
		is   func(context.Context, *caller) (bool, error)
	}{{Uncommitted, w.isChanged}, {Stashed, w.isStashed}, {Unmerged, w.isUnmerged}} {
		if is, err := kind.is(ctx, g); is || err != nil {
			return kind.work, err
		}
	}
	return "", nil
}

// remade are the folders that a package manager makes again by itself, and ccbot's own. What a build
// makes is none of them: it may be the result of a night.
var remade = []string{"node_modules", ".venv", "__pycache__", ".ccbot-inbox"}

// HasIgnored reports whether git ignores files in a work tree that nothing makes again by itself.
// The worktrees of this package begin without any.
func (w *Worktree) HasIgnored(ctx context.Context, env []string) (bool, error) {
	g, err := open(ctx, w.Dir, env)
	switch {
	case err != nil:
		return false, err
	case g == nil:
		return false, wording.Errorf("git: no work tree in %s", wording.Path(w.Dir))
	}
	said, err := g.run(ctx, "status", "--porcelain", "-z", "--ignored=matching", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	for line := range bytes.SplitSeq(said, []byte{0}) {
		path, ignored := strings.CutPrefix(string(line), "!! ")
		isRemade := func(folder string) bool { return slices.Contains(remade, folder) }
		if ignored && !slices.ContainsFunc(strings.Split(path, "/"), isRemade) {
			return true, err
		}
	}
	return false, err
}

// isChanged reports whether there is work that no commit has.
func (w *Worktree) isChanged(ctx context.Context, g *caller) (bool, error) {
	for _, other := range Checkouts(w.Of) { // it may be ignored here
		if strings.HasPrefix(other.Dir, w.Dir+string(filepath.Separator)) {
			return true, nil
		}
	}
	// In a submodule git would run what that one has configured. Git removes no work tree that has
	// any.
	said, err := g.run(ctx, "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames", "--ignore-submodules=dirty")
	if err != nil || len(said) > 0 {
		return len(said) > 0, err
	}
	hidden := hiddenFiles{in: w.Dir}
	err = g.runWithInput(ctx, "", &hidden, "ls-files", "-v", "-z")
	return hidden.found, err
}

// hiddenFiles reads the output of "git ls-files -v -z". It finds files whose changes git does not
// show: they are marked as unchanged, or as not checked out.
type hiddenFiles struct {
	in    string
	rest  []byte
	found bool
}

func (h *hiddenFiles) Write(p []byte) (int, error) {
	h.rest = append(h.rest, p...)
	for {
		line, rest, whole := bytes.Cut(h.rest, []byte{0})
		if !whole {
			return len(p), nil
		}
		h.rest = rest
		if tag, path, _ := strings.Cut(string(line), " "); !h.found && (tag == "S" || tag != strings.ToUpper(tag)) {
			_, err := os.Lstat(filepath.Join(h.in, path)) // mostly it is really not checked out
			h.found = unless(err, fs.ErrNotExist, syscall.ENOTDIR) != nil || err == nil
		}
	}
}

// isStashed reports whether there is a stash that may have been made here.
func (w *Worktree) isStashed(ctx context.Context, g *caller) (bool, error) {
	said, err := g.run(ctx, "stash", "list", "--format=%ct %gs")
	return err == nil && w.stashed(string(said)), err
}

// isUnmerged reports whether the removal would lose commits, which may be earlier ones: of HEAD, of
// the branch, or of private refs.
func (w *Worktree) isUnmerged(ctx context.Context, g *caller) (bool, error) {
	tips := []string{"HEAD"}
	if _, err := g.run(ctx, "rev-parse", "--quiet", "--verify", "refs/heads/"+w.Branch); err == nil {
		tips = append(tips, "refs/heads/"+w.Branch)
	}
	var earlier []string
	for _, of := range tips {
		log, cut, err := g.list(ctx, "log", "--walk-reflogs", "-z", "--format=%H %gs", of, "--")
		if cut || err != nil {
			return cut, err
		}
		earlier = append(earlier, notReplaced(log)...)
	}
	private, cut, err := g.list(ctx, "for-each-ref", "--format=%(objectname)%00", "refs/worktree", "refs/bisect", "refs/rewritten")
	if cut || err != nil {
		return cut, err
	}
	for _, id := range private {
		tips = append(tips, strings.TrimSpace(id))
	}
	for _, from := range [][]string{tips, earlier} {
		said := &start{limit: maxOutput}
		if err := g.runWithInput(ctx, strings.Join(from, "\n")+"\n", said, "rev-list", "--max-count=1", "--stdin",
			"--not", "--exclude="+w.Branch, "--branches", "--tags", "--remotes"); err != nil || said.kept.Len() > 0 {
			return err == nil, err
		}
	}
	return false, nil
}

// replaces matches what git notes in a log of HEAD or of a branch for a commit that takes the place
// of the one before: an amended or a rebased one.
var replaces = lazyregexp.New(`^[^:]*\((amend|start|fixup|squash|reword|finish)\): `)

// notReplaced returns the commits of such a log, the newest first, as tips of rev-list. Commits
// that were replaced, and the one that the work tree was made with, are excluded with their
// ancestors.
func notReplaced(log []string) (tips []string) {
	kept := make(map[string]bool)
	replaced := false
	for i, line := range log {
		id, says, _ := strings.Cut(strings.TrimSpace(line), " ")
		first := i == len(log)-1 && says == ""
		switch {
		case first, replaced && !kept[id]:
			tips = append(tips, "^"+id)
		default:
			kept[id] = true
			tips = append(tips, id)
		}
		replaced = replaces.MatchString(says)
	}
	return tips
}

// stashed reports whether one of the stashes, which all work trees of a repository share, may have
// been made here: it names the branch, or no branch at all, or it is younger than the work tree.
func (w *Worktree) stashed(list string) bool {
	for line := range strings.Lines(list) {
		at, says, _ := strings.Cut(strings.TrimSpace(line), " ")
		seconds, err := strconv.ParseInt(at, 10, 64)
		if err != nil || seconds >= w.made.Unix() || strings.Contains(says, " on "+w.Branch+":") ||
			strings.HasPrefix(says, "On "+w.Branch+":") || strings.Contains(says, "(no branch)") {
			return true
		}
	}
	return false
}
