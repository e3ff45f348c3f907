package e2e

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	tgbot "github.com/go-telegram/bot"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/hosts"
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

// wide are the labels that have no room on a phone in the wide font of a bare Debian. A telephone's
// own font is a tenth narrower, and shows all but the last Russian one.
var wide = map[string][]string{
	"en": {"Connect @21", "Archive @21", "✓ time zone of the machine 12:00 (default)"},
	"de": {"✓ Zeitzone des Rechners 12:00 (Standard)"},
	"ru": {"Пометить «готово»", "Подключить", "Отправить первым", "✓ Потеряны", "✓ Принятие правок", "✓ как у текущей сессии (по умолчанию)",
		"✓ часовой пояс компьютера 12:00 (по умолчанию)", "часовой пояс компьютера 12:00 (по умолчанию)"},
}

// TestTourOfEachLanguage shows on the page all that the chat says in each language, each message
// once: its notices, its questions, the pages behind its menu, and their buttons. With CCBOT_SHOTS it
// keeps pictures of them all.
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
			for _, look := range looks() {
				page.Look(look.Look)
				cut := pagetest.Value[[]string](page, `[...document.querySelectorAll("[data-id]")].filter((row) => row.dataset.id >= `+
					strconv.Itoa(first[lang])+`&& row.dataset.id <= `+strconv.Itoa(last[lang])+`).flatMap((row) => [...row.querySelectorAll(".keyboard button")])
					.filter((b) => b.scrollWidth > b.clientWidth).map((b) => b.textContent)`)
				assert.Subset(t, wide[lang], cut, "buttons that are too long, %s", look.name)
			}
		})
	}
	assert.Empty(t, page.Problems(), "console errors")
}

// everythingSaid are the messages of the chat in a language, each once.
func everythingSaid(t *testing.T, lang string) (said []outbox.Message) {
	t.Helper()
	known := make(map[string]bool)
	keep := func(w *chattest.World) {
		w.Telegram.Mu.Lock()
		defer w.Telegram.Mu.Unlock()
		for _, m := range slices.Concat(w.Telegram.Posted, w.Telegram.Sent, w.Telegram.Edited, w.Telegram.Ended) {
			face, err := json.Marshal([]any{m.Text, chattest.Faces(m.Buttons)})
			require.NoError(t, err)
			if !known[string(face)] && strings.TrimSpace(m.Text.Text) != "" {
				known[string(face)] = true
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
		w.AsksFor(t, w.Session(t, name, session.Running), "Bash", chattest.Bash)
		w.Later(time.Second)
	}
	for _, command := range []string{"/list", "/waiting"} {
		w.MustHear(t, command)
		w.Work(t)
	}
}

// leavesTexts has texts that wait while a session asks, until a stop denies what it asks for.
func leavesTexts(t *testing.T, w *chattest.World) {
	t.Helper()
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
}

// onePlace are two machines of a chat.
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
	w.AgentsHome = w.Home
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

	for _, command := range []string{"/history", "/history COLOUR", "/changes", "/hosts", "/new", "/menu"} {
		visits(t, w, command, nil)
	}
}

// visits goes along a path of buttons from a page, and to what is one step further, up to three.
func visits(t *testing.T, w *chattest.World, command string, path []string) {
	t.Helper()
	w.MustHear(t, command)
	w.Work(t)
	id := w.Telegram.LastID()
	for _, word := range path {
		if !slices.Contains(chattest.Words(w.Shows(t, id)), word) {
			return // an action on the way has changed it
		}
		w.Press(t, chattest.Alice, id, word)
	}
	if len(path) == 3 {
		return
	}
	for _, word := range chattest.Words(w.Shows(t, id)) {
		if !slices.Contains(path, word) && word != w.Word(i18n.ButtonBack) && !slices.Contains(languageNames(), strings.TrimPrefix(word, "✓ ")) {
			visits(t, w, command, append(slices.Clone(path), word))
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
