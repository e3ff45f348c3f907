package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/loglimit"
)

// rejected counts the hook events in quarantine.
func (w *world) rejected() (n int) {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.state, "quarantine"))
	if !os.IsNotExist(err) {
		require.NoError(w.t, err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), "events-") && !strings.HasSuffix(e.Name(), ".reason") {
			n++
		}
	}
	return n
}

// taken waits until ccbot has no hook event left to decide.
func (w *world) taken() {
	w.t.Helper()
	w.until("all hook events are decided", func() bool {
		left, err := filepath.Glob(filepath.Join(w.state, hookwire.EventsFolder, "[^.]*"))
		require.NoError(w.t, err)
		return len(left) == 0
	})
}

// TestP9_FloodFillsNeitherLogNorQuarantine makes what an agent can make, again and again: hook
// events that cannot be read, and calls at the socket that are refused.
func TestP9_FloodFillsNeitherLogNorQuarantine(t *testing.T) {
	t.Parallel()
	const flood = 2 * loglimit.Burst
	w := newWorld(t)
	b := w.start("LOG_LEVEL=info")
	quarantine := filepath.Join(w.state, "quarantine")
	require.NoError(t, os.MkdirAll(quarantine, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(quarantine, "events-of-a-person.json"), nil, 0o600))
	for i := range flood {
		require.NoError(t, os.WriteFile(filepath.Join(w.state, hookwire.EventsFolder, "flood"+itoa(i)), []byte("{"), 0o600))
	}
	for range flood {
		_, err := control.Do(t.Context(), filepath.Join(w.state, hookwire.SocketName), hookwire.Call{Verb: hookwire.VerbSend})
		require.ErrorAs(t, err, new(*control.Refusal))
	}
	w.taken()
	w.until("the oldest are removed", func() bool { return w.rejected()-1 == 200 })
	assert.FileExists(t, filepath.Join(quarantine, "events-of-a-person.json"))
	for _, event := range []string{"hook_event_quarantined", "control_refused"} {
		lines := strings.Count(b.log.String(), "msg="+event)
		assert.GreaterOrEqual(t, lines, loglimit.Burst, event)
		assert.Less(t, lines, flood, event)
	}
	assert.Equal(t, 1, strings.Count(b.log.String(), "msg=rejected_hook_events_removed"))
	if testing.Short() { // the summary comes after a minute
		w.stop()
		return
	}
	w.until("the lines are counted", func() bool {
		return strings.Contains(b.log.String(), "msg=log_lines_left_out name=hook_event_quarantined") &&
			strings.Contains(b.log.String(), "msg=log_lines_left_out name=control_refused")
	})
	w.stop()
}
