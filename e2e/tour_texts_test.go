package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/bot/chat"
	"ccbot/bot/chat/chattest"
	chatstore "ccbot/bot/conversation"
	"ccbot/bot/hosts"
	"ccbot/bot/inbox"
	"ccbot/bot/machine"
	"ccbot/bot/outbox"
	"ccbot/fleet/wire"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/internal/longtest"
	"ccbot/internal/session"
	"ccbot/lifecycle/typing"
	"ccbot/port/folders"
	"ccbot/port/news"
	"ccbot/port/talk"
	"ccbot/try/botapi"
	"ccbot/try/botapi/botapitest"
	"ccbot/try/botapi/pagetest"
)

// tooWide are the labels that have no room on a phone in the wide font of a bare Debian. A telephone's
// own font is a tenth narrower, and shows all but the last Russian one.
var tooWide = map[string][]string{
	"en": {"Connect @21", "Archive @21", "✓ time zone of the machine 12:00 (default)"},
	"de": {"✓ Zeitzone des Rechners 12:00 (Standard)"},
	"ru": {"Пометить «готово»", "Подключить", "Отправить первым", "✓ Потеряны", "✓ Принятие правок", "✓ как у текущей сессии (по умолчанию)",
		"✓ часовой пояс компьютера 12:00 (по умолчанию)", "часовой пояс компьютера 12:00 (по умолчанию)"},
}

// TestTourOfEachLanguage shows on the page all that the chat says in each language, each message
// once: its notices, its questions, the pages behind its menu, and their buttons.
//
// How a message looks depends only on its texts, so the chat among fakes sends them. That the whole
// program sends the same is what TestTour shows.
func TestTourOfEachLanguage(t *testing.T) {
	longtest.Mark(t, "starts a browser")
	t.Parallel()
	pagetest.Browser(t)
	api := botapitest.Start(t, botapi.Options{})
	api.PagePerson().Start()
	b, err := tgbot.New(api.Token(), tgbot.WithSkipGetMe(), tgbot.WithServerURL(api.URL()))
	require.NoError(t, err)
	first, last := make(map[string]int), make(map[string]int) // messages of a language
	for _, lang := range i18n.Languages() {
		for _, m := range everythingSaid(t, lang) {
			send := &tgbot.SendMessageParams{ChatID: api.PageChat(), Text: m.Text.Text, Entities: m.Text.Entities}
			if len(m.Buttons) > 0 {
				send.ReplyMarkup = chattest.Telegrams(0, m).ReplyMarkup
			}
			sent, err := b.SendMessage(t.Context(), send)
			require.NoError(t, err, "%q", m.Text.Text)
			first[lang], last[lang] = cmp.Or(first[lang], sent.ID), sent.ID
		}
	}
	page := pagetest.Open(t, api, pagetest.Look{})
	for _, lang := range i18n.Languages() {
		t.Run(lang, func(t *testing.T) {
			require.Len(t, among(page, first[lang], last[lang], ".bubble", "true"), last[lang]-first[lang]+1, "each message is shown")
			for _, look := range looks() {
				page.Look(look.Look)
				assert.Subset(t, tooWide[lang], among(page, first[lang], last[lang], ".keyboard button", `n.scrollWidth > n.clientWidth`),
					"buttons that are too long, %s", look.name)
				assert.Empty(t, among(page, first[lang], last[lang], ".bubble, .bubble *:not(.table *), .keyboard",
					`n.getBoundingClientRect().left < 0 || n.getBoundingClientRect().right > innerWidth`), "what has no room, %s", look.name)
			}
		})
	}
	assert.Empty(t, page.Problems(), "console errors")
}

// among are the texts of those parts of some messages of which a condition holds.
func among(page *pagetest.Page, first, last int, parts, condition string) []string {
	return pagetest.Value[[]string](page, fmt.Sprintf(`[...document.querySelectorAll("[data-id]")].filter((row) => row.dataset.id >= %d && row.dataset.id <= %d)
		.flatMap((row) => [...row.querySelectorAll(%q)]).filter((n) => %s).map((n) => n.textContent)`, first, last, parts, condition))
}

