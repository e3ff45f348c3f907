package e2e

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// TestTourOfMachines shows in each language a session on another machine, which hangs and comes
// back: a text waits for it meanwhile. With CCBOT_SHOTS it keeps a picture of each screen, as
// TestTour does.
func TestTourOfMachines(t *testing.T) {
	t.Parallel()
	pagetest.Browser(t)
	catalog := i18n.Load(glyph.Name)
	ways := make(map[string]func(t *testing.T))
	for _, lang := range i18n.Languages() {
		ways[lang] = func(t *testing.T) {
			tr := &walk{name: "machines", catalog: catalog, lang: lang, words: catalog.For(lang)}
			tr.world = newWorldAt(t, botapi.Options{}, withCards, "CCBOT_LANG="+lang)
			tr.start()
			tr.page = pagetest.Open(t, tr.api, pagetest.Look{})
			there, _ := tr.withMachine("tower")
			tr.reached("tower")
			tr.worksThere(there)
			tr.waitsForMachine(there)
			assert.Empty(t, tr.page.Problems(), "console errors")
			there.stop()
			tr.stop()
		}
	}
	atOnce(t, ways)
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
