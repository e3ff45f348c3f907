package host

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/git"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// work is a session whose folder is below the top of a repository.
type work struct {
	Diffs
	t    *testing.T
	r    session.Record
	root string
	env  []string
}

type oneRecord struct{ *session.Record }

func (o oneRecord) Get(id uuid.UUID) (session.Record, bool) { return *o.Record, id == o.ID }

func newWork(t *testing.T) *work {
	t.Helper()
	programtest.Require(t, "git")
	w := &work{t: t, root: WithoutLinks(t.TempDir()), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}}
	w.r = session.Record{ID: uuid.New(), Dir: filepath.Join(w.root, "below")}
	state := WithoutLinks(t.TempDir())
	w.Diffs = Diffs{Records: oneRecord{&w.r}, Moments: Moments{filepath.Join(state, "changes")}, Own: Own{Dir: state},
		Open: func(ctx context.Context, dir string, files git.Files) (*git.Tree, error) {
			return git.OpenTree(ctx, dir, files, w.env, w.Moments.Dir)
		}}
	w.git("init", "-q", "-b", "main")
	w.git("config", "user.email", "nobody@localhost")
	w.git("config", "user.name", "nobody")
	w.file("below/a", "one\n")
	w.r.GitStart = &git.State{Head: w.commit()}
	return w
}

func (w *work) git(args ...string) string {
	w.t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = w.root, w.env
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, "git %v: %s", args, out)
	return strings.TrimSpace(string(out))
}

func (w *work) commit() string {
	w.t.Helper()
	w.git("add", "-A")
	w.git("commit", "-q", "-m", "more")
	return w.git("rev-parse", "HEAD")
}