// digits are what may differ between two messages that look the same.
var digits = regexp.MustCompile(`[0-9]+`)

// everythingSaid are the messages of the chat in a language, each once.
func everythingSaid(t *testing.T, lang string) (said []outbox.Message) {
	t.Helper()
	known := make(map[string]bool)
	keep := func(w *chattest.World) {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Sent, w.Telegram.Edited, w.Telegram.Ended) {
			text := digits.ReplaceAllString(m.Text.Text, "0")
			keys := digits.ReplaceAllString(fmt.Sprint(chattest.Faces(m.Buttons)), "0")
			if (!known[text] || !known[keys]) && strings.TrimSpace(text) != "" {
				known[text], known[keys] = true, true
				said = append(said, m)
			}
		}
	}
	for _, speaks := range []func(t *testing.T, w *chattest.World){
		func(t *testing.T, w *chattest.World) { w.ShowsEveryButton(t) }, opensPages,
	} {
		w := chattest.NewWorld(t)
		w.Lang = lang
		w.Again()
		speaks(t, w)
		keep(w)
	}
	for _, speaks := range []func(t *testing.T, w *chattest.World){saysAll, asksAll, leavesTexts} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			w.Stops(t)
			w.Lang = lang
			w.Again()
			w.Starts(t)
			speaks(t, w)
			keep(w)
		})
	}
	return said
}

// saysAll has the notices.
func saysAll(t *testing.T, w *chattest.World) {
	t.Helper()
	w.SayReceipts(t)
	w.SayRefusals(t)
	for _, k := range []chattest.Conflict{chattest.ResumeRefused, chattest.OtherWriter, chattest.WriterAfterEnd} {
		w.SayWriters(t, k)
	}
	w.SayAsks(t)
	w.SayRecovery(t)
	w.SayWindows(t)
}

// asksAll has three sessions that ask.
func asksAll(t *testing.T, w *chattest.World) {
	t.Helper()
	for _, name := range []string{"api", "web", "docs"} {
		q := w.Request(t, w.Session(t, name, session.Running), "Bash", chattest.Bash)
		q.Suggestions = []json.RawMessage{json.RawMessage(
			`{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"make:*"}],"behavior":"allow","destination":"session"}`)}
		q.Ask = claudeask.Of(q.Request)
		w.Dials(q)
		require.NoError(t, w.OnRequest(t.Context(), q.Request))
		w.Later(time.Second)
	}
	for _, command := range []string{"/list", "/waiting"} {
		w.MustHear(t, command)
		w.Work(t)
	}
}

// leavesTexts has texts that wait while a session asks, until a stop denies what it asks for, and
// texts that a stop takes back.
func leavesTexts(t *testing.T, w *chattest.World) {
	t.Helper()
	for _, text := range []string{"/new", "run the tests"} { // it waits for its session
		w.MustHear(t, text)
		w.Work(t)
	}
	r, _ := w.Asking(t)
	for _, text := range []string{"first", "not on a Friday"} {
		about := talk.Prompt{Key: w.MustHear(t, text)}
		require.NoError(t, w.SessionNews(t.Context(), w.Record(t, r.ID), news.Held{Why: news.HeldDialog, Prompt: about,
			Now: talk.Activity{Phase: talk.PhaseWaitingPermission, What: "Bash"}}))
		w.Work(t)
	}
	w.Lifecycle.OnInterrupt = func(uuid.UUID) (bool, error) { return false, chattest.Deep(typing.ErrAsks) }
	w.MustHear(t, "/stop")
	w.Work(t)
	w.Press(t, chattest.Alice, w.Telegram.LastID(), w.Word(i18n.ButtonDenyAndStop))
	w.Later(chattest.Round)

	web := w.NewCurrentSession(t, "web", session.Running)
	for _, text := range []string{"one", "two"} {
		e := w.Prompt(t, web, text, inbox.Held)
		require.NoError(t, w.SessionNews(t.Context(), web, news.TakenBack{Prompt: talk.Prompt{Key: e.Key, Text: text}}))
		w.Work(t)
	}
}

