package e2e

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/doctor"
	"ccbot/internal/health"
)

// doctor runs the doctor, which must find no failure, and returns the faults.
func (t terminal) doctor(suffix string) (faults map[doctor.Code]string, r doctor.Report) {
	t.w.t.Helper()
	require.NoError(t.w.t, json.Unmarshal([]byte(t.says("ccbot doctor --json"+suffix)), &r))
	faults = make(map[doctor.Code]string)
	for _, f := range r.Checks {
		if f.Code != "" {
			faults[f.Code] = f.Detail
		}
	}
	return faults, r
}

// TestDoctorAndTheBot runs doctor next to a bot, using its figures and without disturbing it. After
// a kill of the bot, doctor says what the next start will do.
func TestDoctorAndTheBot(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	term := w.newTerminal()
	faults, r := term.doctor("")
	for _, code := range []doctor.Code{"bot_down", "bot_silent", "bot_refuses", "bot_other_version", "bot_other_program", "lock_lost", "recovery_due", "orphan_windows", "polls_rival"} {
		assert.NotContains(t, faults, code)
	}
	for _, f := range r.Checks {
		if f.Code == doctor.Code(health.HooksSlow) { // so busy is the machine
			continue
		}
		if f.ID == "bot" || f.ID == "health" || f.ID == "telegram" || f.ID == "clock" || f.ID == "tmux" || f.ID == "folder" {
			assert.Equal(t, doctor.OK, f.Status, f)
		}
	}

	id, _, _, _ := w.handmade("mine")
	faults, _ = term.doctor("")
	assert.Contains(t, faults["orphan_windows"], id)

	w.kill9()
	bound := w.record("work").Binding
	w.tmux("kill-pane", "-t", bound.Pane)
	w.until("the agent has ended", func() bool { return !w.alive(bound.Agent) })
	faults, _ = term.doctor("")
	assert.Contains(t, faults, doctor.Code("bot_down"))
	assert.Contains(t, faults, doctor.Code("recovery_due"))

	w.start()
	faults, _ = term.doctor("")
	assert.NotContains(t, faults, doctor.Code("bot_down"))
	w.stop()
}
