package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/programtest"
	"ccbot/port"
)

// TestCheckHasNoTerminal: a check that asks in the terminal of ccbot would wait for an answer that
// nobody is asked for.
func TestCheckHasNoTerminal(t *testing.T) {
	stat, err := os.ReadFile("/proc/self/stat")
	require.NoError(t, err)
	_, fields, _ := strings.Cut(string(stat), ") ")
	ours := strings.Fields(fields)[3] // the kernel's session, which has the terminal
	w := newWorld(t)
	w.begin(fmt.Sprintf(`[ "$(cut -d' ' -f6 /proc/$$/stat)" != %s ]`, ours), port.LoopBounds{Turns: 1})
	w.run()
	assert.Equal(t, port.LoopDone, w.only().State)
}

// TestSparedProcessIsLookedAtAgain: what was forked a moment ago may still look like a program that is spared.
func TestSparedProcessIsLookedAtAgain(t *testing.T) {
	w := newWorld(t)
	looks := 0
	w.Spared = func(p process.Process) error {
		if !slices.Contains(p.Args, "1000") {
			return nil
		}
		if looks++; looks == 1 {
			return errors.New("it looks like tmux")
		}
		return nil
	}
	w.begin(`setsid sleep 1000 & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done`, port.LoopBounds{Turns: 1})
	w.run()
	l := w.only()
	assert.Equal(t, port.LoopDone, l.State, l.Detail)
	assert.Empty(t, l.Processes)
	assert.Greater(t, looks, 1)
}

// TestCheckStartsTmux: no tmux server is signalled, but the one that a check has started ends with its last window,
// which is ended. The check has its result.
func TestCheckStartsTmux(t *testing.T) {
	programtest.Require(t, "tmux")
	w := newWorld(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	socket := "ccbot-test-" + uuid.NewString()[:8]
	pid := filepath.Join(w.engine.record.Dir, "pid")
	t.Cleanup(func() { _ = os.Remove(fmt.Sprintf("/tmp/tmux-%d/%s", os.Getuid(), socket)) })
	w.begin("tmux -f /dev/null -L "+socket+" new -d -P -F '#{pid} #{pane_pid}' 'exec sleep 1000' > "+pid+".both; read server pane < "+pid+".both; "+
		`echo $server > `+pid+`; until [ "$(cat /proc/$pane/comm)" = sleep ]; do :; done`, port.LoopBounds{Turns: 1})
	w.run()
	l := w.only()
	assert.Equal(t, port.LoopDone, l.State, l.Detail)
	_, err = table.Identify(readPid(t, pid))
	require.ErrorIs(t, err, process.ErrGone)
	assert.Empty(t, l.Processes)
}
