package e2e

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/loop"
	"ccbot/port"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// loopCards are the messages that show or report a loop of a session.
func (w *world) loopCards(title string) (all []botapi.Message) {
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && strings.HasPrefix(m.Text, title) {
			all = append(all, m)
		}
	}
	return all
}

// loopFromChat starts a loop as a person does: the task is a prompt that /loop replies to, the
// check and the bounds are replies to the page.
func (w *world) loopFromChat(words i18n.Words, task, check string) {
	w.t.Helper()
	prompt := w.say(task)
	w.until("the prompt is answered", func() bool { return len(w.received()) == 1 && w.record("work").Phase == "idle" })
	ask := w.hear(w.reply(prompt, "/loop"), task)
	w.drained() // a person cannot reply before ccbot knows the message that it has sent
	ask = w.hear(w.reply(ask.ID, check), words.Say(i18n.LoopOutside))
	w.drained()
	ask = w.hear(w.reply(ask.ID, "99 1h"), words.Say(i18n.StatusTurns, i18n.Args{"Count": 99}))
	assert.Empty(w.t, w.loops(), "nothing starts before [Start]")
	w.tap(ask, words.Say(i18n.ButtonLoopStart))
}

// TestP8_LoopFromChat: a loop that is started, paused by a person's prompt and continued in the
// chat has one card, also after kill -9, and its answers make no sound.
func TestP8_LoopFromChat(t *testing.T) {
	t.Parallel()
	for _, lang := range []string{"en", "ru"} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			words := i18n.Load(glyph.Name).For(lang)
			w := newWorld(t, withCards, "CCBOT_LANG="+lang)
			playground(t, w.dir)
			w.start()
			w.hear(w.say("/new work "+w.dir), "work")
			w.until("it is ready", func() bool { return w.record("work").Phase == "idle" })
			w.loopFromChat(words, "say I try", "sleep 1; grep -c . "+w.sent+"; grep -q perso[n] "+w.sent)

			title, _, _ := strings.Cut(words.Say(i18n.LoopTitle, i18n.Args{"Name": "work", "Said": "|"}), "|")
			card := w.hear(0, title)
			w.until("the card has the failed check", func() bool { return strings.Contains(w.loopCards(title)[0].Text, words.Say(i18n.LoopCheckFailed)) })
			w.loopPicture("running-"+lang, title)
			w.kill9()
			w.start()

			w.say("say I am a person")
			l := w.newestLoop("is paused", func(l loop.Loop) bool { return l.State == port.LoopPaused })
			require.Equal(t, port.WhyPersonActed, l.Reason)
			w.until("the pause is reported", func() bool { return len(w.loopCards(title)) == 2 })
			report := w.loopCards(title)[1]
			assert.True(t, report.Silent, "a person has caused it")
			w.until("the person's prompt is typed", func() bool { return slices.Contains(w.received(), "say I am a person") })
			w.loopPicture("paused-"+lang, title)
			w.tap(report, words.Say(i18n.ButtonLoopGoOn))

			w.newestLoop("is done", func(l loop.Loop) bool { return l.State == port.LoopDone })
			w.until("the end is reported", func() bool { return len(w.loopCards(title)) == 3 })
			w.until("the card shows the end", func() bool {
				return strings.Contains(w.loopCards(title)[0].Text, words.Say(i18n.LoopNowKey.Of("done")))
			})
			w.loopPicture("done-"+lang, title)
			all := w.loopCards(title)
			assert.Equal(t, card.ID, all[0].ID, "one card")
			assert.False(t, all[2].Silent, "the end")
			for _, m := range w.api.Messages(w.chat()) {
				if m.FromBot && m.ID > card.ID && m.Text == "I try" {
					assert.True(t, m.Silent, "an answer of the loop makes no sound")
				}
			}
			w.stop()
		})
	}
}

// loopPicture takes a picture of the card of a loop on a phone where people look at pictures.
func (w *world) loopPicture(name, text string) {
	w.t.Helper()
	dir := os.Getenv("CCBOT_SHOTS")
	if dir == "" {
		return
	}
	page := pagetest.Open(w.t, w.api, pagetest.Look{Scale: 2})
	page.WaitText(strings.TrimSpace(text))
	first, _, _ := strings.Cut(text, "work") // the name is bold, so it is another node
	page.Eval(`(() => {
		const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
		for (let n; (n = all.nextNode()) && !n.nodeValue.includes(` + strconv.Quote(first) + `); );
		all.currentNode.parentElement.scrollIntoView({block: "center"})
	})()`)
	page.Screenshot(filepath.Join(dir, "loop-"+name+".png"))
}
