package git

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func anywhere(string) error { return nil }

// inRoom returns a repository with one commit, in a folder with space for others.
func inRoom(t *testing.T) repo {
	t.Helper()
	r := newRepo(t)
	room := r.dir
	r.dir = filepath.Join(room, "api")
	require.NoError(t, os.Mkdir(r.dir, 0o700))
	r.git("init", "-q", "-b", "main")
	r.git("config", "user.email", "nobody@localhost")
	r.git("config", "user.name", "nobody")
	r.commit("a")
	return r
}

func (r repo) add(free func(string) error) *Worktree {
	r.t.Helper()
	w, err := AddWorktree(context.Background(), r.dir, "", r.env, free)
	require.NoError(r.t, err)
	require.NotNil(r.t, w)
	return w
}

// found is the work tree of this program's that a folder is in; nil: none.
func found(t *testing.T, dir string) *Worktree {
	t.Helper()
	w, err := FindWorktree(dir)
	require.NoError(t, err)
	return w
}

// in is a repository as seen from a work tree of it.
func (r repo) in(w *Worktree) repo {
	r.dir = w.Dir
	return r
}

func TestAddWorktreeNextToRepository(t *testing.T) {
	r := inRoom(t)
	w := r.add(anywhere)
	assert.Equal(t, []string{r.dir + "-2", r.dir, "api-2"}, []string{w.Dir, w.Of, w.Branch})
	assert.Equal(t, r.git("rev-parse", "HEAD"), r.in(w).git("rev-parse", "HEAD"))
	assert.FileExists(t, filepath.Join(w.Dir, "a"))
	assert.Equal(t, w, found(t, w.Dir))
	assert.Nil(t, found(t, r.dir), "it is the first one")

	assert.Equal(t, w.Dir, r.add(anywhere).Dir, "who died behind it finds it again")
	taken := func(dir string) error {
		if dir == w.Dir {
			return ErrTaken
		}
		return nil
	}
	assert.Equal(t, r.dir+"-3", r.add(taken).Dir)
	r.in(w).commit("b")
	assert.Equal(t, r.dir+"-4", r.in(w).add(func(dir string) error {
		if dir == r.dir+"-3" {
			return ErrTaken
		}
		return nil
	}).Dir, "made from a work tree, it stands beside the first one")
	assert.FileExists(t, r.dir+"-4/b")
}

func TestWorktreeOfEarlierCommit(t *testing.T) {
	r := inRoom(t)
	first := r.git("rev-parse", "HEAD")
	r.commit("b")
	for range 2 { // the second call finds it
		w, err := AddWorktree(t.Context(), r.dir, first, r.env, anywhere)
		require.NoError(t, err)
		assert.Equal(t, []string{r.dir + "-2", first}, []string{w.Dir, r.in(w).git("rev-parse", "HEAD")})
	}
}

func TestWorktreeOfOddFolderName(t *testing.T) {
	for name, branch := range map[string]string{"my api": "my-api-2", "-x": "x-2", "..a[*].lock": "a-lock-2", "проект": "проект-2", "@{": "2", "a\nb": "a-b-2"} {
		r := inRoom(t)
		dir := filepath.Join(filepath.Dir(r.dir), name)
		require.NoError(t, os.Rename(r.dir, dir))
		r.dir = dir
		w := r.add(anywhere)
		assert.Equal(t, []string{dir + "-2", branch}, []string{w.Dir, w.Branch}, name)
		r.in(w).commit("b")
		require.ErrorIs(t, w.Remove(t.Context(), r.env), ErrWork{Unmerged}, name)
		r.git("merge", "-q", branch)
		require.NoError(t, w.Remove(t.Context(), r.env), name)
	}
}

func TestWorktreeTakesNoForeignName(t *testing.T) {
	r := inRoom(t)
	require.NoError(t, os.Mkdir(r.dir+"-2", 0o700))
	r.git("branch", "api-3")
	r.git("worktree", "add", "-q", r.dir+"-4")
	assert.Equal(t, r.dir+"-5", r.add(anywhere).Dir)
	assert.NoDirExists(t, r.dir+"-3")
	assert.Nil(t, found(t, r.dir+"-4"), "somebody else has made it")
}