func (w *work) file(name, text string) {
	w.t.Helper()
	path := filepath.Join(w.root, name)
	require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

func (w *work) mark() folders.Since {
	w.t.Helper()
	since, err := w.Snapshot(w.t.Context(), w.r.ID)
	require.NoError(w.t, err)
	return since
}

func (w *work) changes(since folders.Since) folders.Changes {
	w.t.Helper()
	c, err := w.Changes(w.t.Context(), w.r.ID, since)
	require.NoError(w.t, err)
	return c
}

func (w *work) refuses(code refusal.Code) {
	w.t.Helper()
	_, err := w.Changes(w.t.Context(), w.r.ID, folders.SessionStart)
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
	_, err = w.Snapshot(w.t.Context(), w.r.ID)
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
	_, err = w.Patch(w.t.Context(), w.r.ID, folders.SessionStart, "below/a")
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
}

func TestDiffs(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	w.file("below/top", "x\n")
	turn := w.mark()
	assert.Empty(t, w.changes(turn).Files, "what was changed before the turn is no change of the turn")
	w.file("below/a", "two\nthree\n")
	assert.Equal(t, folders.Changes{Of: turn, Root: w.root, Branch: "main",
		Files: []folders.ChangedFile{{Path: "below/a", Kind: folders.Modified, Added: 1}}}, w.changes(turn))
	assert.Equal(t, folders.Changes{Of: folders.SessionStart, Root: w.root, Branch: "main",
		Files: []folders.ChangedFile{{Path: "below/a", Kind: folders.Modified, Added: 2, Deleted: 1}, {Path: "below/top", Kind: folders.Untracked, Added: 1}}},
		w.changes(folders.SessionStart))
	w.git("worktree", "add", "-q", filepath.Join(w.root, "tree"))
	w.r.Dir = filepath.Join(w.root, "tree")
	assert.Equal(t, []string{w.r.Dir, w.root}, []string{w.changes(folders.LastCommit).Root, w.changes(folders.LastCommit).Main})
	w.r.Dir = filepath.Join(w.root, "below")
	p, err := w.Patch(t.Context(), w.r.ID, turn, "below/a")
	require.NoError(t, err)
	assert.Equal(t, folders.Patch{All: w.changes(turn), Text: "@@ -1 +1,2 @@\n two\n+three\n"}, p)
	_, err = w.Patch(t.Context(), w.r.ID, turn, "below/top")
	assert.Equal(t, refusal.Unchanged, refusal.In(err).Code)
}

func TestDiffsOfAnotherMoment(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	for _, since := range []folders.Since{"none", "../../x", folders.Since(uuid.NewString())} {
		assert.Equal(t, folders.SessionStart, w.changes(since).Of, since)
	}
	turn := w.mark()
	path := filepath.Join(w.Moments.of(w.r.ID), string(turn)+momentEnd)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	assert.Equal(t, folders.SessionStart, w.changes(turn).Of, "a damaged one")
	w.r.GitStart.Head = strings.Repeat("0", 40)
	assert.Equal(t, folders.LastCommit, w.changes(turn).Of, "a start that is gone")
	assert.Len(t, w.changes(turn).Files, 1)
	w.r.GitStart = nil
	assert.Equal(t, folders.LastCommit, w.changes(folders.SessionStart).Of, "a start that nobody knows")
	w.commit()
	assert.Empty(t, w.changes(folders.SessionStart).Files)
	w.r.GitStart = &git.State{}
	assert.Len(t, w.changes(folders.SessionStart).Files, 1, "a start before the first commit")
}

func TestDiffsRefuse(t *testing.T) {
	t.Run("no repository", func(t *testing.T) {
		w := newWork(t)
		require.NoError(t, os.RemoveAll(filepath.Join(w.root, ".git")))
		w.refuses(refusal.NoRepository)
	})
	t.Run("the folder is gone", func(t *testing.T) {
		w := newWork(t)
		require.NoError(t, os.RemoveAll(w.r.Dir))
		w.refuses(refusal.DirMissing)
	})
	t.Run("the folder is a file", func(t *testing.T) {
		w := newWork(t)
		require.NoError(t, os.RemoveAll(w.r.Dir))
		require.NoError(t, os.WriteFile(w.r.Dir, nil, 0o600))
		w.refuses(refusal.DirNotADir)
		w.r.Dir = filepath.Join(w.r.Dir, "below")
		w.refuses(refusal.DirNotADir)
	})
	t.Run("the folder becomes a file while git looks", func(t *testing.T) {
		w := newWork(t)
		open := w.Open
		w.Open = func(ctx context.Context, dir string, files git.Files) (*git.Tree, error) {
			assert.NoError(t, os.RemoveAll(w.r.Dir))
			assert.NoError(t, os.WriteFile(w.r.Dir, nil, 0o600))
			return open(ctx, dir, files)
		}
		_, err := w.Changes(t.Context(), w.r.ID, folders.SessionStart)
		assert.Equal(t, refusal.DirNotADir, refusal.In(err).Code, "%v", err)
	})
	t.Run("the folder cannot be read", func(t *testing.T) {
		if os.Geteuid() == 0 {
			return // root reads everything
		}
		w := newWork(t)
		for _, mode := range []os.FileMode{0, 0o100, 0o600} {
			require.NoError(t, os.Chmod(w.r.Dir, mode))
			w.refuses(refusal.DirNoAccess)
		}
		require.NoError(t, os.Chmod(w.r.Dir, 0o700))
	})
	t.Run("the folder goes while git looks", func(t *testing.T) {
		w := newWork(t)
		open := w.Open
		w.Open = func(ctx context.Context, dir string, files git.Files) (*git.Tree, error) {
			w.file("below/a", "one\n")
			tree, err := open(ctx, dir, files)
			assert.NoError(t, os.RemoveAll(w.r.Dir))
			assert.NoError(t, os.Rename(w.root, w.root+".gone"))
			t.Cleanup(func() { assert.NoError(t, os.RemoveAll(w.root+".gone")) })
			return tree, err
		}
		_, err := w.Changes(t.Context(), w.r.ID, folders.SessionStart)
		assert.Equal(t, refusal.DirMissing, refusal.In(err).Code, "%v", err)
	})
	t.Run("the session is gone", func(t *testing.T) {
		w := newWork(t)
		w.Records = oneRecord{&session.Record{}}
		w.refuses(refusal.NotFound)
	})
	t.Run("git refuses", func(t *testing.T) {
		w := newWork(t)
		w.file(".git/config", "[core\n")
		w.refuses(refusal.GitFailed)
		_, err := w.Changes(t.Context(), w.r.ID, folders.SessionStart)
		assert.Contains(t, refusal.In(err).Reason, "fatal: bad config")
	})
	t.Run("git is slow", func(t *testing.T) {
		w := newWork(t)
		w.Open = func(context.Context, string, git.Files) (*git.Tree, error) { return nil, context.DeadlineExceeded }
		w.refuses(refusal.GitSlow)
	})
	t.Run("nobody waits any more", func(t *testing.T) {
		w := newWork(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Changes(ctx, w.r.ID, folders.SessionStart)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// A file that git could not merge is shown as it is on disk, with git's marks.
func TestDiffsDuringMerge(t *testing.T) {
	w := newWork(t)
	w.git("checkout", "-q", "-b", "side")
	w.file("below/a", "side\n")
	w.commit()
	w.git("checkout", "-q", "main")
	w.file("below/a", "main\n")
	w.commit()
	turn := w.mark()
	merge := exec.Command("git", "merge", "side")
	merge.Dir, merge.Env = w.root, w.env
	require.Error(t, merge.Run())
	for since, want := range map[folders.Since]string{
		turn:                 "@@ -1 +1,5 @@\n+<<<<<<< HEAD\n main\n+=======\n+side\n+>>>>>>> side\n",
		folders.SessionStart: "@@ -1 +1,5 @@\n-one\n+<<<<<<< HEAD\n+main\n+=======\n+side\n+>>>>>>> side\n",
	} {
		p, err := w.Patch(t.Context(), w.r.ID, since, "below/a")
		require.NoError(t, err)
		assert.Equal(t, want, p.Text)
		assert.Equal(t, folders.Modified, p.File().Kind)
		assert.Len(t, p.All.Files, 1)
	}
	again := w.mark()
	assert.Empty(t, w.changes(again).Files)
}

// TestP9_DiffsShowNoFileOfCcbot: its folder may be in a repository.
func TestP9_DiffsShowNoFileOfCcbot(t *testing.T) {
	w := newWork(t)
	w.Own.Dir = filepath.Join(w.root, "below", ".ccbot")
	w.file("below/.ccbot/ccbot.env", "TOKEN=secret\n")
	w.file("below/.ccbot/alive", "one\n")
	w.git("add", "-f", "below/.ccbot/alive")
	assert.Empty(t, w.changes(folders.SessionStart).Files)
	for _, path := range []string{"below/.ccbot/ccbot.env", "below/.ccbot/alive"} {
		p, err := w.Patch(t.Context(), w.r.ID, folders.SessionStart, path)
		assert.Equal(t, refusal.Unchanged, refusal.In(err).Code)
		assert.Empty(t, p.Text)
	}
}

func TestManyChangesAreCut(t *testing.T) {
	w := newWork(t)
	for i := range shownFiles + 5 {
		w.file(fmt.Sprintf("below/many/%04d", i), "x\n")
	}
	c := w.changes(folders.SessionStart)
	assert.Len(t, c.Files, shownFiles)
	assert.True(t, c.Cut)
}

// TestP9_AgentSendsFromItsStartAlone: the agent that has gone elsewhere sends from the folder of its start, or from a work tree of the
// same repository. A person gets files of both its folders, and changes of the one in which it works.
func TestP9_AgentSendsFromItsStartAlone(t *testing.T) {
	w := newWork(t)
	side, elsewhere := filepath.Join(w.root, ".claude", "worktrees", "side"), WithoutLinks(t.TempDir())
	w.git("worktree", "add", "-q", side)
	require.NoError(t, os.WriteFile(filepath.Join(side, "b"), []byte("two\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "c"), []byte("three\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(w.root), "d"), []byte("four\n"), 0o600))
	require.NoError(t, os.Symlink(filepath.Join(elsewhere, "c"), filepath.Join(w.root, "below", "link")))
	all := &records{w.r}
	m := &Machine{Records: all, Own: w.Own, Tickets: new(Tickets)}
	for _, tt := range []struct {
		now, path string
		sends     bool
	}{
		{"", filepath.Join(w.r.Dir, "a"), true},
		{side, filepath.Join(side, "b"), true},
		{side, filepath.Join(w.r.Dir, "a"), true},
		{elsewhere, filepath.Join(elsewhere, "c"), false},
		{elsewhere, filepath.Join(w.r.Dir, "link"), false},
		{elsewhere, filepath.Join(w.r.Dir, "a"), true},
		{filepath.Dir(w.root), filepath.Join(w.r.Dir, "a"), true},
		{filepath.Dir(w.root), filepath.Join(filepath.Dir(w.root), "d"), false},
	} {
		all.one.NowDir = tt.now
		if err := m.MaySend(w.r.ID, tt.path); tt.sends {
			assert.NoError(t, err, "%v", tt)
		} else {
			assert.True(t, refusal.Is(err, refusal.FileOutside), "%v: %v", tt, err)
		}
		_, err := m.Open(t.Context(), w.r.ID, tt.path)
		assert.NoError(t, err, "a person may have it: %v", tt)
	}
	w.r.NowDir = side
	c, err := w.Changes(t.Context(), w.r.ID, folders.LastCommit)
	require.NoError(t, err)
	require.Len(t, c.Files, 1)
	assert.Equal(t, "b", c.Files[0].Path)
}
