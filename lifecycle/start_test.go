package lifecycle

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/internal/session"
	"ccbot/lifecycle/view/viewtest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func TestStart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		assert.Equal(t, session.Starting, r.State)
		assert.Equal(t, "src", r.Name)
		require.NotNil(t, r.Binding)
		assert.Equal(t, a.id, r.Binding.Agent)

		spec := w.tmux.Process(a.pane).Spec
		assert.Equal(t, "4f0c/"+r.ID.String(), spec.Tag)
		assert.Equal(t, []string{filepath.Join(w.base, "claude"), "--settings", filepath.Join(w.base, r.ID.String()+".settings"),
			"--session-id", r.AgentSessionID.String()}, spec.Argv)
		assert.Equal(t, map[string]string{"CCBOT_LAUNCH": r.ID.String(), "CCBOT_DIR": w.StateDir, "HOME": "/home/u"}, spec.Env)
		assert.Equal(t, []string{"CLAUDECODE"}, spec.Unset)

		w.report(r)
		w.pass(time.Second)
		r = w.get(r.ID)
		assert.Equal(t, session.Running, r.State)
		assert.Equal(t, 1, toldOf[news.Ready](w.news))
		assert.Equal(t, "claude", r.Binding.Command)
		assert.False(t, r.ReadyAt.IsZero() || r.ReportsAt.IsZero())
		c, ok := r.Cursor()
		assert.True(t, ok)
		assert.Equal(t, w.transcript(r.AgentSessionID), c.Path)
	})
}

// The intent is on disk before the window is made, the window before its pane
// is bound: a crash between any two is found by recovery.
func TestP8_IntentIsOnDiskBeforeWindow(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var onDisk []session.Record
		w.tmux.onLaunch = func(*agent, *tmuxtest.Process) {
			store, err := session.Open(filepath.Join(w.base, "state", "sessions"), t.TempDir(), time.Now, w.Log, nil)
			require.NoError(t, err)
			onDisk = store.List()
		}
		w.starting()
		require.Len(t, onDisk, 1)
		assert.Equal(t, session.Starting, onDisk[0].State)
		assert.Nil(t, onDisk[0].Binding)
		assert.Equal(t, []string{"at start-recorded", "new-window", "at window-made", "at bound"}, w.order.all()[:4])
	})
}

func TestP1_StartErrorLeavesNoRecord(t *testing.T) {
	broken := errors.New("broken")
	tests := []struct {
		name  string
		spoil func(t *testing.T, w *world, q *port.Start)
		check func(t *testing.T, err error)
	}{
		{"no such directory", func(_ *testing.T, _ *world, q *port.Start) { q.Dir += "/none" }, func(t *testing.T, err error) {
			var e *DirError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, DirMissing, e.Why)
		}},
		{"a file", func(_ *testing.T, w *world, q *port.Start) { q.Dir = w.command() }, func(t *testing.T, err error) {
			var e *DirError
			require.ErrorAs(t, err, &e)
			assert.Equal(t, DirNotADir, e.Why)
		}},
		{"no claude", func(t *testing.T, w *world, _ *port.Start) { require.NoError(t, os.Remove(w.command())) },
			func(t *testing.T, err error) {
				assert.ErrorIs(t, err, claude.ErrNotInstalled)
				assert.True(t, filepath.IsAbs(refusal.In(err).Command), "as it is configured")
			}},
		{"tmux refuses", func(_ *testing.T, w *world, _ *port.Start) { w.tmux.Fail("NewWindow", broken) },
			func(t *testing.T, err error) { assert.ErrorIs(t, err, broken) }},
		{"the server does not answer", func(_ *testing.T, w *world, _ *port.Start) { w.tmux.Fail("Server", broken) },
			func(t *testing.T, err error) { assert.ErrorIs(t, err, broken) }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				q := w.request()
				tc.spoil(t, w, &q)
				_, err := w.Start(w.ctx, q)
				require.Error(t, err)
				tc.check(t, err)
				assert.Empty(t, w.Store.List())
				assert.Empty(t, w.tmux.windows(), "no window is left")
			})
		})
	}
}