func TestFailedWorktreeLeavesNothing(t *testing.T) {
	r := inRoom(t)
	refused := assert.AnError
	_, err := AddWorktree(t.Context(), r.dir, "", r.env, func(string) error { return refused })
	require.ErrorIs(t, err, refused)
	// a file in its place: git fails in the middle
	full := filepath.Join(r.dir, ".git", "worktrees")
	require.NoError(t, os.WriteFile(full, nil, 0o600))
	_, err = AddWorktree(t.Context(), r.dir, "", r.env, anywhere)
	require.Error(t, err)
	assert.NoDirExists(t, r.dir+"-2")
	assert.Equal(t, "* main", r.git("branch", "--list"))
	require.NoError(t, os.Remove(full))
	assert.Equal(t, r.dir+"-2", r.add(anywhere).Dir, "and nothing is in the way of the next")

	none, err := AddWorktree(t.Context(), t.TempDir(), "", r.env, anywhere)
	require.NoError(t, err)
	assert.Nil(t, none)
}

// A kill in the middle leaves a folder that is not marked: it is left alone.
func TestUnmarkedWorktreeIsLeftAlone(t *testing.T) {
	r := inRoom(t)
	w := r.add(anywhere)
	require.NoError(t, os.Remove(filepath.Join(w.admin, ours)))
	assert.Nil(t, found(t, w.Dir))
	assert.Equal(t, r.dir+"-3", r.add(anywhere).Dir)
}

// Another folder gets the .git file of a work tree, whose path becomes a link to that folder. Git
// would empty that folder: it removes the target of the path.
func TestP9_CopiedGitFileIsNoWorktree(t *testing.T) {
	for _, behindLink := range []bool{true, false} {
		r := inRoom(t)
		w := r.add(anywhere)
		others := filepath.Join(filepath.Dir(r.dir), "others")
		require.NoError(t, os.CopyFS(others, os.DirFS(w.Dir)))
		require.NoError(t, os.WriteFile(filepath.Join(others, "b"), nil, 0o600))
		r.file(".git/info/exclude", "b\n")
		if behindLink {
			require.NoError(t, os.Rename(w.Dir, w.Dir+".old"))
			require.NoError(t, os.Symlink(others, w.Dir))
		}
		assert.Equal(t, behindLink, found(t, w.Dir) == nil)
		assert.Nil(t, found(t, others), "behind a link: %t", behindLink)
	}
}

func TestWorktreeRunsNothingFromRepository(t *testing.T) {
	for _, filters := range [][]string{{"clean", "smudge", "process"}, {"smudge"}} {
		r := inRoom(t)
		mine := filepath.Join(t.TempDir(), "ran")
		run := "touch " + mine + "; cat"
		r.file(".gitattributes", "a filter=evil\n")
		r.git("add", "-A")
		r.git("commit", "-q", "-m", "attributes")
		for _, what := range filters {
			r.git("config", "filter.evil."+what, run)
		}
		r.git("config", "core.fsmonitor", run)
		r.file(".git/hooks/post-checkout", "#!/bin/sh\n"+run+"\n")
		require.NoError(t, os.Chmod(filepath.Join(r.dir, ".git/hooks/post-checkout"), 0o700))
		r.git("config", "hook.evil.command", run)
		for _, event := range []string{"post-checkout", "reference-transaction", "post-index-change"} {
			r.git("config", "--add", "hook.evil.event", event)
		}
		require.NoError(t, os.RemoveAll(mine)) // git itself has run a hook
		w := r.add(anywhere)
		assert.NoFileExists(t, mine, filters)
		require.NoError(t, w.Remove(t.Context(), r.env))
		assert.NoFileExists(t, mine, filters)
	}
}

