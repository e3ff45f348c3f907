package e2e

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/try/botapi"
)

// tourOfAttention shows what waits for a person: texts while a question is open, two sessions that
// ask, the question that comes when its session is chosen, a stop that denies it, and a stop with a
// queue.
func tourOfAttention(t *testing.T, tr *walk) {
	tr.opens(t, botapi.Options{}, func() {})
	tr.isAsked()
	tr.stopsTurns()
	tr.ends()
}

// isAsked has two sessions that ask.
func (tr *walk) isAsked() {
	for _, name := range []string{"shop", "api"} {
		dir := filepath.Join(tr.dir, name)
		require.NoError(tr.t, os.MkdirAll(dir, 0o700))
		tr.sees(tr.say("/new "+name+" "+dir), tr.says(i18n.Ready, i18n.Args{"Name": name}))
		if name == "shop" {
			tr.with(tr.say("bash make deploy"), i18n.AskAllow)
			tr.say("then run the linter")
			tr.say("and tell me in a few words what it has said about the new files")
			tr.screen("texts")
		}
	}
	tr.sees(tr.say("ask one"), "Which colour?")
	questions := tr.says(i18n.ButtonQuestions, i18n.Args{"Count": 2})
	list := tr.withWord(tr.say("/list"), questions)
	tr.screen("list")
	waiting := tr.say("/waiting")
	tr.with(waiting, i18n.AskAllow)
	tr.screen("waiting")
	tr.pressWord(list.ID, "shop ❓")
	tr.screen("comes")
}

// stopsTurns stops a session that asks, and one with a queue.
func (tr *walk) stopsTurns() {
	stop := tr.with(tr.say("/stop shop"), i18n.ButtonDenyAndStop)
	tr.screen("deny-and-stop")
	tr.press(stop.ID, i18n.ButtonDenyAndStop)
	texts := tr.with(stop.ID, i18n.ButtonSendAll)
	tr.screen("denied")
	tr.press(texts.ID, i18n.ButtonDropAll)

	slow := tr.say("slow 600")
	tr.with(slow, i18n.ButtonStop)
	tr.with(tr.say("say the correction"), i18n.ButtonInterruptSend)
	tr.say("say another one")
	tr.screen("queue")
	tr.with(tr.say("/stop"), i18n.ButtonSendAll)
	tr.screen("stopped")
}