// tmux opens a window in the home directory when it does not like the one asked
// for.
func TestAgentInWrongDirectoryIsReported(t *testing.T) {
	home, err := os.UserHomeDir()
	require.NoError(t, err)
	for _, replaced := range []string{home, "/"} { // tmux starts it there if it cannot enter the requested one
		inWorld(t, func(t *testing.T, w *world) {
			r, a := w.starting()
			w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Path = replaced })
			w.held(r, "k", viewtest.Said)
			w.report(r)
			w.pass(time.Minute)
			assert.NotEqual(t, session.Running, w.get(r.ID).State)
			assert.Empty(t, a.heard())
			assert.Equal(t, replaced, lastOf[news.Failed](w.news).In, "the person reads why")
		})
	}
}

// TestP6_AgentMayEnterAnotherDirectory by itself, such as its worktree: it is not ended for that.
func TestP6_AgentMayEnterAnotherDirectory(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Path = "/elsewhere/.claude/worktrees/side" })
		w.report(r)
		w.pass(time.Minute)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

// A window that may exist keeps its record: otherwise the owner of its agent would be unknown.
func TestP8_PossiblyLiveWindowKeepsRecord(t *testing.T) {
	tests := []struct {
		name  string
		spoil func(w *world)
	}{
		{"it could not be closed again", func(w *world) {
			w.tmux.Fail("Server", errors.New("broken"))
			w.tmux.Fail("ClosePane", tmux.ErrLost)
		}},
		{"nobody knows whether it was made", func(w *world) { w.deps.Windows = lostAnswer{w.tmux} }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				tc.spoil(w)
				_, err := w.Start(w.ctx, w.request())
				require.Error(t, err)
				require.Len(t, w.tmux.windows(), 1)
				assert.Len(t, w.Store.List(), 1, "an agent runs that no record knows")
			})
		})
	}
}

// lostAnswer makes the window and loses the answer.
type lostAnswer struct{ *fakeDesk }

func (l lostAnswer) NewWindow(ctx context.Context, s tmux.Spec) (tmux.Pane, error) {
	_, _ = l.fakeDesk.NewWindow(ctx, s)
	return tmux.Pane{}, tmux.ErrLost
}

// TestP8_FailedStartRemovesSettingsFirst: without the record nothing would lead to the settings of
// the launch, so a crash between the two must leave the record.
func TestP8_FailedStartRemovesSettingsFirst(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		records := -1
		w.change(func(by *coding.Agent) {
			by.Settings = removal{launches{w.base}, func() { records = len(w.Store.List()) }}
		})
		w.tmux.Fail("NewWindow", tmux.ErrNotSent)
		_, err := w.Start(w.ctx, w.request())
		require.ErrorIs(t, err, tmux.ErrNotSent)
		assert.Equal(t, 1, records, "the record is gone before its settings")
		assert.Empty(t, w.Store.List())
	})
}

// removal are launches that call onRemove before a removal.
type removal struct {
	launches
	onRemove func()
}

func (l removal) Remove(id uuid.UUID) error {
	l.onRemove()
	return l.launches.Remove(id)
}

func TestReplayedStartFindsSession(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		q := w.request()
		q.Origin = "update-7"
		first, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		again, err := w.Start(w.ctx, q)
		require.NoError(t, err)
		assert.Equal(t, first.ID, again.ID)
		assert.Len(t, w.tmux.windows(), 1)
	})
}

func TestNamesAreNumbered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var names []string
		for range 3 {
			r, _ := w.starting()
			names = append(names, r.Name)
		}
		assert.Equal(t, []string{"src", "src-2", "src-3"}, names)
	})
}