// A repository may have a configuration for its linked work trees only, and a submodule has a
// separate one.
func TestP9_WorktreeRunsNothingFromOwnConfiguration(t *testing.T) {
	r := inRoom(t)
	sub := r
	sub.dir = filepath.Join(filepath.Dir(r.dir), "sub")
	require.NoError(t, os.Mkdir(sub.dir, 0o700))
	sub.git("init", "-q", "-b", "main")
	sub.git("config", "user.email", "nobody@localhost")
	sub.git("config", "user.name", "nobody")
	sub.file(".gitattributes", "* filter=evil\n")
	sub.commit("b")
	r.file(".gitattributes", "* filter=evil\n")
	r.commit("c")
	mine := filepath.Join(t.TempDir(), "ran")
	evil := "[filter \"evil\"]\n\tclean = \"touch " + mine + "; cat\"\n\tsmudge = \"touch " + mine + "; cat\"\n"
	r.file(".git/evil", evil)
	r.git("config", "includeIf.gitdir:**/worktrees/**.path", "evil")
	w := r.add(anywhere)
	assert.NoFileExists(t, mine, "it was filled")
	assert.FileExists(t, filepath.Join(w.Dir, "a"))

	touch := func(path string) {
		t.Helper()
		require.NoError(t, os.Chtimes(path, time.Now(), time.Now())) // git reads it
	}
	touch(filepath.Join(w.Dir, "a"))
	require.NoError(t, w.Remove(t.Context(), r.env))
	assert.NoFileExists(t, mine, "it was removed")

	r.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", sub.dir, "sub")
	r.git("commit", "-q", "-m", "sub")
	w = r.add(anywhere)
	in := r.in(w)
	in.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init")
	in.dir = filepath.Join(w.Dir, "sub")
	in.git("config", "filter.evil.clean", "touch "+mine+"; cat")
	touch(filepath.Join(in.dir, "b"))
	work, err := w.Work(t.Context(), r.env)
	require.NoError(t, err)
	assert.Empty(t, work)
	in.file("new", "work\n")
	require.Error(t, w.Remove(t.Context(), r.env))
	assert.NoFileExists(t, mine, "a submodule was looked at")
	assert.FileExists(t, filepath.Join(in.dir, "new"))
}

// A stash may be signed, and the program that proves signatures is configured.
func TestP9_WorkRunsNothingForStashes(t *testing.T) {
	r := inRoom(t)
	w := r.add(anywhere)
	mine := filepath.Join(t.TempDir(), "ran")
	r.file("prove", "#!/bin/sh\ntouch "+mine+"\n")
	require.NoError(t, os.Chmod(filepath.Join(r.dir, "prove"), 0o700))
	r.git("config", "gpg.program", filepath.Join(r.dir, "prove"))
	r.git("config", "log.showSignature", "true")
	head := "\nparent " + r.git("rev-parse", "HEAD")
	r.file("signed", "tree "+r.git("rev-parse", "HEAD^{tree}")+head+head+
		"\nauthor nobody <nobody@localhost> 1700000000 +0000\ncommitter nobody <nobody@localhost> 1700000000 +0000"+
		"\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n abc\n -----END PGP SIGNATURE-----\n\nstash\n")
	r.git("stash", "store", "-m", "WIP on main: a", r.git("hash-object", "-t", "commit", "-w", "signed"))
	work, err := w.Work(t.Context(), r.env)
	require.NoError(t, err)
	assert.Empty(t, work, "it is of another branch, and older")
	assert.NoFileExists(t, mine)
}

// A leftover work tree is reused only if it is unchanged.
func TestUnchangedLeftoverIsReused(t *testing.T) {
	tests := []struct {
		name string
		do   func(r, in repo)
		want string
	}{
		{"nothing has happened", func(repo, repo) {}, "-2"},
		{"the repository has gone on", func(r, _ repo) { r.commit("b") }, "-3"},
		{"another branch is checked out", func(_, in repo) { in.git("checkout", "-q", "-b", "other") }, "-3"},
		{"no branch is checked out", func(_, in repo) { in.git("checkout", "-q", "--detach") }, "-3"},
		{"there is work in it", func(_, in repo) { in.file("b", "") }, "-3"},
		{"it cannot be read", func(_, in repo) {
			mark := filepath.Join(found(in.t, in.dir).admin, ours)
			require.NoError(in.t, os.Remove(mark))
			require.NoError(in.t, os.Mkdir(mark, 0o700))
		}, "-3"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := inRoom(t)
			tt.do(r, r.in(r.add(anywhere)))
			assert.Equal(t, r.dir+tt.want, r.add(anywhere).Dir)
		})
	}
}

func TestUnreadableWorktreeIsError(t *testing.T) {
	r := inRoom(t)
	w := r.add(anywhere)
	mark := filepath.Join(w.admin, ours)
	require.NoError(t, os.Remove(mark))
	require.NoError(t, os.Mkdir(mark, 0o700)) // damaged
	_, err := FindWorktree(w.Dir)
	require.Error(t, err)
	require.NoError(t, os.Remove(mark))
	assert.Nil(t, found(t, w.Dir), "somebody else has made it")
	assert.Nil(t, found(t, filepath.Join(w.Dir, "a", "in-a-file")))
	assert.Nil(t, found(t, r.dir+"-9"))
	assert.Nil(t, found(t, t.TempDir()))
}

