package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/try/botapi"
)

// tourOfMachines shows a session on another machine, which hangs and comes back: a text waits for it
// meanwhile.
func tourOfMachines(t *testing.T, tr *walk) {
	tr.opens(t, botapi.Options{}, func() {})
	there, _ := tr.withMachine("tower")
	tr.reached("tower")
	tr.worksThere(there)
	tr.waitsForMachine(there)
	there.stop()
	tr.ends()
}

// worksThere begins a session on another machine.
func (tr *walk) worksThere(there *world) {
	tr.sees(tr.say("/hosts"), "tower")
	tr.screen("hosts")
	tr.withWord(tr.say("/new"), "tower")
	tr.screen("new")
	tr.sees(tr.say("/new shop tower:"+there.dir), tr.says(i18n.Ready, i18n.Args{"Name": "tower:shop"}))
	tr.sees(tr.say("say it is cool up here"), "it is cool up here")
	tr.screen("answer")
}

// waitsForMachine writes to a machine that hangs.
func (tr *walk) waitsForMachine(there *world) {
	require.NoError(tr.t, there.bot.cmd.Process.Signal(syscall.SIGSTOP))
	from := tr.lastID()
	tr.sees(from, tr.says(i18n.MachineAwaySessions, i18n.Args{"Count": 1, "Names": "tower:shop"}))
	tr.with(tr.say("say and now"), i18n.ButtonTakeBack)
	tr.say("/list")
	tr.screen("away")
	require.NoError(tr.t, there.bot.cmd.Process.Signal(syscall.SIGCONT))
	tr.sees(from, "and now")
	tr.screen("back")
}