func TestReadyWithoutSessionStart(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, _ := w.starting()
		w.pass(presenceGrace - time.Second)
		assert.Equal(t, session.Starting, w.get(r.ID).State)
		w.pass(2 * time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
	})
}

func TestSilentStartIsReportedOnce(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.hidden, a.silent = true, true }
		r, a := w.starting()
		w.pass(StartNotice - time.Second)
		assert.Zero(t, toldOf[news.NotReporting](w.news))
		w.pass(10 * time.Minute)
		assert.Equal(t, 1, toldOf[news.NotReporting](w.news))
		assert.Contains(t, lastOf[news.NotReporting](w.news).Screen, "something else")
		a.set(func(a *agent) { a.hidden, a.silent = false, false })
		w.report(r)
		w.pass(time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State, "late is not failed")
	})
}

func TestStartDialogIsReportedNeverAnswered(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, _ *tmuxtest.Process) { a.dialog, a.silent = true, true }
		r, a := w.starting()
		w.held(r, "k", "hello")
		w.pass(10 * time.Minute)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))
		assert.Contains(t, lastOf[news.Dialog](w.news).Screen, "Do you want to proceed?")
		assert.Empty(t, w.tmux.Inputs(a.pane))
		a.set(func(a *agent) { a.dialog, a.silent = false, false })
		w.report(r)
		w.pass(5 * time.Second)
		assert.Equal(t, session.Running, w.get(r.ID).State)
		assert.Equal(t, []string{"hello"}, a.heard())
	})
}

// Presence reports an open dialog that the screen reader does not know: the person must still be
// notified.
func TestUnrecognisedDialogIsReported(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		a.set(func(a *agent) { a.hidden, a.status = true, presence.Waiting })
		w.Wake(r.ID)
		w.pass(time.Minute)
		assert.Equal(t, 1, toldOf[news.Dialog](w.news))
	})
}

func TestEndedStartHasFailed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.starting()
		w.tmux.die(a, tmuxtest.Exit{Status: 3})
		w.pass(time.Second)
		r = w.get(r.ID)
		assert.Equal(t, session.Failed, r.State)
		require.NotNil(t, r.Exit)
		assert.Equal(t, 3, r.Exit.Status)
		assert.True(t, r.Exit.Known)
		assert.Nil(t, r.Binding)
		assert.Equal(t, 1, toldOf[news.Failed](w.news))
		assert.Empty(t, w.tmux.windows(), "the dead pane is closed")
	})
}

func TestUnboundEndedStartHasFailed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		w.tmux.onLaunch = func(a *agent, p *tmuxtest.Process) {
			p.Exit = &tmuxtest.Exit{Status: 1}
			w.processes.Exit(a.id.PID)
		}
		r, err := w.Start(w.ctx, w.request())
		require.NoError(t, err)
		w.pass(time.Second)
		r = w.get(r.ID)
		assert.Equal(t, session.Failed, r.State)
		assert.Equal(t, 1, r.Exit.Status)
	})
}

func TestCheckDir(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"\xff", "\ufffd"} {
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	assert.NoError(t, CheckDir(dir))
	link := filepath.Join(dir, "link")
	require.NoError(t, os.Symlink(dir, link))
	assert.NoError(t, CheckDir(link))
	require.NoError(t, os.Symlink(filepath.Join(dir, "none"), filepath.Join(dir, "broken")))
	require.NoError(t, os.Symlink("circle", filepath.Join(dir, "circle")))
	for name, want := range map[string]DirFault{"none": DirMissing, "broken": DirMissing, "circle": DirMissing, strings.Repeat("x", 256): DirMissing,
		strings.Repeat("x/", 4096): DirMissing, "\xff": DirNotText, "\ufffd": DirNotText} {
		var e *DirError
		require.ErrorAs(t, CheckDir(filepath.Join(dir, name)), &e)
		assert.Equal(t, want, e.Why)
	}
}
