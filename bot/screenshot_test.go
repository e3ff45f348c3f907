package bot_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/systemfont/fonttest"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/tmux"
)

var (
	before = port.Screen{Text: "\x1b[1mone\x1b[0m\n❯ 1. Yes", Fingerprint: "mark-one", Whole: true}
	after  = port.Screen{Text: "two\n❯ 2. No", Fingerprint: "mark-two", Whole: true}
)

// shot sends /screenshot, and returns the message.
func shot(t *testing.T, w *chattest.World) outbox.Message {
	t.Helper()
	w.MustHear(t, "/screenshot")
	w.Work(t)
	m := w.LastSent(t)
	require.NotNil(t, m.Picture, m.Text.Text)
	return m
}

var allKeys = []string{"↑", "↓", "←", "→", "Tab", "⇧Tab", "Space", "Enter", "Esc", "^C"}

func TestScreenshotHasKeys(t *testing.T) {
	t.Parallel()
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnScreen = before
	m := shot(t, w)
	assert.True(t, strings.HasPrefix(m.Text.Text, "api · "), m.Text.Text)
	assert.Equal(t, r.ID, m.Session)
	assert.False(t, m.Picture.Exact)
	assert.Equal(t, append(allKeys[:len(allKeys):len(allKeys)], w.Word(i18n.ButtonRefresh), w.Word(i18n.ButtonAsText)), chattest.Words(m))
	var pressed []string
	for i, key := range []string{"up", "down", "left", "right", "tab", "backtab", "space", "enter", "esc", "interrupt"} {
		w.Press(t, chattest.Bob, 1, allKeys[i])
		pressed = append(pressed, "press "+key+" of "+r.ID.String()+" on mark-one")
	}
	assert.Equal(t, pressed, w.Lifecycle.Done())
	assert.Len(t, w.Telegram.Sent, 1, "all in one message")
}

// TestP7_KeyActsOnShownPicture: the next tap is about the picture that the last one has left.
func TestP7_KeyActsOnShownPicture(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnScreen = before
	old := shot(t, w)
	w.Lifecycle.OnScreen = after
	w.Press(t, chattest.Alice, 1, "↓")
	now := w.Shows(t, 1)
	assert.NotEqual(t, old.Picture, now.Picture)
	w.Press(t, chattest.Alice, 1, "Enter")
	assert.Equal(t, []string{"press down of " + r.ID.String() + " on mark-one", "press enter of " + r.ID.String() + " on mark-two"}, w.Lifecycle.Done())
	w.PressLate(t, chattest.Alice, 1, "Enter")
	w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 1, w.Spot(t, old, "Enter").Button.Data)
	assert.Len(t, w.Lifecycle.Done(), 3, "a button of an earlier picture presses nothing")
}

// TestP7_ChangedScreenIsShownAgain, and the key is not pressed.
func TestP7_ChangedScreenIsShownAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		word i18n.Key
	}{{"it has changed", dialog.ErrChanged, i18n.ScreenChanged}, {"somebody scrolls", tmux.ErrGuard, i18n.ScreenGuarded}} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnScreen = before
			old := shot(t, w)
			w.Lifecycle.OnScreen = after
			w.Lifecycle.OnPressOn = func(string) (port.Screen, error) { return after, tt.err }
			w.Press(t, chattest.Alice, 1, "Enter")
			now := w.Shows(t, 1)
			assert.NotEqual(t, old.Picture, now.Picture)
			assert.Contains(t, now.Text.Text, strings.ReplaceAll(w.Word(tt.word), "(?)", "Enter"))
			assert.Len(t, w.Telegram.Sent, 1)
		})
	}
}

func TestRefreshLooksAndPressesNothing(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnScreen = before
	old := shot(t, w)
	w.Lifecycle.OnScreen = after
	w.Press(t, chattest.Alice, 1, w.Word(i18n.ButtonRefresh))
	assert.NotEqual(t, old.Picture, w.Shows(t, 1).Picture)
	assert.Empty(t, w.Lifecycle.Done())
}

// TestP7_HiddenPartAllowsNoChoice: keys for moving and leaving remain.
func TestP7_HiddenPartAllowsNoChoice(t *testing.T) {
	hidden, large, unasked := before, before, before
	hidden.Whole, unasked.Unasked = false, true
	large.Text = strings.Repeat("row\n", 200)
	for _, tt := range []struct {
		name string
		now  port.Screen
		keys []string
		word i18n.Key
	}{
		{"a dialog hides rows", hidden, []string{"↑", "↓", "←", "→", "Esc", "^C"}, i18n.DialogNotWhole},
		{"a permission came without its request", unasked, []string{"↑", "↓", "←", "→", "Esc", "^C"}, i18n.KeysRelayed},
		{"the window is too large", large, nil, i18n.ScreenTooLarge},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running)
			w.Lifecycle.OnScreen = tt.now
			m := shot(t, w)
			assert.Equal(t, append(tt.keys, w.Word(i18n.ButtonRefresh), w.Word(i18n.ButtonAsText)), chattest.Words(m))
			assert.Contains(t, m.Text.Text, w.Word(tt.word))
		})
	}
}

