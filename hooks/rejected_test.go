package hooks

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/loglimit"
)

func TestP9_RejectedEventsAreBounded(t *testing.T) {
	var log strings.Builder
	e, dir := newEvents(t, newSink(nil))
	e.log = slog.New(loglimit.New(slog.NewTextHandler(&log, nil)))
	events, quarantine := filepath.Join(dir, "events"), filepath.Join(dir, "quarantine")
	require.NoError(t, os.Mkdir(events, 0o700))
	require.NoError(t, os.Mkdir(quarantine, 0o700))
	others := []string{"events-of-mine.json", "events-x.json", "events-x.json.reason", "sessions-y.json", "sessions-y.json.reason", "z.untold"}
	for _, name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(quarantine, name), []byte("kept"), 0o600))
	}
	garbage := func(from, to int, data string) {
		for i := range to - from {
			name := filepath.Join(events, fmt.Sprintf("%04d.json", from+i))
			require.NoError(t, os.WriteFile(name, []byte(data), 0o600))
		}
		require.NoError(t, e.Drain(t.Context()))
		assert.Empty(t, left(t, dir, "events"))
	}
	garbage(0, 1000, "{")
	names := left(t, dir, "quarantine")
	assert.Len(t, names, 2*maxRejected+len(others))
	assert.Contains(t, names, "events-0999.json", "the newest stay")
	assert.NotContains(t, names, "events-0799.json")
	assert.Subset(t, names, others)
	lines := strings.Count(log.String(), "msg=hook_event_quarantined")
	assert.GreaterOrEqual(t, lines, loglimit.Burst)
	assert.Less(t, lines, 2*loglimit.Burst)
	assert.Equal(t, 1, strings.Count(log.String(), "msg=rejected_hook_events_removed"))

	garbage(1000, 1040, strings.Repeat("x", 1<<20))
	names = left(t, dir, "quarantine")
	assert.Contains(t, names, "events-1039.json")
	assert.Subset(t, names, others)
	all, err := rejectedIn(quarantine)
	require.NoError(t, err)
	assert.Len(t, all, maxRejectedBytes>>20-1)

	folder := filepath.Join(events, "2000.json")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "huge"), nil, 0o600))
	require.NoError(t, os.Truncate(filepath.Join(folder, "huge"), 2*maxRejectedBytes))
	require.NoError(t, e.Drain(t.Context()))
	assert.ElementsMatch(t, others, left(t, dir, "quarantine"), "what is larger than the bound goes too")
}

// A long name must not keep an event in the queue for ever.
func TestP9_LongNameGoesAside(t *testing.T) {
	e, dir := newEvents(t, newSink(nil))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "events"), 0o700))
	for _, end := range []string{"a", "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "events", strings.Repeat("x", 250)+end), nil, 0o600))
	}
	require.NoError(t, e.Drain(t.Context()))
	assert.Empty(t, left(t, dir, "events"))
	assert.Len(t, left(t, dir, "quarantine"), 4)
}
