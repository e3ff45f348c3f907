package e2e

import (
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

// browser is a person who uses a page of new sessions.
type browser struct {
	w    *world
	by   *botapi.Person
	chat int64
	page int
}

// browses opens the page of new sessions.
func (w *world) browses(by *botapi.Person, chat int64) *browser {
	w.t.Helper()
	asked := by.Send(chat, "/new")
	b := &browser{w: w, by: by, chat: chat}
	w.until("the page is there", func() bool {
		for _, m := range w.api.Messages(chat) {
			if m.FromBot && m.ID > asked && strings.HasPrefix(m.Text, "Where should the new session work?") {
				b.page = m.ID
			}
		}
		return b.page != 0
	})
	b.at(b.page)
	return b
}

// at continues with the page in another message, once the bot has stored it: before that a reply
// would not find it.
func (b *browser) at(page int) {
	b.w.t.Helper()
	b.page = page
	b.w.shownIs(botapi.Message{ID: page})
}

// taps taps the buttons of the page one after the other; each changes the page.
func (b *browser) taps(labels ...string) {
	b.w.t.Helper()
	for _, label := range labels {
		var was botapi.Message
		b.w.until("the page offers "+label, func() bool {
			was, _ = b.w.api.Message(b.chat, b.page)
			button, has := was.Find(label)
			if has {
				_, err := b.by.Tap(b.chat, b.page, button.Data)
				if errors.Is(err, botapi.ErrNoButton) { // the page was drawn again
					return false
				}
				b.w.tapped(err)
			}
			return has
		})
		b.w.until("the page changes after "+label, func() bool {
			now, _ := b.w.api.Message(b.chat, b.page)
			return now.Text != was.Text || !reflect.DeepEqual(now.Keyboard, was.Keyboard)
		})
	}
}

// shows waits until the page has a text.
func (b *browser) shows(text string) {
	b.w.t.Helper()
	b.w.until("the page says "+text, func() bool {
		m, _ := b.w.api.Message(b.chat, b.page)
		return strings.Contains(m.Text, text)
	})
}

// folder makes a folder that the page can reach from its first one, and returns its name.
func (w *world) folder(name string) string {
	w.t.Helper()
	require.NoError(w.t, os.MkdirAll(filepath.Join(w.dir, name), 0o755))
	return name
}

// TestP4_BrowserStartsOneSessionWithText: the text waits for the session; two taps are one start.
func TestP4_BrowserStartsOneSessionWithText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	api := w.folder("api")
	b := w.browses(w.person, w.chat())
	b.taps("Browse…", "work", api, "Use this folder")
	b.shows("A new session in")
	w.hear(w.say("say what was asked beside the page"), "This becomes the first prompt")
	b.shows("First prompt, ")
	m, _ := w.api.Message(w.chat(), b.page)
	start, has := m.Find("Start fresh")
	require.True(t, has)
	for range 2 {
		_, err := w.person.Tap(w.chat(), b.page, start.Data)
		if !errors.Is(err, botapi.ErrNoButton) { // the session has begun already
			w.tapped(err)
		}
	}
	w.hear(b.page, "is ready")
	w.hear(b.page, "what was asked beside the page")
	b.shows("The session works in")
	w.hear(w.say("say and more"), "and more")
	require.Len(t, w.records(), 1)
	assert.Equal(t, filepath.Join(w.dir, api), w.records()[0].Dir)
	assert.Len(t, w.received(), 2, "the agent got each text once")
	w.stop()
}

// TestUnusableFolderShowsSentence uses a folder that vanishes while it is shown, and one without
// rights.
func TestUnusableFolderShowsSentence(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	gone, shut := w.folder("gone"), w.folder("shut")
	b := w.browses(w.person, w.chat())
	b.taps("Browse…", "work", gone, "Use this folder")
	b.shows("A new session in")
	require.NoError(t, os.Remove(filepath.Join(w.dir, gone)))
	b.taps("Start fresh")
	w.hear(b.page-1, "gone does not exist. Check the spelling or create the folder, then try again.")
	if os.Geteuid() != 0 { // root may look everywhere
		require.NoError(t, os.Chmod(filepath.Join(w.dir, shut), 0))
		b = w.browses(w.person, w.chat())
		b.taps("Browse…", "work", shut)
		b.shows("shut. Change its permissions or choose another folder.")
	}
	assert.Empty(t, w.records())
	w.stop()
}

// TestRealBrowser starts the real CLI with a model and a permission mode different from the
// settings.
func TestRealBrowser(t *testing.T) {
	t.Parallel()
	w, api := newRealWorld(t)
	w.start()
	b := w.browses(w.person, w.chat())
	w.person.Reply(w.chat(), b.page, w.dir)
	b.at(w.hearIn(w.chat(), filepath.Base(w.dir)).ID) // below the reply
	b.taps("Use this folder", "Model: from settings", "Model: Opus", "Mode: from settings", "Mode: Manual")
	b.shows("A new session in")
	w.say("say what the model is asked first")
	b.shows("say what the model is asked first")
	b.taps("Start fresh")
	w.hear(b.page, "is ready")
	w.until("the model is asked", func() bool { _, ok := api.Asked("say what the model is asked first"); return ok })
	last, ok := api.Asked("say what the model is asked first")
	require.True(t, ok)
	assert.Contains(t, last.Model, "sonnet")
	file := filepath.Join(w.dir, "made")
	w.say("write " + file)
	w.until("the edit is accepted", func() bool { _, err := os.Stat(file); return err == nil })
	assert.Zero(t, w.heard("wants to"), "nobody was asked")
	modes := w.hear(w.say("/mode"), "Permission mode: Accept edits")
	assert.Contains(t, modes.Text, "Model: Sonnet 5.5")
	w.stop()
}
