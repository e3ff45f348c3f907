package process

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	machineBoot = "6a1c2b3d-0000-4000-8000-0123456789ab"
	otherClock  = machineBoot + "-3b9aca00"
)

// TestP6_StartOfAnotherClockIsUnknown: a start that was read in another time namespace neither
// proves a process nor proves that it is gone.
func TestP6_StartOfAnotherClockIsUnknown(t *testing.T) {
	for _, boots := range [][2]string{{machineBoot, otherClock}, {otherClock, machineBoot}, {otherClock, otherClock + "0"}} {
		k := newFake()
		k.boot = boots[0]
		table, err := k.tableOf()
		require.NoError(t, err)
		k.clock = 5000
		// by chance the same number, or another one
		for _, start := range []uint64{identity(60).Start, 100_060} {
			id := Identity{PID: 60, Start: start, Boot: boots[1]}
			assert.Equal(t, Unknown, table.Liveness(id))
			require.Error(t, table.Wait(t.Context(), id))
			out, err := table.End(t.Context(), id, func(Process) error { return nil }, func(context.Context) error {
				t.Error("hung up")
				return nil
			}, Grace{})
			require.Error(t, err)
			assert.Equal(t, ReasonUnreadable, out.Reason)
			assert.False(t, out.Ended)
			assert.Empty(t, k.signals)
			now, err := table.Moment()
			require.NoError(t, err)
			assert.Equal(t, Maybe, id.StartedAfter(now))
			_, known := id.Age(now)
			assert.False(t, known)
		}
		assert.Equal(t, Gone, table.Liveness(Identity{PID: 61, Start: 1061, Boot: boots[1]}), "no process has that pid")
		assert.Equal(t, Gone, table.Liveness(Identity{PID: 60, Start: 1060, Boot: "7" + boots[1][1:]}), "another boot")
	}
}

// TestP1_ClaimOfAnotherClockIsUnknown: a hook in another time namespace may mean this process.
func TestP1_ClaimOfAnotherClockIsUnknown(t *testing.T) {
	p := agent(10, 1, "--resume", textX)
	p.Boot = machineBoot
	c := claim(SourceHook, 10, idY)
	c.Process.Boot = otherClock
	got := map[uuid.UUID]Answer{}
	for _, v := range Judge(Snapshot{Processes: []Process{p}}, []Claim{c}, testAgents, idX, idY) {
		got[v.SessionID] = v.Writer
	}
	assert.Equal(t, map[uuid.UUID]Answer{idX: Maybe, idY: Maybe}, got)
}