// TestScreenshotNamesFontPackage once in a chat: in the message of the first picture that lacks a
// character.
func TestScreenshotNamesFontPackage(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Lifecycle.OnScreen = before
		const command = "sudo apt-get install fonts-wqy-microhei"
		assert.NotContains(t, shot(t, w).Text.Text, "apt")

		w.Lifecycle.OnScreen.Text = "语言"
		m := shot(t, w)
		assert.Contains(t, m.Text.Text, strings.ReplaceAll(w.Word(i18n.FontsMissing), "(?)", command))
		first := w.Telegram.LastID()
		w.Press(t, chattest.Alice, first, w.Word(i18n.ButtonRefresh))
		assert.Contains(t, w.Shows(t, first).Text.Text, command, "the same message keeps it")
		assert.NotContains(t, shot(t, w).Text.Text, "apt", "named already")

		w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = chattest.InGroup })
		w.SaysIn(t, chattest.Ours, models.Message{Text: "/screenshot api"})
		w.Work(t)
		assert.Contains(t, w.LastSent(t).Text.Text, command, "another chat")

		w.Lifecycle.OnScreen.Text = "语🙂"
		assert.Contains(t, shot(t, w).Text.Text, "sudo apt-get install fonts-noto-color-emoji")
		w.Restart(t)
		assert.Contains(t, shot(t, w).Text.Text, command+" fonts-noto-color-emoji")
		w.Machine.Fonts = fonttest.Fonts{fonttest.Outlines, fonttest.Emoji}
		w.Again()
		assert.NotContains(t, shot(t, w).Text.Text, "apt")
	})
}

// If the agent is gone, the picture loses its keys, and failures are reported.
func TestUnavailableScreen(t *testing.T) {
	w := chattest.NewWorld(t)
	r := w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.DialogErr = view.ErrUnseen
	w.MustHear(t, "/screenshot")
	assert.Equal(t, w.Named(i18n.KeysUnseen, "api"), w.Telegram.Last(t).Text.Text)

	w.Lifecycle.DialogErr, w.Lifecycle.OnScreen = nil, before
	m := shot(t, w)
	id := w.Telegram.LastID()
	w.Lifecycle.OnPressOn = func(string) (port.Screen, error) { return port.Screen{}, errors.New("no") }
	w.Press(t, chattest.Alice, id, "Esc")
	assert.Equal(t, w.Word(i18n.InternalError), w.Telegram.Last(t).Text.Text)
	w.Lifecycle.OnPressOn = func(string) (port.Screen, error) { return port.Screen{}, view.ErrNoAgent }
	w.Press(t, chattest.Alice, id, "Esc")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, w.Named(i18n.AlreadyEnded, "api"))
	now := w.Shows(t, id)
	assert.Empty(t, now.Buttons)
	assert.Equal(t, m.Picture, now.Picture)

	w.Records.Change(r.ID, func(r *session.Record) { r.State = session.Archived })
	w.MustHear(t, "/screenshot api")
	assert.Nil(t, w.Telegram.Last(t).Picture)
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "api")
	w.MustHear(t, "/screenshot none such")
	assert.Equal(t, w.Named(i18n.NoSuchSession, "none such"), w.Telegram.Last(t).Text.Text)
}

// Only the newest picture of a place has keys, and they work over a restart.
func TestNewestScreenshotKeepsKeysAcrossRestart(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Lifecycle.OnScreen = before
		shot(t, w)
		first := w.Telegram.LastID()
		shot(t, w)
		second := w.Telegram.LastID()
		assert.Empty(t, w.Shows(t, first).Buttons)
		assert.NotNil(t, w.Shows(t, first).Picture)
		w.Restart(t)
		w.Press(t, chattest.Alice, second, "↑")
		assert.Equal(t, []string{"press up of " + r.ID.String() + " on mark-one"}, w.Lifecycle.Done())
		assert.NotNil(t, w.Shows(t, second).Picture)
	})
}

// TestScreenshotComesAsText sends what the terminal shows as text, and presses nothing. A screen
// that is too large loses its upper rows.
func TestScreenshotComesAsText(t *testing.T) {
	w := chattest.NewWorld(t)
	w.NewCurrentSession(t, "api", session.Running)
	w.Lifecycle.OnScreen = before
	shot(t, w)
	w.Press(t, chattest.Alice, 1, "As text")
	assert.Equal(t, "api\none\n❯ 1. Yes", w.Telegram.Last(t).Text.Text)
	w.Lifecycle.OnScreen = port.Screen{Text: strings.Repeat(strings.Repeat("x", 119)+"\n", 50) + "the last row", Fingerprint: "m", Whole: true}
	w.Press(t, chattest.Alice, 1, "As text")
	text := w.Telegram.Last(t).Text
	assert.True(t, strings.HasSuffix(text.Text, "x\nthe last row"), text.Text)
	assert.LessOrEqual(t, text.Length(), render.Limit)
	assert.Empty(t, w.Lifecycle.Done())
}
