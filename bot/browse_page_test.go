package bot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/port"
)

// waits is whether a text still waits for a session that is started.
func (w *browsing) waits(key string) bool {
	w.t.Helper()
	e, err := w.Inbox.Load(key)
	return err == nil && e.State == inbox.Asked
}

// hears sends a text, and reports whether it became a first prompt.
func (w *browsing) hears(text string) (key string, first bool) {
	w.t.Helper()
	key = w.MustHear(w.t, text)
	w.Work(w.t)
	return key, w.waits(key)
}

func TestOnlyUsedPageTakesFirstPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := startedIn(t, "api")
		r := w.NewCurrentSession(t, "other", session.Running)
		w.open()
		w.Later(10 * time.Minute)
		w.press(w.say(i18n.ButtonBrowse))
		w.Later(10 * time.Minute)
		_, first := w.hears("one")
		assert.True(t, first, "ten minutes after the last tap")
		w.Later(6 * time.Minute)
		key, first := w.hears("two")
		assert.False(t, first, "a text is no tap")
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
		w.MustHear(t, "/list")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, "other", "commands always work")
	})
}

func TestChoosingSessionLeavesPage(t *testing.T) {
	w := inFolders(t, "api")
	r := w.NewCurrentSession(t, "other", session.Running)
	w.open()
	require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, r.ID))
	key, first := w.hears("for the session")
	assert.False(t, first)
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
	w.press(w.say(i18n.ButtonBrowse))
	_, first = w.hears("for the next one")
	assert.True(t, first, "a tap comes back to the page")
}

// Returning to the menu starts no session, on whichever page [Back] is tapped.
func TestOpeningMenuLeavesPages(t *testing.T) {
	w := inFolders(t, "api")
	r := w.NewCurrentSession(t, "other", session.Running)
	w.open()
	w.open()
	w.press(w.say(i18n.ButtonBack))
	assert.Equal(t, w.say(i18n.MenuAsk), w.text())
	key, first := w.hears("for the session")
	assert.False(t, first)
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
}

// A command for an agent means the one that there is; without one it is for the next.
func TestAgentCommandGoesToCurrentSession(t *testing.T) {
	w := inFolders(t, "api")
	w.open()
	_, first := w.hears("/init")
	assert.True(t, first, "no session is open")
	r := w.NewCurrentSession(t, "other", session.Running)
	w.press(w.say(i18n.ButtonBrowse))
	key, first := w.hears("/compact")
	assert.False(t, first)
	assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+r.ID.String())
	_, first = w.hears("build it")
	assert.True(t, first, "the page is open")
}

func TestStartingSessionLeavesOtherPages(t *testing.T) {
	w := inFolders(t, "api")
	w.open()
	older := w.page
	w.open()
	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis), w.say(i18n.ButtonStartFresh))
	assert.NotEmpty(t, w.Shows(t, older).Buttons)
	key, first := w.hears("for the session")
	assert.False(t, first)
	assert.Contains(t, strings.Join(w.Lifecycle.Done(), "\n"), "queue "+key)
}

// says is a text of a person in a group.
func (w *browsing) says(from int64, text string) (key string) {
	w.t.Helper()
	key, u := w.Accept(w.t, &models.Message{From: &models.User{ID: from}, Chat: chattest.GroupChat(chattest.Ours), Text: text})
	require.NoError(w.t, w.Handle(w.t.Context(), key, u))
	w.Work(w.t)
	return key
}

func TestGroupPageBelongsToItsPerson(t *testing.T) {
	w := inFolders(t, "api", "web")
	r := w.NewCurrentSession(t, "other", session.Running)
	require.NoError(t, w.Book.Use(t.Context(), chattest.InGroup, 0, chattest.ViewOf(r)))
	w.says(chattest.Alice, "/new")
	w.page = w.Telegram.LastID()
	was := w.text()
	w.Press(t, chattest.Bob, w.page, w.say(i18n.ButtonBrowse))
	assert.Equal(t, was, w.text())
	assert.Contains(t, w.Telegram.Done(), "answer query: "+w.say(i18n.NotForYou))
	assert.False(t, w.waits(w.says(chattest.Bob, "Bob's")), "it is for the session")
	w.says(chattest.Bob, "/new")
	bobs := w.Telegram.LastID()
	require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.InGroup, 0, r.ID))
	assert.True(t, w.waits(w.says(chattest.Alice, "Alice's")), "another person turns to a session")
	assert.True(t, w.waits(w.says(chattest.Bob, "Bob's")))
	w.Press(t, chattest.Bob, bobs, w.say(i18n.ButtonBrowse))
	assert.NotContains(t, w.Shows(t, bobs).Text.Text, "Alice's")
	assert.Contains(t, w.Shows(t, bobs).Text.Text, "Bob's")
}

