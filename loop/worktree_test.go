package loop

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// fakeWorktree is the only worktree of a fakeEngine.
type fakeWorktree struct {
	record  session.Record // of the session in it
	made    int            // worktrees
	begun   int            // sessions
	failed  error          // of the start of the session
	there   bool
	removal error
}

func (e *fakeEngine) InWorktree(_ context.Context, _ port.Loop, made func(top, branch string) error) (session.Record, error) {
	w := &e.worktree
	if !w.there {
		w.there, w.made = true, w.made+1
	}
	if err := made(e.record.Dir+"-2", "api-2"); err != nil {
		return session.Record{}, err
	}
	if w.failed != nil {
		return session.Record{}, w.failed
	}
	if w.record.ID == uuid.Nil {
		w.record, w.begun = session.Record{ID: uuid.New(), Name: "api-2", Dir: e.record.Dir, State: session.Running}, w.begun+1
	}
	return w.record, nil
}

func (e *fakeEngine) RemoveWorktree(context.Context, string) error {
	if e.worktree.removal == nil {
		e.worktree.there = false
	}
	return e.worktree.removal
}

// worktreeRequest is a loop in a new worktree.
func (w *world) worktreeRequest(feature string) port.LoopRequest {
	return port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Feature: feature, Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 3}, Worktree: true}
}

func TestLoopWorksInNewWorktree(t *testing.T) {
	w := newWorld(t)
	other := w.begin("exit 1", port.LoopBounds{Turns: 9})
	q := w.worktreeRequest("")
	l, err := w.Start(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, []any{w.engine.worktree.record.ID, "api-2", "api-2", other.Repo}, []any{l.Session, l.Name, l.Feature, l.Repo})
	assert.Equal(t, &port.LoopWorktree{From: w.engine.record.ID, Dir: w.engine.record.Dir + "-2"}, l.Worktree)
	again, err := w.Start(t.Context(), q)
	require.NoError(t, err)
	assert.Equal(t, []any{l.ID, 1, 1}, []any{again.ID, w.engine.worktree.made, w.engine.worktree.begun})
	of, live := w.Live(w.engine.record.ID)
	assert.Equal(t, []any{other.ID, true}, []any{of.ID, live}, "the first session keeps its loop")
}

func TestFeatureOfWorktreeIsHeld(t *testing.T) {
	w := newWorld(t)
	_, err := w.Start(t.Context(), port.LoopRequest{Key: uuid.New(), Session: w.engine.record.ID, Feature: "login", Task: "fix it", Check: "true", Bounds: port.LoopBounds{Turns: 3}})
	require.NoError(t, err)
	_, err = w.Start(t.Context(), w.worktreeRequest("login"))
	require.ErrorAs(t, err, new(*HeldError))
	assert.Zero(t, w.engine.worktree.made)
	_, err = w.Start(t.Context(), w.worktreeRequest("other"))
	require.NoError(t, err)
	_, err = w.Start(t.Context(), w.worktreeRequest("other"))
	require.ErrorAs(t, err, new(*HeldError))
}

// TestP8_WorktreeSurvivesKill: after kill -9 at each step of its start, a loop has one worktree and
// one session.
func TestP8_WorktreeSurvivesKill(t *testing.T) {
	for _, point := range []string{"loop-saved", "loop-worktree-made", "loop-worktree-saved", "loop-session-begun"} {
		w := newWorld(t)
		q := w.worktreeRequest("")
		w.Failpoint = func(name string) {
			if name == point {
				panic(killed{})
			}
		}
		assert.Panics(t, func() { _, _ = w.Start(t.Context(), q) }, point)
		w.restart()
		_, live := w.Live(w.engine.record.ID)
		assert.False(t, live, "%s: the loop is not the first session's", point)
		_, err := w.Stop(t.Context(), q.Key)
		require.ErrorIs(t, err, ErrPreparing, point)
		w.run()
		l := w.only()
		assert.Equal(t, []any{port.LoopDone, w.engine.worktree.record.ID, 1, 1}, []any{l.State, l.Session, w.engine.worktree.made, w.engine.worktree.begun}, point)
		assert.Equal(t, []string{q.Task}, w.engine.kept, point)
	}
}

func TestFailedStartLeavesNoWorktree(t *testing.T) {
	for _, crash := range []bool{false, true} {
		w := newWorld(t)
		w.engine.worktree.failed = errors.New("no window could be made")
		if crash {
			w.Failpoint = func(name string) {
				if name == "loop-worktree-saved" {
					panic(killed{})
				}
			}
			assert.Panics(t, func() { _, _ = w.Start(t.Context(), w.worktreeRequest("")) })
			w.restart()
			require.ErrorIs(t, w.advance(t.Context(), w.all()[0]), w.engine.worktree.failed)
			w.run()
			assert.Equal(t, []any{port.LoopStopped, port.WhyNoWorktree}, []any{w.only().State, w.only().Reason})
			require.Len(t, w.told, 1)
			w.removeWorktrees(t.Context())
		} else {
			_, err := w.Start(t.Context(), w.worktreeRequest(""))
			require.ErrorIs(t, err, w.engine.worktree.failed)
			assert.Empty(t, w.All())
		}
		assert.False(t, w.engine.worktree.there)
	}
}