// The name in a damaged mark is not that of the branch that was made with the work tree.
func TestRemoveDropsOnlyOwnBranch(t *testing.T) {
	r := inRoom(t)
	r.git("branch", "release")
	for _, named := range []string{"release", ""} {
		w := r.add(anywhere)
		require.NoError(t, os.WriteFile(filepath.Join(w.admin, ours), []byte(named+"\n"), 0o600))
		require.NoError(t, found(t, w.Dir).Remove(t.Context(), r.env))
		assert.Equal(t, "api-2\nmain\nrelease", r.git("branch", "--format=%(refname:short)"), named)
		r.git("branch", "-D", "api-2")
	}
}

func TestMainOf(t *testing.T) {
	r := inRoom(t)
	r.git("worktree", "add", "-q", r.dir+"-2")
	assert.Equal(t, r.dir, MainOf(r.dir+"-2"))
	assert.Empty(t, MainOf(r.dir))
	assert.Empty(t, MainOf(r.dir+"-3"))
	forged := t.TempDir()
	for _, of := range []string{filepath.Join(r.dir, ".git", "worktrees", filepath.Base(r.dir)+"-2"), "/src/other/.git/worktrees/w"} {
		require.NoError(t, os.WriteFile(filepath.Join(forged, ".git"), []byte("gitdir: "+of+"\n"), 0o600))
		assert.Empty(t, MainOf(forged), "git knows no work tree in this folder")
	}
}

func TestRepositoryWithoutCommitHasNoWorktree(t *testing.T) {
	r := newRepo(t)
	r.git("init", "-q")
	_, err := AddWorktree(t.Context(), r.dir, "", r.env, anywhere)
	require.ErrorIs(t, err, ErrNoCommit)
}

// A branch that another work tree uses is not taken from it.
func TestBranchInUseIsKept(t *testing.T) {
	tests := []struct {
		name string
		do   func(r, other repo)
	}{
		{"checked out", func(repo, repo) {}},
		{"in a rebase", func(_, other repo) {
			other.git("checkout", "-q", "--detach")
			folder := filepath.Join(other.git("rev-parse", "--absolute-git-dir"), "rebase-merge")
			require.NoError(other.t, os.Mkdir(folder, 0o700))
			require.NoError(other.t, os.WriteFile(filepath.Join(folder, "head-name"), []byte("refs/heads/api-2\n"), 0o600))
		}},
		{"in a bisection", func(_, other repo) { other.git("bisect", "start"); other.git("checkout", "-q", "--detach") }},
		{"checked out in the first one", func(r, other repo) {
			other.git("checkout", "-q", "--detach")
			r.git("checkout", "-q", "api-2")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := inRoom(t)
			w := r.add(anywhere)
			r.in(w).git("checkout", "-q", "--detach")
			other := r
			other.dir = filepath.Join(filepath.Dir(r.dir), "other")
			r.git("worktree", "add", "-q", other.dir, w.Branch)
			tt.do(r, other)
			require.NoError(t, w.Remove(t.Context(), r.env))
			assert.NoDirExists(t, w.Dir)
			assert.NotEmpty(t, r.git("branch", "--list", w.Branch))
		})
	}
}

// A failed attempt takes away the branch that it has made, and no other one.
func TestFailedAttemptKeepsForeignBranches(t *testing.T) {
	r := inRoom(t)
	r.git("branch", "api-2/deep") // git refuses a branch api-2 then
	assert.Equal(t, r.dir+"-3", r.add(anywhere).Dir)
	assert.NoDirExists(t, r.dir+"-2")

	g, err := open(t.Context(), r.dir, r.env)
	require.NoError(t, err)
	commit := r.git("rev-parse", "HEAD")
	r.git("branch", "mine")
	require.Error(t, g.makeBranch(t.Context(), "mine", commit), "it is somebody's")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, g.makeBranch(over, "late", commit), context.Canceled)
	require.NoError(t, g.makeBranch(t.Context(), "made", commit))
	r.commit("b")
	r.git("branch", "-f", "made")
	require.Error(t, g.undo(t.Context(), r.dir+"-9", "made", commit), "somebody has gone on with it")
	assert.Equal(t, r.git("rev-parse", "HEAD"), r.git("rev-parse", "made"))
	require.NoError(t, g.undo(over, r.dir+"-9", "mine", commit))
	assert.Empty(t, r.git("branch", "--list", "mine"), "it is gone also where nobody waits any more")
}

