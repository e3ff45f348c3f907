package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
	"ccbot/try/botapi"
	"ccbot/try/botapi/pagetest"
)

// TestTourOfThePast goes through what is over, in each language: the archive, a session of it, what was said there, a
// word, the days, and why it ended. With CCBOT_SHOTS it keeps a picture of each screen, as TestTour does.
func TestTourOfThePast(t *testing.T) {
	pagetest.Browser(t)
	catalog, err := i18n.Load(glyph.Name)
	require.NoError(t, err)
	for _, lang := range []string{"en", "ru", "zh"} {
		t.Run(lang, func(t *testing.T) { tourOfThePast(t, catalog.For(lang), false) })
	}
	t.Run("with a kill behind each screen", func(t *testing.T) { tourOfThePast(t, catalog.For("en"), true) })
}

func tourOfThePast(t *testing.T, words i18n.Words, kills bool) {
	w := newWorldAt(t, botapi.Options{}, withCards, "CCBOT_LANG="+words.Lang())
	w.past()
	w.start()
	tr := &walk{world: w, words: words, page: pagetest.Open(t, w.api, pagetest.Look{}), kills: kills}

	archive := tr.withWord(tr.say("/archive"), "1 shop")
	tr.screen("archive")
	tr.pressWord(archive.ID, "1 shop")
	tr.until("the session is shown", func() bool { return tr.has(archive.ID, i18n.ButtonInspect) })
	tr.screen("archived")
	tr.press(archive.ID, i18n.ButtonInspect)
	tr.until("all of it is shown", func() bool { return !tr.has(archive.ID, i18n.ButtonInspect) })
	tr.screen("inspected")
	tr.press(archive.ID, i18n.ButtonBack)
	tr.press(archive.ID, i18n.ButtonForget)
	tr.sees(archive.ID, tr.says(i18n.ForgetConfirm, i18n.Args{"Name": "shop"}))
	tr.screen("forget")

	history := tr.with(tr.say("/history shop"), i18n.ButtonOlder)
	tr.screen("history")
	tr.press(history.ID, i18n.ButtonDays)
	tr.until("the days are shown", func() bool { return !tr.has(history.ID, i18n.ButtonDays) })
	tr.screen("days")
	tr.press(history.ID, i18n.ButtonBack)
	tr.pressWord(history.ID, "1")
	tr.until("an answer is shown", func() bool { return !tr.has(history.ID, i18n.ButtonDays) })
	tr.screen("entry")

	found := tr.withWord(tr.say("/history shop COLOUR"), "1")
	tr.screen("found")
	tr.pressWord(found.ID, "1")
	tr.until("a hit is shown", func() bool { return !tr.hasWord(found.ID, "1") })
	tr.screen("hit")

	why := tr.with(tr.say("/why shop"), i18n.ButtonDetails)
	tr.screen("why")
	tr.press(why.ID, i18n.ButtonDetails)
	tr.until("the details are shown", func() bool { return !tr.has(why.ID, i18n.ButtonDetails) })
	tr.screen("why-details")
	assert.Empty(t, tr.page.Problems(), "console errors")
}

// past writes the records of sessions that are over, and the conversation of one.
func (w *world) past() {
	store, now := w.store(), time.Now().UTC()
	for i, name := range []string{"shop", "🚀 launch", "/kill", "docs", "payments-with-a-long-name", "api", "web", "старый-сайт"} {
		at := now.Add(-time.Duration(i*11) * time.Hour)
		r := session.Record{ID: uuid.New(), Name: name, Dir: w.dir, Host: "desk", State: session.Archived, Conversation: session.Conversation{ChatID: w.chat()},
			ClaudeSessionID: uuid.New(), CreatedAt: at.Add(-48 * time.Hour), StartedAt: at.Add(-48 * time.Hour), EndedAt: at}
		if i == 3 {
			r.State = session.Lost
		}
		for n, c := range []session.Change{{To: session.Starting, Rule: "start", Why: "a new session was asked for"},
			{From: session.Starting, To: session.Running, Rule: "ready", Why: "reported in, idle, empty prompt box"},
			{From: session.Running, To: session.Stopping, Rule: "stop", Why: fmt.Sprintf("asked for by %d", w.chat())},
			{From: session.Stopping, To: session.Archived, Rule: "stopped", Why: "nothing of it lives: pid 4711 ended (term)"}} {
			c.At = at.Add(time.Duration(n-3) * time.Minute)
			r.History = append(r.History, c)
		}
		if i == 0 {
			path := filepath.Join(w.claude, "projects", "shop", r.ClaudeSessionID.String()+".jsonl")
			require.NoError(w.t, os.MkdirAll(filepath.Dir(path), 0o700))
			require.NoError(w.t, os.WriteFile(path, []byte(saidInShop(at)), 0o600))
			end, err := transcript.End(path)
			require.NoError(w.t, err)
			r.Cursors = []transcript.Cursor{end}
		}
		require.NoError(w.t, store.Create(r))
	}
}

// saidInShop is a conversation of three days.
func saidInShop(end time.Time) string {
	var b strings.Builder
	for n, asked := range []string{"Give the shop a new colour", "Run the tests, please", "Почему тест падает?", "Why does the checkout test fail on Mondays, and what would you do about it?"} {
		at := end.Add(time.Duration(n-4) * 12 * time.Hour)
		fmt.Fprintf(&b, "{\"type\":\"user\",\"uuid\":\"u%d\",\"timestamp\":%q,\"message\":{\"content\":%q}}\n", n, at.Format(time.RFC3339), asked)
		for _, tool := range []string{"Read", "Edit", "Edit", "Bash", "Bash", "Bash"}[:2+n] {
			fmt.Fprintf(&b, "{\"type\":\"assistant\",\"timestamp\":%q,\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":%q,\"input\":{}}]}}\n", at.Format(time.RFC3339), tool)
		}
		answer := "Done: **colours.conf** has the new colour now.\n\n```\ncolour = \"blue\"\n```\n\n1. The tests pass.\n2. Nothing else was changed, so the other pages keep their colour until somebody asks for more."
		fmt.Fprintf(&b, "{\"type\":\"assistant\",\"timestamp\":%q,\"message\":{\"content\":[{\"type\":\"text\",\"text\":%q}]}}\n", at.Add(3*time.Minute).Format(time.RFC3339), answer)
	}
	return b.String()
}
