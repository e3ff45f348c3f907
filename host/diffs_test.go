package host

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/diffs"
	"ccbot/bot/port/refusal"
	"ccbot/internal/git"
	"ccbot/internal/session"
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
	if _, err := exec.LookPath("git"); err != nil {
		require.NotEqual(t, "all", os.Getenv("CCBOT_REQUIRE"), "git is missing")
		t.Skip("SKIPPED: git is not installed")
	}
	w := &work{t: t, root: WithoutLinks(t.TempDir()), env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "GIT_CONFIG_NOSYSTEM=1"}}
	w.r = session.Record{ID: uuid.New(), Dir: filepath.Join(w.root, "below")}
	state := WithoutLinks(t.TempDir())
	w.Diffs = Diffs{Records: oneRecord{&w.r}, Moments: Moments{filepath.Join(state, "changes")}, StateDir: state,
		Open: func(ctx context.Context, dir string) (*git.Tree, error) { return git.OpenTree(ctx, dir, w.env) }}
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

func (w *work) mark() diffs.Since {
	w.t.Helper()
	since, err := w.Mark(w.t.Context(), w.r.ID)
	require.NoError(w.t, err)
	return since
}

func (w *work) changes(since diffs.Since) diffs.Changes {
	w.t.Helper()
	c, err := w.Changes(w.t.Context(), w.r.ID, since)
	require.NoError(w.t, err)
	return c
}

func (w *work) refuses(code refusal.Code) {
	w.t.Helper()
	_, err := w.Changes(w.t.Context(), w.r.ID, diffs.SessionStart)
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
	_, err = w.Mark(w.t.Context(), w.r.ID)
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
	_, err = w.Patch(w.t.Context(), w.r.ID, diffs.SessionStart, "below/a")
	assert.Equal(w.t, code, refusal.In(err).Code, "%v", err)
}

func TestDiffs(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	w.file("top", "x\n")
	turn := w.mark()
	assert.Empty(t, w.changes(turn).Files, "what was changed before the turn is no change of the turn")
	w.file("below/a", "two\nthree\n")
	assert.Equal(t, diffs.Changes{Of: turn, Root: w.root, Branch: "main",
		Files: []diffs.File{{Path: "below/a", Kind: diffs.Modified, Added: 1}}}, w.changes(turn))
	assert.Equal(t, diffs.Changes{Of: diffs.SessionStart, Root: w.root, Branch: "main",
		Files: []diffs.File{{Path: "below/a", Kind: diffs.Modified, Added: 2, Deleted: 1}, {Path: "top", Kind: diffs.Untracked, Added: 1}}},
		w.changes(diffs.SessionStart))
	p, err := w.Patch(t.Context(), w.r.ID, turn, "below/a")
	require.NoError(t, err)
	assert.Equal(t, diffs.Patch{File: w.changes(turn).Files[0], Text: "@@ -1 +1,2 @@\n two\n+three\n"}, p)
	_, err = w.Patch(t.Context(), w.r.ID, turn, "top")
	assert.Equal(t, refusal.Unchanged, refusal.In(err).Code)
}