// machines are those of a chat that has more than one.
type machines struct{ hosts.Fleet }

func (machines) Exists() bool { return true }

func (machines) Status(context.Context, string) machine.Status {
	return machine.Status{Version: "1.5.0", Agents: 2, Load: .25, DiskFree: 3e9, DiskSize: 4e9}
}

// opensPages goes from page to page, in a chat with another machine, about a session with a long
// conversation and changed files.
func opensPages(t *testing.T, w *chattest.World) {
	t.Helper()
	w.Home = host.WithoutLinks(shortDir(t))
	w.AgentsHome, w.Roots = w.Home, []string{w.Home} // above are the folders of other tests
	for _, dir := range []string{"api/.git", "web", ".hidden"} {
		require.NoError(t, os.MkdirAll(filepath.Join(w.Home, dir), 0o700))
	}
	w.Deps.Fleet = machines{}
	w.Restart(t)
	other := chattest.NewWorld(t)
	far, _ := wire.Loopback(t.Context(), other.Machine)
	require.NoError(t, w.Fleet.Add("bbbb", "barn", far))

	w.Session(t, "old", session.Archived)
	r := w.NewCurrentSession(t, "api", session.Running)
	files := folders.Changes{Branch: "main", Files: []folders.ChangedFile{{Path: "doc.go", Kind: folders.Added, Added: 12}, {Path: "notes.md", Kind: folders.Untracked, Added: 1}}}
	w.Git.Since = map[folders.Since]folders.Changes{folders.SessionStart: files}
	w.Git.Patches = map[string]folders.Patch{"doc.go": {Text: "@@ -0,0 +1,1 @@\n+package doc\n"}, "notes.md": {Text: "@@ -0,0 +1,1 @@\n+note\n"}}
	path := filepath.Join(w.Dir, "projects", r.AgentSessionID.String()+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(conversation(r.Dir, w.Now(), "And on Tuesdays?")), 0o600))
	w.Records.Change(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path}} })

	known := make(map[string]bool)
	for _, command := range []string{"/history", "/history COLOUR", "/changes", chat.Address("changes", map[string]any{"session": r.ID, "turn": "turn", "since": "turn"}),
		"/hosts", "/new", "/menu"} {
		visits(t, w, command, nil, known)
	}

}

// visits goes along a path of buttons from a page, and to what is one step further, up to three. What
// leads to the same buttons as another path is the same screen.
func visits(t *testing.T, w *chattest.World, command string, path []string, known map[string]bool) {
	t.Helper()
	if strings.HasPrefix(command, "/") {
		w.MustHear(t, command)
	} else {
		require.NoError(t, w.Chat.Pages.Open(t.Context(), chat.Incoming{Message: chatstore.Message{To: chattest.AtAlice}, From: chattest.Alice}, command))
	}
	w.Work(t)
	id := w.Telegram.LastID()
	for _, word := range path {
		if !slices.Contains(chattest.Words(w.Shows(t, id)), word) {
			return // an action on the way has changed it
		}
		w.Press(t, chattest.Alice, id, word)
	}
	words := chattest.Words(w.Shows(t, id))
	screen := strings.Join(words, "\n")
	if len(path) == 3 || known[screen] {
		return
	}
	known[screen] = true
	for _, word := range words {
		if !slices.Contains(path, word) && word != w.Word(i18n.ButtonBack) && !slices.Contains(languageNames(), strings.TrimPrefix(word, "✓ ")) {
			visits(t, w, command, append(slices.Clone(path), word), known)
		}
	}
}

// languageNames are what the setting of the language offers.
func languageNames() (all []string) {
	catalog := i18n.Load(glyph.Name)
	for _, lang := range i18n.Languages() {
		all = append(all, catalog.For(lang).Say(i18n.LanguageName))
	}
	return all
}