// Any kind of work keeps its work tree.
func TestWorktreeWithWorkIsKept(t *testing.T) {
	tests := []struct {
		name string
		do   func(r, in repo)
		want Work
	}{
		{"a changed file", func(_, in repo) { in.file("a", "two\n") }, Uncommitted},
		{"a staged file", func(_, in repo) { in.file("a", "two\n"); in.git("add", "-A") }, Uncommitted},
		{"an untracked file", func(_, in repo) { in.file("b", "") }, Uncommitted},
		{"an untracked file in a folder, hidden by the configuration", func(_, in repo) {
			in.git("config", "status.showUntrackedFiles", "no")
			in.file("b/c", "")
		}, Uncommitted},
		{"a removed file", func(_, in repo) { require.NoError(in.t, os.Remove(filepath.Join(in.dir, "a"))) }, Uncommitted},
		{"a changed file that is marked as unchanged", func(_, in repo) {
			in.git("update-index", "--assume-unchanged", "a")
			in.file("a", "two\n")
		}, Uncommitted},
		{"a changed file that is marked as not checked out", func(_, in repo) {
			in.git("update-index", "--skip-worktree", "a")
			in.file("a", "two\n")
		}, Uncommitted},
		{"a changed file where all are marked as unchanged", func(_, in repo) {
			in.git("config", "core.ignoreStat", "true")
			require.NoError(in.t, os.Remove(filepath.Join(in.dir, "a")))
			in.git("reset", "-q", "--hard")
			in.file("a", "two\n")
		}, Uncommitted},
		{"another work tree in an ignored folder", func(r, in repo) {
			r.file(".git/info/exclude", "b\n")
			in.git("worktree", "add", "-q", filepath.Join(in.dir, "b", "c"))
		}, Uncommitted},
		{"a commit", func(_, in repo) { in.commit("b") }, Unmerged},
		{"a commit that was reset away", func(_, in repo) { in.commit("b"); in.git("reset", "-q", "--hard", "HEAD~1") }, Unmerged},
		{"a commit that was amended and then reset away", func(_, in repo) {
			in.commit("b")
			in.git("commit", "-q", "--amend", "-m", "c")
			in.git("reset", "-q", "--hard", "HEAD~1")
		}, Unmerged},
		{"a commit on no branch, which was left", func(_, in repo) {
			in.git("checkout", "-q", "--detach")
			in.commit("b")
			in.git("checkout", "-q", "api-2")
		}, Unmerged},
		{"a commit that its branch had elsewhere", func(r, in repo) {
			in.git("checkout", "-q", "--detach")
			r.git("checkout", "-q", "api-2")
			r.commit("b")
			r.git("reset", "-q", "--hard", "HEAD~1")
			r.git("checkout", "-q", "main")
		}, Unmerged},
		{"a commit that was rebased, brought back and then reset away", func(r, in repo) {
			in.commit("b")
			r.commit("c")
			in.git("rebase", "-q", "main")
			in.git("reset", "-q", "--hard", "ORIG_HEAD")
			in.git("reset", "-q", "--hard", "main")
		}, Unmerged},
		{"a commit that a private ref has", func(_, in repo) {
			in.commit("b")
			in.git("update-ref", "refs/worktree/keep", "HEAD")
			in.git("reset", "-q", "--hard", "HEAD~1")
			require.NoError(in.t, os.RemoveAll(filepath.Join(found(in.t, in.dir).admin, "logs")))
			require.NoError(in.t, os.RemoveAll(filepath.Join(found(in.t, in.dir).Of, ".git", "logs")))
		}, Unmerged},
		{"a commit on no branch", func(_, in repo) { in.git("checkout", "-q", "--detach"); in.commit("b") }, Unmerged},
		{"a commit on its branch, which is not checked out", func(_, in repo) {
			in.commit("b")
			in.git("checkout", "-q", "--detach", "main")
		}, Unmerged},
		{"a stash", func(_, in repo) { in.file("a", "two\n"); in.git("stash", "-q") }, Stashed},
		{"a stash with a name", func(_, in repo) { in.file("a", "two\n"); in.git("stash", "push", "-q", "-m", "later") }, Stashed},
		{"a stash of no branch", func(_, in repo) {
			in.git("checkout", "-q", "--detach")
			in.file("a", "two\n")
			in.git("stash", "-q")
		}, Stashed},
		{"a bisection", func(_, in repo) { in.git("bisect", "start") }, Unfinished},
		{"a rebase that has stopped", func(_, in repo) {
			require.NoError(in.t, os.Mkdir(filepath.Join(found(in.t, in.dir).admin, "rebase-merge"), 0o700))
		}, Unfinished},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := inRoom(t)
			w := r.add(anywhere)
			tt.do(r, r.in(w))
			got, err := w.Work(t.Context(), r.env)
			require.NoError(t, err)
			assert.Equal(t, tt.want, got)
			require.ErrorIs(t, w.Remove(t.Context(), r.env), ErrWork{tt.want})
			assert.DirExists(t, w.Dir)
			assert.NotEmpty(t, r.git("branch", "--list", w.Branch))
		})
	}
}

