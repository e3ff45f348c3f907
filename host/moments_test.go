package host

import (
	"bufio"
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

	"ccbot/internal/gauge"
	"ccbot/internal/git"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/news"
)

func TestMoments(t *testing.T) {
	w := newWork(t)
	require.NoError(t, os.MkdirAll(filepath.Join(w.Moments.of(w.r.ID), "of an older program"), 0o700))
	var all []folders.Since
	for range keptMoments + 2 {
		all = append(all, w.mark())
	}
	for i, since := range all {
		_, err := w.Moments.Load(w.r.ID, since)
		assert.Equal(t, i < 2, err != nil, i)
	}
	require.NoError(t, filepath.WalkDir(w.Moments.Dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && (filepath.Base(path) == objectsIn || !strings.Contains(path, objectsIn)) {
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
	assert.Len(t, left, keptMoments+2, "the moments, their objects and their size")

	require.NoError(t, os.MkdirAll(w.Moments.of(uuid.New()), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(w.Moments.Dir, "stray"), 0o700))
	require.NoError(t, w.Moments.Tidy(func(id uuid.UUID) bool { return id == w.r.ID }))
	left, err = os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	assert.Len(t, left, 1)
	require.NoError(t, w.Moments.Forget(w.r.ID))
	left, err = os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, w.Moments.Forget(w.r.ID))
	require.NoError(t, Moments{filepath.Join(t.TempDir(), "none")}.Tidy(nil))
}

// Objects that a moment shares with an earlier one are on disk once, and each moment still shows
// its own changes.
func TestMomentsShareTheirObjects(t *testing.T) {
	w := newWork(t)
	var large strings.Builder
	for i := range 20_000 {
		fmt.Fprintln(&large, uuid.NewSHA1(uuid.Nil, []byte(fmt.Sprint(i))))
	}
	w.file("below/large", "x\n")
	w.commit()
	w.file("below/large", large.String())
	w.file("below/a", "0\n")
	first := w.mark()
	one := int64(gauge.Files(w.Moments.Dir))
	require.Greater(t, one, int64(100_000))
	for i := range 5 {
		w.file("below/a", fmt.Sprintln(i+1))
		w.mark()
	}
	assert.Less(t, int64(gauge.Files(w.Moments.Dir)), one*11/10)
	p, err := w.Patch(t.Context(), w.r.ID, first, "below/a")
	require.NoError(t, err)
	assert.Equal(t, "@@ -1 +1 @@\n-0\n+5\n", p.Text)
	assert.Len(t, p.All.Files, 1)
}

// If there is no room, the session with the most forgets its moments, and its changes are those
// since its start.
func TestMomentsHaveBoundsTogether(t *testing.T) {
	w := newWork(t)
	w.file("below/a", "two\n")
	large := w.mark()
	grow := func() {
		t.Helper()
		path := filepath.Join(w.Moments.of(w.r.ID), objectsIn, "large")
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.NoError(t, os.Truncate(path, maxMoments))
	}
	grow()
	other := uuid.New()
	keep := func() folders.Since {
		t.Helper()
		since, err := w.Moments.Keep(other, func(objects string) (git.Moment, error) {
			return git.Moment{}, os.MkdirAll(objects, 0o700)
		})
		require.NoError(t, err)
		return since
	}
	keep()
	assert.Equal(t, large, w.changes(large).Of, "what was noted after the last moment counts: nothing was looked through")
	next := w.mark()
	small := keep()
	assert.Equal(t, folders.SessionStart, w.changes(next).Of)
	assert.Equal(t, folders.SessionStart, w.changes(large).Of)
	again := w.mark()
	assert.Equal(t, again, w.changes(again).Of)
	keep()
	assert.Equal(t, again, w.changes(again).Of, "there is room")
	_, err := w.Moments.Load(other, small)
	require.NoError(t, err)

	grow()
	require.NoError(t, os.WriteFile(filepath.Join(w.Moments.of(w.r.ID), sizeIn), []byte("-1"), 0o600))
	keep()
	assert.Equal(t, folders.SessionStart, w.changes(again).Of, "a note that cannot be is none")
}

type hears func(r port.Session)

func (h hears) SessionNews(_ context.Context, r port.Session, _ news.News) error { h(r); return nil }

// oneRecords lists the session of a oneRecord.
type oneRecords struct{ oneRecord }

func (o oneRecords) Shared() []session.Record { return []session.Record{*o.Record} }

// unattached has no windows.
type unattached struct{ Lifecycle }

func (unattached) Attach(session.Record) string { return "" }

// A session that has been archived keeps no moments; an old card shows what has changed since its
// start.
func TestArchivedSessionHasNoMoments(t *testing.T) {
	w := newWork(t)
	turn := w.mark()
	statuses := 0
	tell := News{Sessions: &Sessions{Terminals: Terminals{Agents: agents, Lifecycle: unattached{}, Records: oneRecords{oneRecord{&w.r}}}}, Moments: w.Moments, Chat: hears(func(port.Session) {
		assert.Equal(t, turn, w.changes(turn).Of, "who hears it may look once more")
		statuses++
	})}
	for _, state := range []session.State{session.Running, session.Lost, session.Archived} {
		w.r.State = state
		require.NoError(t, tell.SessionNews(t.Context(), tell.View(w.r), news.Lost{}))
		assert.Equal(t, state == session.Archived, w.changes(turn).Of == folders.SessionStart, state)
	}
	assert.Equal(t, 3, statuses)
	late := tell.View(w.r)
	w.r.State = session.Running
	turn = w.mark()
	require.NoError(t, tell.SessionNews(t.Context(), late, news.Lost{}), "it was brought back before the chat had the news")
	assert.Equal(t, turn, w.changes(turn).Of)
	require.NoError(t, w.Moments.Forget(w.r.ID))
	left, err := os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

// The next start removes everything that a kill during a call of git leaves.
func TestP8_KillLeavesNoTree(t *testing.T) {
	if dir := os.Getenv("CCBOT_TEST_OPEN_TREE"); dir != "" {
		_, err := git.OpenTree(context.Background(), dir, nil, os.Environ(), os.Getenv("CCBOT_TEST_WORK"))
		fmt.Println("open:", err)
		select {}
	}
	w := newWork(t)
	temporary := t.TempDir()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(w.env, "CCBOT_TEST_OPEN_TREE="+w.root, "CCBOT_TEST_WORK="+w.Moments.Dir, "TMPDIR="+temporary)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	said, err := bufio.NewReader(out).ReadString('\n')
	assert.NoError(t, errors.Join(err, child.Process.Kill()))
	assert.Error(t, child.Wait())
	require.Equal(t, "open: <nil>\n", said)

	left, err := os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	require.Len(t, left, 1)
	assert.FileExists(t, filepath.Join(w.Moments.Dir, left[0].Name(), "index"))
	left, err = os.ReadDir(temporary)
	require.NoError(t, err)
	assert.Empty(t, left)
	require.NoError(t, w.Moments.Tidy(func(uuid.UUID) bool { return true }))
	left, err = os.ReadDir(w.Moments.Dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
