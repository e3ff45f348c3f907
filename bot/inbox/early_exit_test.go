package inbox

import (
	"context"
	"path/filepath"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP4_EarlyExitBlamesNoUpdate: if a program repeatedly ends soon after its start for another
// reason, the waiting update is not set aside.
func TestP4_EarlyExitBlamesNoUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var handled atomic.Bool
		r := newRig(t, filepath.Join(t.TempDir(), "inbox"), newTelegram(), handlerFunc(func(context.Context, string, *models.Update) error {
			handled.Store(true)
			return nil
		}))
		_, err := r.store.Accept("1", []byte(message(1, 5, "a")))
		require.NoError(t, err)
		require.NoError(t, r.store.Change("1", func(e *Entry) error { e.Tries = mostTries - 1; return nil }))
		stop := r.start(t)
		time.Sleep(innocence) // fake
		synctest.Wait()
		e, err := r.store.Load("1")
		require.NoError(t, err)
		assert.Equal(t, mostTries-1, e.Tries, "what ends now has not met it")
		assert.False(t, handled.Load())
		time.Sleep(10 * innocence)
		synctest.Wait()
		assert.True(t, handled.Load())
		stop()
	})
}
