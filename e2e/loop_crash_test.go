package e2e

import (
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/loop"
	"ccbot/port"
	"ccbot/try/botapi"
)

// TestLoopOutlivesCrashOfAgent: after a crash in a turn of the loop, /resume and one [Go on] are
// enough.
func TestLoopOutlivesCrashOfAgent(t *testing.T) {
	t.Parallel()
	w := newWorld(t, withCards)
	w.start()
	w.open("work", w.dir)
	w.newTerminal().says("ccbot loop start work 'work 500' --check 'test -e done' --max-turns 9")
	w.newestLoop("has proof that the agent got the prompt", func(l loop.Loop) bool { return l.Typed != nil })
	w.until("the agent works", func() bool { return w.record("work").Phase == "working" })
	r := w.record("work")
	require.NoError(t, syscall.Kill(r.Agent().PID, syscall.SIGKILL))
	l := w.newestLoop("is paused", func(l loop.Loop) bool { return l.State == port.LoopPaused })
	assert.Equal(t, port.WhyCrashed, l.Reason)
	report := w.find("the pause is reported", func(m botapi.Message) bool {
		return m.FromBot && strings.Contains(m.Text, "The loop waits for as long as the session can be resumed")
	})
	w.hear(w.say("/resume work"), "work is ready")
	w.tap(report, "Go on")
	w.newestLoop("asks again", func(l loop.Loop) bool { return l.Attempt == 2 && l.Step == port.LoopTurn })
	w.makes("done")
	w.until("the agent works again", func() bool { return w.record("work").Phase == "working" })
	assert.Equal(t, port.LoopRunning, w.loops()[0].State)
	w.stop()
}
