package host

import (
	"io/fs"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
)

// TestP6_SilentMountIsNotMissing checks a folder whose file system does not answer: nothing is
// concluded, nothing waits for ever, and no second check begins before the first one has an answer.
func TestP6_SilentMountIsNotMissing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers, calls := make(chan error), atomic.Int32{}
		m := &Machine{}
		m.looks.call = func(string) (fs.FileInfo, error) { calls.Add(1); return nil, <-answers }
		assert.False(t, m.IsMissing(t.Context(), "/mnt/gone"))
		assert.False(t, m.IsMissing(t.Context(), "/mnt/gone"))
		assert.EqualValues(t, 1, calls.Load())
		answers <- fs.ErrNotExist
		synctest.Wait()
		go func() { answers <- fs.ErrNotExist }()
		assert.True(t, m.IsMissing(t.Context(), "/mnt/gone"))
	})
}
