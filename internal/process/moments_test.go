package process

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestClock(t *testing.T) {
	k := newFake()
	k.boot = machineBoot
	table, err := k.tableOf()
	require.NoError(t, err)
	c := Clock{table}
	k.clock = 1000
	then := c.Now()
	k.clock += uint64(time.Minute / tick)
	passed, ok := c.Since(then)
	assert.True(t, ok)
	assert.Equal(t, time.Minute, passed)
	for _, text := range []string{"", "x", "5", "-5." + machineBoot, "5." + otherClock, "5.another", "99999999." + machineBoot} {
		_, ok := c.Since(text)
		assert.False(t, ok, text)
	}
	k.clockErr = errTest
	assert.Empty(t, c.Now())
	_, ok = c.Since(then)
	assert.False(t, ok)
}