func TestFolderWithoutCommitIsRefused(t *testing.T) {
	w := newWorld(t)
	w.engine.noCommit = true
	_, err := w.Start(t.Context(), w.worktreeRequest(""))
	assert.True(t, refusal.Is(err, refusal.NoCommit), "%v", err)
	assert.Empty(t, w.All())
}

// endedInWorktree is an ended loop whose session is open.
func endedInWorktree(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	_, err := w.Start(t.Context(), w.worktreeRequest(""))
	require.NoError(t, err)
	w.run()
	require.Equal(t, port.LoopDone, w.only().State)
	w.engine.record = w.engine.worktree.record // the fake knows one session
	return w
}

func TestWorktreeOutlivesLoopAndSession(t *testing.T) {
	w := endedInWorktree(t)
	cleaned := 0
	w.Cleaned = func(ok bool) { assert.True(t, ok); cleaned++ }
	w.removeWorktrees(t.Context())
	assert.True(t, w.engine.worktree.there, "its session is open")
	w.engine.record.State, w.engine.record.EndedAt = session.Archived, w.now
	w.now = w.now.Add(orphanGrace - 1)
	w.removeWorktrees(t.Context())
	assert.True(t, w.engine.worktree.there, "a person may bring its session back")
	w.now = w.now.Add(1)
	w.removeWorktrees(t.Context())
	assert.False(t, w.engine.worktree.there)
	assert.True(t, w.only().Worktree.Removed)
	w.engine.worktree.there = true // another one, at the same path
	w.removeWorktrees(t.Context())
	assert.Equal(t, []any{true, 1}, []any{w.engine.worktree.there, cleaned})
}

func TestWorktreeOfLostSessionStays(t *testing.T) {
	w := endedInWorktree(t)
	w.engine.record.State, w.now = session.Lost, w.now.Add(time.Hour)
	w.removeWorktrees(t.Context())
	assert.True(t, w.engine.worktree.there)
}

// TestFailedRemovalIsRetried: the reason is on disk, and the loop is not purged before.
func TestFailedRemovalIsRetried(t *testing.T) {
	for _, tt := range []struct {
		err    error
		stays  string
		failed int
	}{
		{&refusal.Error{Code: refusal.HasWork, Reason: string(folders.Unmerged)}, "unmerged", 0},
		{errors.New("git failed"), "git failed", 2},
	} {
		w := endedInWorktree(t)
		failed := 0
		count := func(ok bool) {
			if !ok {
				failed++
			}
		}
		w.Cleaned, w.engine.worktree.removal = count, tt.err
		w.engine.record.State, w.engine.record.EndedAt = session.Archived, w.now
		w.now = w.now.Add(w.PurgeAfter)
		w.removeWorktrees(t.Context())
		assert.Equal(t, tt.stays, w.only().Worktree.Stays)
		w.restart()
		w.Cleaned = count
		w.Purge(t.Context())
		w.removeWorktrees(t.Context())
		assert.Equal(t, []any{tt.stays, tt.failed}, []any{w.only().Worktree.Stays, failed})
		w.engine.worktree.removal = nil
		w.removeWorktrees(t.Context())
		assert.Equal(t, []any{"", true}, []any{w.only().Worktree.Stays, w.only().Worktree.Removed})
		w.Purge(t.Context())
		assert.Empty(t, w.All())
	}
}

// TestP8_RemovalSurvivesKill: the worktree is gone, and its loop does not know it.
func TestP8_RemovalSurvivesKill(t *testing.T) {
	w := endedInWorktree(t)
	w.engine.record.State, w.now = session.Archived, w.now.Add(orphanGrace)
	w.Failpoint = func(name string) {
		if strings.HasPrefix(name, "loop-worktree") {
			panic(killed{})
		}
	}
	assert.Panics(t, func() { w.removeWorktrees(t.Context()) })
	assert.False(t, w.engine.worktree.there)
	assert.False(t, w.only().Worktree.Removed)
	w.restart()
	w.removeWorktrees(t.Context())
	assert.True(t, w.only().Worktree.Removed)
}

// TestP9_ForgottenLoopKeepsWorktree: nothing of the person stays in the file, and the worktree is
// removed as that of any loop, also after a kill.
func TestP9_ForgottenLoopKeepsWorktree(t *testing.T) {
	for _, crash := range []bool{false, true} {
		w := endedInWorktree(t)
		id, stays := w.only(), &refusal.Error{Code: refusal.HasWork, Reason: string(folders.Unmerged)}
		w.engine.worktree.removal = stays
		require.NoError(t, w.Forget(id.Session))
		w.engine.record, w.engine.worktree.record = session.Record{}, session.Record{}
		if crash {
			w.restart()
		}
		w.removeWorktrees(t.Context())
		w.Purge(t.Context())
		shown, err := w.Keeper.All(t.Context())
		require.NoError(t, err)
		assert.Empty(t, shown)
		left := w.all()[0].copy()
		assert.Equal(t, []any{"", "", "", id.Worktree.Dir, "unmerged"}, []any{left.Task, left.Check, left.Name, left.Worktree.Dir, left.Worktree.Stays})
		w.engine.worktree.removal = nil
		w.removeWorktrees(t.Context())
		assert.False(t, w.engine.worktree.there)
		w.Purge(t.Context())
		assert.NoFileExists(t, filepath.Join(w.dir, id.ID.String()+suffix))
		assert.Empty(t, w.all())
	}
}
