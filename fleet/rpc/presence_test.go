package rpc

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/beat"
	"ccbot/fleet/seal"
)

// TestLastChangeIsReportedLast: a beat that comes while the silence of a host is being reported is
// reported after it.
func TestLastChangeIsReportedLast(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var all []beat.Presence
	has := func(p beat.Presence) bool {
		mu.Lock()
		defer mu.Unlock()
		return slices.Contains(all, p)
	}
	body, err := json.Marshal(Beat{})
	require.NoError(t, err)
	c := &Caller{Remote: Remote{Conn: &nats.Conn{}}}
	beats := make(chan struct{})
	c.Changed = func(is beat.Presence, _ time.Time) {
		if is == beat.Unknown {
			go func() { defer close(beats); c.takeBeat(seal.Message{Body: body}) }()
			for end := time.Now().Add(time.Second); !has(beat.Present) && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
		}
		mu.Lock()
		defer mu.Unlock()
		all = append(all, is)
	}
	c.presence, c.reported = beat.Away, beat.Away // it was seen so
	c.check()                                     // without a connection
	<-beats
	require.NotEmpty(t, all)
	assert.Equal(t, beat.Present, all[len(all)-1])
}

// TestP6_PauseOfChatEndsNoCall: during a call the machine of the chat sleeps, and so hears no beat.
func TestP6_PauseOfChatEndsNoCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &Caller{Remote: Remote{Conn: &nats.Conn{}}}
		c.takeBeat(seal.Message{Body: []byte("{}")})
		time.Sleep(beat.Interval)
		assert.Equal(t, beat.Timeout-beat.Interval, c.untilSilent())
		time.Sleep(time.Hour)
		assert.Equal(t, beat.Timeout, c.untilSilent())
		for range 4 {
			time.Sleep(beat.Interval)
			c.check()
		}
		assert.Negative(t, c.untilSilent())
	})
}

// TestBeatIsBounded: the figures of another machine are shown and sorted, whatever they are.
func TestBeatIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("ä", 100)
	for _, c := range []struct {
		name string
		sent string
		want Beat
	}{
		{"honest", `{"version":"1.2.3","agents":4,"load":1.5,"disk_free":7,"disk_size":9}`, Beat{Version: "1.2.3", Agents: 4, Load: 1.5, DiskFree: 7, DiskSize: 9}},
		{"negative", `{"agents":-4,"load":-1.5,"disk_free":-7,"disk_size":-9}`, Beat{}},
		{"huge", `{"version":"` + long + `","agents":9223372036854775807,"load":1e308,"disk_free":9223372036854775807,"disk_size":9223372036854775807}`,
			Beat{Version: long[:mostVersion], Agents: mostAgents, Load: mostLoad, DiskFree: mostDisk, DiskSize: mostDisk}},
		{"more free than there is", `{"disk_free":9,"disk_size":7}`, Beat{DiskFree: 7, DiskSize: 7}},
	} {
		t.Run(c.name, func(t *testing.T) {
			caller := &Caller{Remote: Remote{Conn: &nats.Conn{}}}
			caller.takeBeat(seal.Message{Body: []byte(c.sent)})
			is, _, said := caller.State()
			assert.Equal(t, beat.Present, is)
			assert.Equal(t, c.want, said)
		})
	}
	assert.Equal(t, Beat{}, Beat{Load: math.NaN()}.bounded())
}

// TestHostIsSteadyWithoutBreak: what a host has kept while the two did not hear each other is no
// fault of the hub.
func TestHostIsSteadyWithoutBreak(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &Caller{}
		beats := func(n int) {
			for range n {
				c.takeBeat(seal.Message{Body: []byte("{}")})
				time.Sleep(beat.Interval)
			}
		}
		beats(20)
		assert.Equal(t, 20*beat.Interval, c.Steady())
		time.Sleep(time.Hour)
		beats(1)
		assert.Equal(t, beat.Interval, c.Steady())
	})
}
