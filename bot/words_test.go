package bot_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/bot/chat/chattest"
	"ccbot/i18n"
)

// TestEverySentenceIsSaidInEveryLanguage says what this package can say and looks for a field that
// was not filled, and for a key that says itself.
func TestEverySentenceIsSaidInEveryLanguage(t *testing.T) {
	var keys []string
	for _, key := range chattest.Consts(t, "../i18n", "") {
		if strings.Contains(key, "_") {
			keys = append(keys, key)
		}
	}
	for _, lang := range i18n.Languages() {
		chattest.RunsAs(t, lang, func(t *testing.T, w *chattest.World) {
			w.Stops(t)
			w.Lang = lang
			w.Again()
			w.Starts(t)
			w.SayReceipts(t)
			w.SayRefusals(t)
			for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
				w.SayWriters(t, k)
			}
			w.SayAsks(t)
			w.SayRecovery(t)
			w.SayWindows(t)
			var said []string
			for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Edited, w.Telegram.Sent) {
				said = append(said, m.Text.Text)
				for _, row := range m.Buttons {
					for _, button := range row {
						said = append(said, button.Text)
					}
				}
			}
			for _, text := range append(said, w.Telegram.Done()...) {
				assert.NotContains(t, text, "<no value>")
				assert.NotRegexp(t, `\p{Han} ?[,;:(]|[，。；：、] `, text, "Chinese has signs of its own")
				for _, key := range keys {
					assert.NotContains(t, text, key)
				}
			}
			assert.Greater(t, len(said), 100)
		})
	}
}
