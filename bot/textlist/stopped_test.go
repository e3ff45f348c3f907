package textlist

import (
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat"
)

// TestStopsAreForgotten keeps nothing of a stop when the stopped turn has ended.
func TestStopsAreForgotten(t *testing.T) {
	now := time.Now()
	l := &Lists{Deps: Deps{Chat: &chat.Chat{Facts: chat.Facts{Now: func() time.Time { return now }}}}, stops: make(map[uuid.UUID]stop)}
	for range 3 {
		one := uuid.New()
		l.StopBegins(one, 7)
		assert.EqualValues(t, 7, l.StoppedBy(one, now.Add(-time.Second)))
		assert.Zero(t, l.StoppedBy(one, now.Add(time.Second)), "a turn that began since")
		assert.Zero(t, l.StoppedBy(uuid.New(), time.Time{}))
		defer func() { assert.Zero(t, l.StoppedBy(one, time.Time{})) }()
		now = now.Add(stopTTL + time.Second)
	}
	assert.Len(t, l.stops, 1)
}
