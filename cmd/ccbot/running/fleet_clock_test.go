package running

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/rpc"
)

// TestClockOfMachineIsCompared with the time at which its beat came, if it tells its time.
func TestClockOfMachineIsCompared(t *testing.T) {
	heard := time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC)
	assert.Equal(t, -48*time.Hour, statusOf(rpc.Beat{Clock: heard.Add(-48 * time.Hour)}, heard).Ahead)
	assert.Zero(t, statusOf(rpc.Beat{}, heard).Ahead, "an earlier version")
	assert.Zero(t, statusOf(rpc.Beat{Clock: heard}, time.Time{}).Ahead, "the chat's own machine")
	off := center.State{Presence: beat.Present, Heard: heard, Said: rpc.Beat{Clock: heard.Add(time.Hour)}}
	assert.Equal(t, time.Hour, skewOf(off))
	off.Presence = beat.Away
	assert.Zero(t, skewOf(off), "it may have been set since")
}
