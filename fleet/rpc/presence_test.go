package rpc

import (
	"encoding/json"
	"slices"
	"sync"
	"testing"
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
