package running

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/process"
)

// TestP2_StopEndsOnlyMeantBot: a call that arrives at another bot ends nothing.
func TestP2_StopEndsOnlyMeantBot(t *testing.T) {
	stops := 0
	s := &system{Engine: &engine.Engine{Stop: func() { stops++ }}}
	ask := func(pid int) error {
		_, err := stopping.by(s)(t.Context(), json.RawMessage(fmt.Sprintf(`{"pid":%d}`, pid)))
		return err
	}
	require.ErrorContains(t, ask(os.Getpid()+1), "another bot has the folder now")
	assert.Zero(t, stops)
	require.NoError(t, ask(os.Getpid()))
	assert.Equal(t, 1, stops)
}

// TestStopWithoutBot: nothing is called, and nothing is made.
func TestStopWithoutBot(t *testing.T) {
	dir := t.TempDir()
	table, err := process.NewTable()
	require.NoError(t, err)
	require.NoError(t, Stop(t.Context(), dir, table))
	known, unknown, err := statefolder.Contents(dir)
	require.NoError(t, err)
	assert.Empty(t, append(known, unknown...))
}