func TestWorktreeWithoutWorkIsRemoved(t *testing.T) {
	tests := []struct {
		name string
		do   func(r, in repo)
	}{
		{"nothing", func(repo, repo) {}},
		{"an ignored file", func(r, in repo) { r.file(".git/info/exclude", "b\n"); in.file("b", "") }},
		{"a commit that another branch has", func(r, in repo) { in.commit("b"); r.git("merge", "-q", in.git("rev-parse", "HEAD")) }},
		{"a commit that was amended and rebased, and that another branch has", func(r, in repo) {
			in.commit("b")
			in.commit("c")
			in.git("commit", "-q", "--amend", "-m", "d")
			r.commit("e")
			in.git("rebase", "-q", "main")
			r.git("merge", "-q", "--ff-only", "api-2")
		}},
		{"a first commit that its branch has left, like every other branch", func(r, in repo) {
			r.git("commit", "-q", "--amend", "-m", "b")
			in.git("reset", "-q", "--hard", "main")
		}},
		{"a file that is not checked out", func(_, in repo) {
			in.git("update-index", "--skip-worktree", "a")
			require.NoError(in.t, os.Remove(filepath.Join(in.dir, "a")))
		}},
		{"no log", func(_, in repo) {
			require.NoError(in.t, os.RemoveAll(filepath.Join(found(in.t, in.dir).admin, "logs")))
		}},
		{"a commit that a tag has", func(_, in repo) { in.commit("b"); in.git("tag", "v1") }},
		{"another branch that is checked out, with a commit", func(_, in repo) { in.git("checkout", "-q", "-b", "other"); in.commit("b") }},
		{"no branch of its own any more", func(_, in repo) {
			in.git("checkout", "-q", "--detach")
			in.git("branch", "-D", "api-2")
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := inRoom(t)
			w := r.add(anywhere)
			tt.do(r, r.in(w))
			require.NoError(t, w.Remove(t.Context(), r.env))
			assert.NoDirExists(t, w.Dir)
			assert.Empty(t, r.git("branch", "--list", w.Branch))
			assert.Equal(t, r.dir+"-2", r.add(anywhere).Dir, "nothing of it is in the way")
		})
	}
}

// TestIgnoredFilesAreFound: a data base, a build or secrets, in whatever folder, but not what a
// package manager makes again.
func TestIgnoredFilesAreFound(t *testing.T) {
	for _, tt := range []struct {
		name, file string
		want       bool
	}{
		{"nothing", "", false},
		{"secrets", ".env", true},
		{"a data base below", "web/data/db.sqlite", true},
		{"a build", "dist/app", true},
		{"packages", "node_modules/a/index.js", false},
		{"packages below", "web/node_modules/a/index.js", false},
		{"an environment", ".venv/bin/python", false},
		{"compiled Python", "web/__pycache__/a.pyc", false},
		{"files from the chat", ".ccbot-inbox/a.png", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := inRoom(t)
			r.file(".git/info/exclude", ".env\ndata/\ndist\nnode_modules/\n.venv\n*.pyc\n.ccbot-inbox\n")
			w := r.add(anywhere)
			if tt.file != "" {
				require.NoError(t, os.MkdirAll(filepath.Join(w.Dir, filepath.Dir(tt.file)), 0o700))
				require.NoError(t, os.WriteFile(filepath.Join(w.Dir, tt.file), []byte("x"), 0o600))
			}
			has, err := w.HasIgnored(t.Context(), r.env)
			require.NoError(t, err)
			assert.Equal(t, tt.want, has)
		})
	}
}