// A first prompt that a person has sent elsewhere goes nowhere else.
func TestP8_FirstPromptGoesToOneSession(t *testing.T) {
	w := inFolders(t, "api")
	w.open()
	one, _ := w.hears("one")
	two, _ := w.hears("two")
	w.Lifecycle.OnQueue = func(_ uuid.UUID, key string) error {
		if key == one {
			return w.Inbox.Change(two, func(e *inbox.Entry) error { e.State = inbox.Held; return nil })
		}
		return nil
	}
	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis), w.say(i18n.ButtonStartFresh))
	done := strings.Join(w.Lifecycle.Done(), "\n")
	assert.Contains(t, done, "queue "+one)
	assert.NotContains(t, done, "queue "+two)
}

func TestP4_FirstPromptOutlivesItsSession(t *testing.T) {
	w := inFolders(t, "api")
	r := w.Session(t, "api", session.Archived)
	w.Records.Change(r.ID, func(s *session.Record) { s.AgentSessionID = w.talk("api", "of a session", time.Hour) })
	w.open()
	key, _ := w.hears("go on")
	w.Lifecycle.OnRestore = func(id uuid.UUID) (session.Record, error) {
		r, _ := w.Records.Get(id)
		w.Records.Forget(id)
		return r, nil
	}
	w.press("~/api", "1")
	assert.True(t, w.waits(key))
	assert.Contains(t, w.Telegram.Texts(), w.say(i18n.SessionGone))
}

func TestSessionInSubfolderIsNotListed(t *testing.T) {
	w := inFolders(t, "api/sub")
	r := w.Session(t, "sub", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Dir = filepath.Join(w.Home, "api/sub") })
	w.open()
	w.press(w.say(i18n.ButtonBrowse), "api", w.say(i18n.ButtonUseThis))
	assert.NotContains(t, w.text(), "sub")
	assert.NotContains(t, w.buttons(), w.say(i18n.ButtonNewWorktree))
	w.press(w.say(i18n.ButtonBrowse), "sub", w.say(i18n.ButtonUseThis))
	assert.Contains(t, w.buttons(), w.say(i18n.ButtonNewWorktree))
}

func TestDamagedConversationIsSentence(t *testing.T) {
	for name, tt := range map[string]struct {
		err  lifecycle.TranscriptError
		want i18n.Key
	}{
		"damaged": {lifecycle.TranscriptError{Health: agent.Health{Faults: []agent.Fault{"nul"}}}, i18n.ConversationDamaged},
		"empty":   {lifecycle.TranscriptError{Nothing: true}, i18n.ConversationEmpty},
	} {
		t.Run(name, func(t *testing.T) {
			w := inFolders(t, "api")
			w.Session(t, "api", session.Archived)
			w.talk("api", "said", time.Hour)
			w.Lifecycle.OnStart = func(port.Start) (session.Record, error) { return session.Record{}, &tt.err }
			w.open()
			w.press("~/api", "1")
			assert.Contains(t, w.Telegram.Texts(), w.say(tt.want, i18n.Args{"Details": w.say(i18n.FaultNUL)}))
		})
	}
}

func TestDefaultFolderIsFirst(t *testing.T) {
	w := inFolders(t, "api", "fav", "default")
	w.Session(t, "api", session.Archived)
	require.NoError(t, w.Book.Set(chattest.Alice, func(s *conversation.Settings) {
		s.Favourites, s.Dir = []string{filepath.Join(w.Home, "fav")}, filepath.Join(w.Home, "default")
	}))
	w.open()
	assert.Equal(t, []string{"~/default", "★ ~/fav", "~/api"}, w.buttons()[:3])
}

func TestBadFolderNameIsAnswered(t *testing.T) {
	w := inFolders(t)
	w.open()
	w.press(w.say(i18n.ButtonBrowse), w.say(i18n.ButtonNewFolder))
	w.reply("../../etc")
	assert.Contains(t, w.Telegram.Texts(), w.say(i18n.NewFolderBad))
	long := strings.Repeat("x", 300)
	w.reply(long)
	assert.Contains(t, w.Telegram.Texts(), w.say(i18n.NewFolderRefused, i18n.Args{"Dir": "~/" + long, "Reason": w.say(i18n.CauseKey.Of("name_too_long"))}))
	assert.Equal(t, w.say(i18n.NewFolderName, i18n.Args{"Dir": "~"}), w.text(), "the page stands below, and another name can follow")
}

func TestUnseenConversationIsNotOpenElsewhere(t *testing.T) {
	w := inFolders(t, "api")
	w.Session(t, "api", session.Archived)
	w.talk("api", "said", time.Hour)
	w.WrittenErr = assert.AnError
	w.open()
	w.press("~/api")
	assert.Contains(t, w.text(), w.say(i18n.NewUnseen))
	w.press("1")
	assert.Equal(t, w.say(i18n.NewMaybeBusy), w.text())
	assert.Empty(t, w.Lifecycle.Starts)
}
