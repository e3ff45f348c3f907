package host

import (
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestP6_SilentMountIsNotMissing checks a folder whose file system does not answer: nothing is
// concluded, nothing waits for ever, and no second check begins before the first one has an answer.
func TestP6_SilentMountIsNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, calls := make(chan error), atomic.Int32{}
		m := &Machine{}
		m.looks.call = func(string) (fs.FileInfo, error) { calls.Add(1); return nil, <-answers }
		for range 2 {
			_, err := m.IsMissing(t.Context(), "/mnt/gone")
			require.ErrorIs(t, err, errNoAnswer)
		}
		assert.EqualValues(t, 1, calls.Load())
		answers <- fs.ErrNotExist
		synctest.Wait()
		go func() { answers <- fs.ErrNotExist }()
		missing, err := m.IsMissing(t.Context(), "/mnt/gone")
		require.NoError(t, err)
		assert.True(t, missing)
	})
}