// TestNewWorktreeHidesNoChanges: git is asked to mark no file as unchanged, whatever is configured.
func TestNewWorktreeHidesNoChanges(t *testing.T) {
	r := inRoom(t)
	r.git("config", "core.ignoreStat", "true")
	w := r.add(anywhere)
	assert.Equal(t, "H a", r.in(w).git("ls-files", "-v"))
	require.NoError(t, w.Remove(t.Context(), r.env))
}

func TestEarlierStashDoesNotCount(t *testing.T) {
	made := time.Unix(1_000_000, 0)
	for _, tt := range []struct {
		name, list string
		want       bool
	}{
		{"none", "", false},
		{"of another branch, before", "999999 WIP on main: 123 a\n", false},
		{"of another branch, since", "1000000 WIP on main: 123 a\n", true},
		{"of this branch, by a clock that was set back", "5 WIP on api-2: 123 a\n", true},
		{"of this branch, named", "5 On api-2: later\n", true},
		{"of a branch that begins like it", "5 WIP on api-22: 123 a\n", false},
		{"of no branch", "5 WIP on (no branch): 123 a\n", true},
		{"not to be read", "x", true},
		{"one of several", "5 WIP on main: 1 a\n1000001 On main: b\n", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, (&Worktree{Branch: "api-2", made: made}).stashed(tt.list))
		})
	}
}

// TestP9_WorktreeFollowsNoLinkOfGit makes work trees in repositories whose .git was unpacked from
// an archive. Git would follow the links in it, and append to a file of the person what the
// configuration has as their name.
func TestP9_WorktreeFollowsNoLinkOfGit(t *testing.T) {
	for _, tt := range []struct{ name, link, to string }{
		{"the log of the branch", ".git/logs/refs/heads/api-2", "profile"},
		{"the logs of branches", ".git/logs/refs/heads", ""},
		{"the log of HEAD", ".git/logs/HEAD", "profile"},
		{"all logs", ".git/logs", ""},
		{"all work trees", ".git/worktrees", ""},
		{"a branch", ".git/refs/heads/api-3", "profile"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, outside := inRoom(t), t.TempDir()
			r.git("config", "core.logAllRefUpdates", "always")
			r.git("config", "user.name", "$(touch ran)")
			profile := filepath.Join(outside, "profile")
			require.NoError(t, os.WriteFile(profile, []byte("mine\n"), 0o600))
			require.NoError(t, os.RemoveAll(filepath.Join(r.dir, tt.link)))
			r.link(filepath.Join(outside, tt.to), tt.link)

			_, err := AddWorktree(t.Context(), r.dir, "", r.env, anywhere)
			require.ErrorIs(t, err, errElsewhere)
			assert.NoDirExists(t, r.dir+"-2")
			requireOnly(t, profile)
		})
	}
}

// requireOnly requires that a file is as it was made, and alone in its folder.
func requireOnly(t *testing.T, file string) {
	t.Helper()
	is, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "mine\n", string(is))
	entries, err := os.ReadDir(filepath.Dir(file))
	require.NoError(t, err)
	require.Len(t, entries, 1)
}

// TestP9_WorktreeIsFilledInItsFolder makes work trees in repositories whose configuration names
// another folder for them, in which git would overwrite files.
func TestP9_WorktreeIsFilledInItsFolder(t *testing.T) {
	for _, file := range []string{"config", "config.worktree", "included"} {
		t.Run(file, func(t *testing.T) {
			r, mine := inRoom(t), filepath.Join(t.TempDir(), "a")
			require.NoError(t, os.WriteFile(mine, []byte("mine\n"), 0o600))
			r.git("config", "extensions.worktreeConfig", "true")
			r.git("config", "include.path", "included")
			r.git("config", "--file", filepath.Join(r.dir, ".git", file), "core.worktree", filepath.Dir(mine))

			w := r.add(anywhere)
			assert.FileExists(t, filepath.Join(w.Dir, "a"))
			requireOnly(t, mine)
			require.NoError(t, w.Remove(t.Context(), r.env))
			assert.NoDirExists(t, w.Dir)
			requireOnly(t, mine)
		})
	}
}
