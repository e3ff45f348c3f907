package session_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

func TestStartingSessionKeepsFolder(t *testing.T) {
	var g session.Gate
	one, err := g.Begin(t.Context(), "/src/api/deep")
	require.NoError(t, err)
	two, err := g.Begin(t.Context(), "/src/api/deep")
	require.NoError(t, err)
	one()
	for _, dir := range []string{"/", "/src/api", "/src/api/deep"} {
		_, err = g.Vacate(dir)
		require.ErrorIs(t, err, session.ErrFolderInUse, dir)
	}
	for _, dir := range []string{"/src/ap", "/src/api/deep/er"} {
		end, err := g.Vacate(dir)
		require.NoError(t, err, dir)
		end()
	}
	two()
	end, err := g.Vacate("/src/api")
	require.NoError(t, err)
	_, err = g.Vacate("/src/api")
	require.ErrorIs(t, err, session.ErrFolderInUse, "it may go already")
	end()
}

func TestSessionWaitsForFolderRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var g session.Gate
		over, err := g.Vacate("/src/api")
		require.NoError(t, err)
		began := false
		go func() {
			end, err := g.Begin(t.Context(), "/src/api/deep")
			assert.NoError(t, err)
			began = true
			end()
		}()
		synctest.Wait()
		assert.False(t, began)
		elsewhere, err := g.Begin(t.Context(), "/src/api-2")
		require.NoError(t, err)
		elsewhere()
		impatient, cancel := context.WithCancel(t.Context())
		cancel()
		_, err = g.Begin(impatient, "/src/api")
		require.ErrorIs(t, err, context.Canceled)
		over()
		synctest.Wait()
		assert.True(t, began)
	})
}
