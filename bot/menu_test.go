package bot_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/i18n"
	"ccbot/internal/health"
	"ccbot/internal/session"
)

// buttons are the words of a message's buttons.
func buttons(t *testing.T, w *chattest.World, id int) (all []string) {
	t.Helper()
	for _, row := range w.Shows(t, id).Buttons {
		for _, b := range row {
			all = append(all, b.Text)
		}
	}
	return all
}

func TestMenuReachesEachPage(t *testing.T) {
	w := chattest.NewWorld(t)
	w.Figures = health.Figures{Version: "1.2", Up: time.Hour, Claude: "2"}
	api := w.NewCurrentSession(t, "api", session.Running)
	web := w.Session(t, "web", session.Running)
	w.MustHear(t, "/menu")
	w.Work(t)
	id := w.Telegram.LastID()
	shows := func() string { return w.Shows(t, id).Text.Text }
	press := func(word string) {
		t.Helper()
		w.Press(t, chattest.Alice, id, word)
		w.Restart(t)
	}
	begin := shows()
	first := buttons(t, w, id)
	assert.Subset(t, first, []string{w.Word(i18n.PageSessions), w.Word(i18n.PageHealth), w.Word(i18n.PageHelp)})
	for _, page := range []struct {
		word i18n.Key
		want string
	}{{i18n.PageSessions, "api"}, {i18n.PageHealth, "ccbot 1.2"}, {i18n.PageHelp, w.Word(i18n.HelpAbout)}} {
		press(w.Word(page.word))
		assert.Contains(t, shows(), page.want)
		press(w.Word(i18n.ButtonBack))
		assert.Equal(t, begin, shows())
	}
	assert.Equal(t, id, w.Telegram.LastID(), "every screen is the same message")

	press(w.Word(i18n.PageSessions))
	press("web")
	assert.Equal(t, web.ID, w.Book.CurrentID(chattest.AtAlice, 0))
	assert.Contains(t, buttons(t, w, id), "✓ web")
	press("api")
	assert.Equal(t, api.ID, w.Book.CurrentID(chattest.AtAlice, 0))
}

// helpPages is the text of /help and of all pages behind its buttons.
func helpPages(t *testing.T, w *chattest.World) string {
	t.Helper()
	w.MustHear(t, "/help")
	w.Work(t)
	id := w.Telegram.LastID()
	all := w.Shows(t, id).Text.Text + "\n"
	for _, topic := range buttons(t, w, id) {
		if topic == w.Word(i18n.ButtonBack) {
			continue
		}
		w.Press(t, chattest.Alice, id, topic)
		all += w.Shows(t, id).Text.Text + "\n"
		w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonBack))
	}
	return all
}

// TestStartOffersFolders by their names alone, and says what the signs on a message mean.
func TestStartOffersFolders(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.Session(t, "api", session.Archived)
	w.MustHear(t, "/start")
	w.Work(t)
	id := w.Telegram.LastID()
	assert.Contains(t, w.Shows(t, id).Text.Text, "👀 saved · ✍ being typed · 👌 the agent has it")
	assert.Contains(t, buttons(t, w, id), filepath.Base(r.Dir))
	w.Press(t, chattest.Alice, id, filepath.Base(r.Dir))
	assert.Contains(t, w.Shows(t, id).Text.Text, filepath.Base(r.Dir))
}

func TestMenuSessionsAreShownInParts(t *testing.T) {
	w := chattest.NewWorld(t)
	for n := range 100 {
		w.Session(t, fmt.Sprintf("%s-%02d", strings.Repeat("long", 20), n), session.Starting)
	}
	require.NoError(t, w.Chat.Pages.Open(t.Context(), chat.Incoming{Message: conversation.Message{To: chattest.AtAlice}, From: chattest.Alice}, `list/{"part":99999,"back":"menu"}`))
	w.Work(t)
	id := w.Telegram.LastID()
	seen := ""
	for range 20 {
		seen = w.Shows(t, id).Text.Text + "\n" + seen
		if !strings.Contains(strings.Join(buttons(t, w, id), " "), "←") {
			break
		}
		w.Press(t, chattest.Alice, id, "←")
	}
	assert.Equal(t, 100, strings.Count(seen, "⏳"))
}

func TestHealth(t *testing.T) {
	w := chattest.NewWorld(t)
	well := health.Figures{Version: "1.2", Up: 3 * time.Hour, Sessions: map[string]int{"archived": 5, "running": 2},
		Inbox: 2, Outbox: 2, Cards: 3, Poll: health.Poll{Ago: 20 * time.Second}, API: health.API{Errors: 4, Waits: 1,
			Last: "bad request, Bad Request: chat not found", LastAgo: 5 * time.Minute},
		Hook: health.Hook{Events: 20, Slowest: 40 * time.Millisecond},
		Disk: health.Disk{Known: true, Free: 50 << 30, Total: 100 << 30, Own: 12 << 20}, Tmux: "3.5a", Claude: "2.1.328 (Claude Code)"}
	w.Figures = well
	w.MustHear(t, "/health")
	w.Work(t)
	id := w.Telegram.LastID()
	assert.Equal(t, `✓ Everything works.

ccbot 1.2, started 3 h ago
Sessions: 2 running, 5 archived
Queues: 1 in, 2 out, 3 to redraw
Telegram was asked 20 s ago
Bot API since the start: errors 4, forced pauses 1
Its last error, 5 min ago: “bad request, Bad Request: chat not found”
Hooks: slowest of the last 20 events 40 ms
Disk: 54 GB of 107 GB free; ~/.ccbot takes 13 MB
tmux 3.5a, Claude Code 2.1.328`, w.Shows(t, id).Text.Text)

	w.Figures.Poll = health.Poll{Ago: time.Hour, Stuck: true}
	w.Figures.NotClean = 2
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRefresh))
	shown := w.Shows(t, id).Text.Text
	assert.True(t, strings.HasPrefix(shown, chattest.Warning+"ccbot has not asked Telegram for messages for 1 h."), shown)
	assert.Contains(t, shown, "2 sessions have not fully ended")
	assert.Contains(t, shown, "Queues: 2 in", "no message asks")
	assert.NotContains(t, shown, w.Word(i18n.HealthWell))

	w.Figures = health.Figures{Version: "1.2", Poll: health.Poll{Ago: -1}}
	w.Press(t, chattest.Alice, id, w.Word(i18n.ButtonRefresh))
	assert.Equal(t, "✓ Everything works.\n\nccbot 1.2, started 0 s ago\nSessions: 0\nQueues: 0 in, 0 out, 0 to redraw\n"+
		"Bot API since the start: errors 0, forced pauses 0", w.Shows(t, id).Text.Text, "what is not known is not shown")
}

// Each thing that can be wrong has a sentence in each language.
func TestHealthWarningsHaveSentences(t *testing.T) {
	w := chattest.NewWorld(t)
	for _, lang := range i18n.Languages() {
		for _, code := range health.Codes() {
			key := i18n.HealthKey.Of(string(code))
			said := w.Speech.For(lang).Say(key, i18n.Args{"Count": 2, "Age": "1 h", "Size": "1 MB", "Dir": "~"})
			assert.NotEqual(t, string(key), said, lang)
		}
	}
}
