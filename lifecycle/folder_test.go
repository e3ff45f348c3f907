package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/tmux"
)

// TestAgentsFolderIsFollowed: the folder in which the agent works is a fact that it tells. Each change is reported once, and a resume
// begins there, or where the session was started if that folder is gone.
func TestAgentsFolderIsFollowed(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		side := filepath.Join(w.base, "src", "side")
		require.NoError(t, os.MkdirAll(side, 0o700))
		goes := func(dir string) session.Record {
			a.set(func(a *agent) { a.dir = dir })
			w.hook(r, hookwire.Stop)
			w.pass(time.Minute)
			return w.get(r.ID)
		}
		moved := goes(side)
		assert.Equal(t, []string{r.Dir, side, side}, []string{moved.Dir, moved.NowDir, moved.Folder()})
		assert.Equal(t, 1, toldOf[news.Moved](w.news))
		assert.Equal(t, side, goes(filepath.Join(w.base, "gone")).Folder(), "a folder that is not there tells nothing")
		assert.Equal(t, r.Dir, goes(r.Dir).Folder())
		assert.Empty(t, w.get(r.ID).NowDir)
		goes(side)
		assert.Equal(t, 3, toldOf[news.Moved](w.news))

		pathOf := func(r session.Record) (path string) {
			w.tmux.Change(w.tmux.agentOf(r).pane, func(p *tmux.Pane) { path = p.Path })
			return path
		}
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		w.write(r, userLine("x"))
		back, err := w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Equal(t, side, pathOf(back))
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
		require.NoError(t, os.RemoveAll(side))
		back, err = w.restoreIt(r.ID)
		require.NoError(t, err)
		assert.Equal(t, r.Dir, pathOf(back))
		assert.Equal(t, r.Dir, back.Folder())
	})
}

// The process's own folder counts for an agent that names none, as tmux sees it.
func TestFolderOfAgentWithoutPresence(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r, a := w.started()
		side := filepath.Join(w.base, "src", "side")
		require.NoError(t, os.MkdirAll(side, 0o700))
		a.set(func(a *agent) { a.dir = r.Dir })
		w.tmux.Change(a.pane, func(p *tmux.Pane) { p.Path = side })
		w.hook(r, hookwire.Stop)
		w.pass(time.Minute)
		assert.Equal(t, r.Dir, w.get(r.ID).Folder(), "the agent says where it works")
		a.set(func(a *agent) { a.silent = true })
		w.hook(r, hookwire.Stop)
		w.pass(time.Minute)
		assert.Equal(t, side, w.get(r.ID).Folder())
	})
}
