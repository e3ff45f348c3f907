package lifecycle

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// A folder goes, or a session comes back: never a session in a folder that is gone.
func TestRestoreWaitsForFolderRemoval(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		r := w.archived()
		over, err := w.Store.Folders.Vacate(r.Dir)
		require.NoError(t, err)
		var end error
		go func() { _, end = w.restoreIt(r.ID) }()
		synctest.Wait()
		require.NoError(t, os.Rename(r.Dir, r.Dir+"-gone"))
		over()
		synctest.Wait()
		var missing *DirError
		require.ErrorAs(t, end, &missing)
		assert.Equal(t, session.Archived, w.get(r.ID).State)

		require.NoError(t, os.Rename(r.Dir+"-gone", r.Dir))
		inside, tried := false, error(nil)
		w.order.onPoint(func(name string) {
			if name == "restore-recorded" {
				inside = true
				_, tried = w.Store.Folders.Vacate(filepath.Dir(r.Dir))
			}
		})
		_, err = w.restoreIt(r.ID)
		require.NoError(t, err, "nothing is in its way any more")
		require.True(t, inside)
		require.ErrorIs(t, tried, session.ErrFolderInUse)
	})
}

func TestSessionStartsInNoRemovedFolder(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		dir := filepath.Join(w.base, "src")
		over, err := w.Store.Folders.Vacate(dir)
		require.NoError(t, err)
		var end error
		go func() { _, end = w.Start(w.ctx, w.request()) }()
		synctest.Wait()
		require.NoError(t, os.Remove(dir))
		over()
		synctest.Wait()
		var missing *DirError
		require.ErrorAs(t, end, &missing)
		assert.Empty(t, w.Store.List())
	})
}