func TestDiffsOfAnotherMomentThanAsked(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	for _, since := range []diffs.Since{"none", "../../x", diffs.Since(uuid.NewString())} {
		assert.Equal(t, diffs.SessionStart, w.changes(since).Of, since)
	}
	turn := w.mark()
	path := filepath.Join(w.Moments.of(w.r.ID), string(turn), momentFile)
	require.NoError(t, os.WriteFile(path, []byte("{"), 0o600))
	assert.Equal(t, diffs.SessionStart, w.changes(turn).Of, "a damaged one")
	w.r.GitStart.Head = strings.Repeat("0", 40)
	assert.Equal(t, diffs.LastCommit, w.changes(turn).Of, "a start that is gone")
	assert.Len(t, w.changes(turn).Files, 1)
	w.r.GitStart = nil
	assert.Equal(t, diffs.LastCommit, w.changes(diffs.SessionStart).Of, "a start that nobody knows")
	w.commit()
	assert.Empty(t, w.changes(diffs.SessionStart).Files)
	w.r.GitStart = &git.State{}
	assert.Len(t, w.changes(diffs.SessionStart).Files, 1, "a start before the first commit")
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
	t.Run("the session is gone", func(t *testing.T) {
		w := newWork(t)
		w.Records = oneRecord{&session.Record{}}
		w.refuses(refusal.NotFound)
	})
	t.Run("git refuses", func(t *testing.T) {
		w := newWork(t)
		w.file(".git/config", "[core\n")
		w.refuses(refusal.GitFailed)
		_, err := w.Changes(t.Context(), w.r.ID, diffs.SessionStart)
		assert.Contains(t, refusal.In(err).Reason, "fatal: bad config")
	})
	t.Run("git is slow", func(t *testing.T) {
		w := newWork(t)
		w.Open = func(context.Context, string) (*git.Tree, error) { return nil, context.DeadlineExceeded }
		w.refuses(refusal.GitSlow)
	})
	t.Run("nobody waits any more", func(t *testing.T) {
		w := newWork(t)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := w.Changes(ctx, w.r.ID, diffs.SessionStart)
		require.ErrorIs(t, err, context.Canceled)
	})
}

// TestP9_DiffsShowNoFileOfCcbot: its folder may lie in a repository.
func TestP9_DiffsShowNoFileOfCcbot(t *testing.T) {
	w := newWork(t)
	w.StateDir = filepath.Join(w.root, "below", ".ccbot")
	w.file("below/.ccbot/ccbot.env", "TOKEN=secret\n")
	w.file("below/.ccbot/alive", "one\n")
	w.git("add", "-f", "below/.ccbot/alive")
	assert.Empty(t, w.changes(diffs.SessionStart).Files)
	for _, path := range []string{"below/.ccbot/ccbot.env", "below/.ccbot/alive"} {
		p, err := w.Patch(t.Context(), w.r.ID, diffs.SessionStart, path)
		assert.Equal(t, refusal.Unchanged, refusal.In(err).Code)
		assert.Empty(t, p.Text)
	}
}

func TestManyChangesAreCut(t *testing.T) {
	w := newWork(t)
	for i := range shownFiles + 5 {
		w.file(fmt.Sprintf("many/%04d", i), "x\n")
	}
	c := w.changes(diffs.SessionStart)
	assert.Len(t, c.Files, shownFiles)
	assert.True(t, c.Cut)
}

func TestMoments(t *testing.T) {
	w := newWork(t)
	var all []diffs.Since
	for range keptMoments + 2 {
		all = append(all, w.mark())
	}
	for i, since := range all {
		_, err := w.Moments.Load(w.r.ID, since)
		assert.Equal(t, i < 2, err != nil, i)
	}
	require.NoError(t, filepath.WalkDir(w.Moments.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && !strings.Contains(path, objectsIn) || filepath.Base(path) == momentFile {
			info, err := d.Info()
			require.NoError(t, err)
			assert.Zero(t, info.Mode().Perm()&0o077, path)
		}
		return err
	}))
	broken := errors.New("broken")
	_, err := w.Moments.Keep(w.r.ID, func(string) (git.Moment, error) { return git.Moment{}, broken })
	require.ErrorIs(t, err, broken)
	left, err := os.ReadDir(w.Moments.of(w.r.ID))
	require.NoError(t, err)
	assert.Len(t, left, keptMoments, "nothing is left of one that failed")

	require.NoError(t, os.MkdirAll(w.Moments.of(uuid.New()), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(w.Moments.Dir, "stray"), 0o700))
	require.NoError(t, w.Moments.Tidy(func(id uuid.UUID) bool { return id == w.r.ID }))
	left, err = os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
	require.NoError(t, w.Moments.Forget(w.r.ID))
	assert.NoDirExists(t, w.Moments.of(w.r.ID))
	require.NoError(t, w.Moments.Forget(w.r.ID))
	require.NoError(t, Moments{filepath.Join(t.TempDir(), "none")}.Tidy(nil))
}
