package e2e

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/loop"
	"ccbot/port"
)

// TestP9_TemplateOfRepositoryIsShown in full before each start at which it has changed, in the
// terminal and the chat, and a loop keeps what it began with.
func TestP9_TemplateOfRepositoryIsShown(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	file := filepath.Join(w.dir, ".ccbot", "loops", "fix.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	write := func(check string) {
		text := "task = 'say I try'\ncheck = '" + check + "'\n[bounds]\nturns = 1\n"
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	}
	ended := func(n int) loop.Loop { // and ccbot knows it: it told the chat
		var all []loop.Loop // read once: the next loop may begin in between
		w.until("the loop has ended", func() bool {
			all = w.loops()
			return len(all) == n && all[n-1].State == port.LoopDone && all[n-1].Reported == all[n-1].State
		})
		return all[n-1]
	}
	write("true # one")
	assert.Contains(t, term.says("ccbot loop templates work"), "fix: of "+w.dir)
	assert.Contains(t, term.fails("ccbot loop start work --template fix < /dev/null"), "check = 'true # one'")
	assert.Empty(t, w.loops())
	assert.Contains(t, term.fails("ccbot loop start work --template none < /dev/null"), "there is no template")
	term.says("echo y | ccbot loop start work --template fix")
	write("true # two")
	l := ended(1)
	assert.Equal(t, []any{"say I try", "true # one", "fix"}, []any{l.Task, l.Check, l.Template.Name})
	assert.Contains(t, term.says("ccbot loop status work --json"), `"template": "fix"`)

	assert.Contains(t, term.fails("ccbot loop start work --template fix < /dev/null"), "check = 'true # two'")
	write("true # one")
	term.says("ccbot loop start work --template fix < /dev/null")
	ended(2)

	write("true # three")
	w.tap(w.hear(w.say("/loop work"), "reply to this message with the task"), "fix")
	w.tap(w.hear(0, "check = 'true # three'"), "Start")
	ended(3)
	assert.Equal(t, "true # three", w.loops()[2].Check)
	term.says("ccbot loop start work --template fix < /dev/null")
	ended(4)
	write("true # four\n[feature]")
	assert.True(t, strings.Contains(term.fails("echo y | ccbot loop start work --template fix"), "cannot be used"))
}

// TestP8_PhasesOutliveKill: after kill -9 in a phase the loop continues in it, and no phase comes
// twice.
func TestP8_PhasesOutliveKill(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	file := filepath.Join(w.state, "templates", "phased.toml")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	text := "task = 'say the task'\ncheck = '" + w.countingCheck(3) + "'\n[bounds]\nturns = 9\n" +
		"[phases]\nplan = 'slow until plan'\nimplement = 'say implement'\nfix = 'slow until fix'\ndone = 'say done'\n"
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	term.says("ccbot loop start work --template phased")
	at := func(phase port.LoopPhase) {
		w.newestLoop("works at "+string(phase), func(l loop.Loop) bool {
			return l.Phase == phase && l.Step == port.LoopTurn && w.record("work").Phase == "working"
		})
		assert.Contains(t, term.says("ccbot loop status work --json"), `"phase": "`+string(phase)+`"`)
		w.kill9()
		w.start()
		w.makes(string(phase))
	}
	at(port.PhasePlan)
	at(port.PhaseFix)
	l := w.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone })
	assert.Equal(t, []any{4, 3}, []any{l.Used.Turns, l.Iteration})
	var heads []string
	for _, text := range w.received() {
		heads = append(heads, strings.SplitN(text, "\n", 2)[0])
	}
	assert.Equal(t, []string{"slow until plan", "say implement", "slow until fix", "say done"}, heads)
	assert.Contains(t, term.says("ccbot loop status work --json"), `"phase": "done"`)
}
