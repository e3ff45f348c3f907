package process

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An entry of /proc that hangs makes the table unknown; the scan does not wait for it, and reads it
// again when it answers.
func TestP6_HangingScanIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newFake()
		table, err := k.tableOf()
		require.NoError(t, err)
		k.hangs = make(chan struct{})
		began := time.Now()
		for range 2 * cap(table.scans) {
			_, err = table.Snapshot(t.Context())
			require.ErrorIs(t, err, errHangs)
		}
		assert.Equal(t, time.Duration(2*cap(table.scans))*scanTimeout, time.Since(began))
		close(k.hangs)
		synctest.Wait()
		_, err = table.Snapshot(t.Context())
		assert.NoError(t, err)
	})
}
