package e2e

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/e2e/realclaude"
)

// TestRealStatesHaveNextStep puts the real CLI into each state that stops an agent: it is
// reported once, with one next step, and listed by /list and `ccbot list` until the agent
// continues.
func TestRealStatesHaveNextStep(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	realclaude.Dirs{Home: filepath.Dir(w.claude), Config: w.claude}.LogIn(t)
	w.env = slices.DeleteFunc(w.env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	w.start()
	w.open("work", w.dir)
	before := ""
	for _, tt := range []struct{ say, told, listed, phase string }{
		{"error 401", "work is logged out: “", "work · logged out", "logged_out"},
		{"limit 3600", "work has reached a limit: “You've hit your 5-hour limit", "work · limit reached until", "limit_reached"},
		{"error 400", "work stopped with an error from Claude: “API Error: 400 scripted error 400", "work · API error: “400 scripted error 400”", "api_error"},
		{"say fine", "fine", "work · idle", "idle"},
	} {
		said := w.say(tt.say)
		if before == "limit_reached" { // a limit holds the text
			w.tap(w.offered(said, "Send now"), "Send now")
		}
		w.hear(said, tt.told)
		w.until("the record says "+tt.phase, func() bool { return w.phaseOf("work") == tt.phase })
		assert.Equal(t, 1, w.heard(tt.told), "told once")
		w.hear(w.say("/list"), tt.listed)
		before = tt.phase
	}
	w.hear(w.say("/status"), "Memory: ")
	w.stop()
}

// phaseOf returns the agent's phase from `ccbot list`.
func (w *world) phaseOf(name string) string {
	cmd := exec.Command(filepath.Join(binaries, "ccbot"), "list", "--json")
	cmd.Env = w.env
	out, err := cmd.Output()
	var all []struct{ Name, Phase string }
	if err != nil || json.Unmarshal(out, &all) != nil {
		return ""
	}
	for _, one := range all {
		if one.Name == name {
			return one.Phase
		}
	}
	return ""
}

// TestRealStopCancelsWaitForLimit stops the real CLI while it waits for the end of a limit.
func TestRealStopCancelsWaitForLimit(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	realclaude.Dirs{Home: filepath.Dir(w.claude), Config: w.claude}.LogIn(t)
	w.env = slices.DeleteFunc(w.env, func(entry string) bool { return strings.HasPrefix(entry, "ANTHROPIC_API_KEY=") })
	w.start()
	w.open("work", w.dir)
	w.say("limit 3600")
	continues := func() bool { return w.screenHas("work", "Continuing automatically") }
	w.until("it is to go on by itself", continues)
	w.hear(w.say("/stop"), "work is interrupted")
	w.until("it does not go on", func() bool { return !continues() })
	w.hear(w.say("/stop"), "nothing to stop")
	w.until("the limit is known", func() bool { return w.record("work").Phase == "limit_reached" })
	held := w.say("say fine") // would fail before the end of the limit
	w.tap(w.offered(held, "Send now"), "Send now")
	w.hear(held, "fine")
	w.stop()
}
