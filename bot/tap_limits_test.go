package bot_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/card"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
)

// The people who may tap a button.
const (
	anyone = "any allowed person"
	asker  = "a question: the person who was asked; its [Cancel], and anything else: any allowed person"
	opener = "a page that is its opener's own: that person; any other page: any allowed person"
)

// whoMayTap has a line for every kind of card, so that a new card needs a decision about its taps.
// A second tap that ends, kills or archives is for the person of the first tap.
var whoMayTap = map[string]string{
	"end":         asker,
	"group-added": asker,
	"idle":        asker,
	"page":        opener,
	"status":      asker,
	"where":       asker,
	"window":      asker,
	"windows":     asker,
	"writers":     asker,

	"ask":             anyone,
	"border":          asker,
	"budget":          anyone,
	"dialog":          anyone,
	"group-shut":      anyone,
	"limit":           anyone,
	"limit-warning":   anyone,
	"link":            anyone,
	"loop":            anyone,
	"loop-note":       anyone,
	"notice":          anyone,
	"question":        anyone,
	"question-link":   anyone,
	"rename":          anyone,
	"report":          anyone,
	"rest":            anyone,
	"resume":          anyone,
	"limit-barred":    anyone,
	"schedule-barred": anyone,
	"screenshot":      anyone,
	"stop-asked":      anyone,
	"text-barred":     anyone,
	"texts-stopped":   anyone,
	"texts-waiting":   anyone,
	"topic-lost":      anyone,
	"turn":            anyone,
}

// TestTapsHaveRules compares whoMayTap with the buttons of all cards.
func TestTapsHaveRules(t *testing.T) {
	w := chattest.ShowsAllButtons(t)
	limited := make(map[string]bool) // by kind: a card has a button that only one person may tap
	files, err := filepath.Glob(filepath.Join(w.Dir, "cards", "*.json"))
	require.NoError(t, err)
	for _, file := range files {
		var c struct {
			Kind    string
			Content card.Content
		}
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(data, &c))
		for _, o := range slices.Concat(c.Content.Options...) {
			limited[c.Kind] = limited[c.Kind] || o.For != 0
		}
	}
	for kind := range w.CardKinds() {
		assert.Contains(t, whoMayTap, kind, "who may tap it?")
		if has, shown := limited[kind]; shown && whoMayTap[kind] != opener {
			assert.Equal(t, whoMayTap[kind] == asker, has, kind)
		}
	}
	assert.Greater(t, len(limited), 15, "kinds with buttons")
}

// onButton is a button of a real message.
type onButton struct {
	message outbox.Message
	data    string
}

// buttonsOfAll returns a world in which all buttons were shown, and a button of each card that
// still shows it, by the card's id. TestCallbackDataFits compares the buttons with the source.
func buttonsOfAll(t *testing.T) (*chattest.World, map[string]onButton) {
	t.Helper()
	w := chattest.ShowsAllButtons(t)
	all := make(map[string]onButton)
	for i := range w.Telegram.Sent {
		m := w.Telegram.Now(i + 1)
		for _, d := range chattest.Data(m) {
			if chattest.IsButton(d) {
				card, _, _ := split(d)
				all[card] = onButton{m, d}
			}
		}
	}
	require.Greater(t, len(all), 15)
	return w, all
}

// TestP9_ForgedTapDoesNothing sends, for a button of each card, data of no button of the message:
// an app may send any data. Strangers, and people of an unlisted group, get no answer.
func TestP9_ForgedTapDoesNothing(t *testing.T) {
	t.Parallel()
	w, all := buttonsOfAll(t)
	before := w.State(t)
	for id, real := range all {
		on := w.AsTelegram(real.message)
		shown := on.ID
		in := func(chat models.Chat, message int) *models.Message {
			return &models.Message{ID: message, Chat: chat, ReplyMarkup: on.ReplyMarkup}
		}
		var another onButton
		card, revision, option := split(real.data)
		for other, one := range all {
			_, otherRevision, _ := split(one.data)
			if other != id && one.message.To == real.message.To && otherRevision != revision { // equal cards have equal revisions
				another = one
			}
		}
		require.NotEmpty(t, another.data)
		there := w.AsTelegram(another.message)
		require.NotEqual(t, on.ID, there.ID)
		otherCard, otherRevision, _ := split(another.data)
		forgeries := []struct {
			name string
			from int64
			on   *models.Message
			data string
			says i18n.Key // empty: nothing at all
		}{
			{"a message of no card", chattest.Alice, in(on.Chat, 1<<20), real.data, i18n.StaleButton},
			{"a message without keyboard", chattest.Alice, &models.Message{ID: 1 << 20, Chat: on.Chat, ReplyMarkup: &models.InlineKeyboardMarkup{}}, real.data, i18n.StaleButton},
			{"another card's message", chattest.Alice, there, real.data, i18n.StaleButton},
			{"this number in another chat", chattest.Bob, in(chattest.PrivateChat(chattest.Bob), on.ID), real.data, i18n.StaleButton},
			{"this number in another topic", chattest.Alice, &models.Message{ID: on.ID, Chat: chattest.GroupChat(chattest.Ours), MessageThreadID: 99,
				IsTopicMessage: true, ReplyMarkup: on.ReplyMarkup}, real.data, i18n.StaleButton},
			{"another card", chattest.Alice, on, otherCard + ":" + revision + ":" + option, i18n.StaleButton},
			{"another revision", chattest.Alice, on, card + ":" + otherRevision + ":" + option, i18n.StaleButton},
			{"another option", chattest.Alice, on, card + ":" + revision + ":999", i18n.StaleButton},
			{"an option below zero", chattest.Alice, on, card + ":" + revision + ":-1", i18n.StaleButton},
			{"cut", chattest.Alice, on, real.data[:len(real.data)*2/3], i18n.StaleButton},
			{"longer", chattest.Alice, on, real.data + ":x", i18n.StaleButton},
			{"much too long", chattest.Alice, on, real.data + strings.Repeat("x", 5000), i18n.StaleButton},
			{"only the card", chattest.Alice, on, card, i18n.StaleButton},
			{"a stranger in an allowed group", chattest.Eve, in(chattest.GroupChat(chattest.Ours), on.ID), real.data, ""},
			{"a stranger in private", chattest.Eve, in(chattest.PrivateChat(chattest.Eve), on.ID), real.data, ""},
			{"a group that is not listed", chattest.Alice, in(chattest.GroupChat(-200), on.ID), real.data, ""},
		}
		forge := func(from int64, on *models.Message, data string, says i18n.Key) func(*testing.T) {
			return func(t *testing.T) {
				said := len(w.Telegram.Done())
				require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(from, on, data)))
				done := w.Telegram.Done()[said:]
				if says == "" {
					assert.Empty(t, done)
					return
				}
				// A message of no card loses its buttons.
				answers := slices.DeleteFunc(done, func(call string) bool { return !strings.HasPrefix(call, "answer ") })
				if on.ID == shown && strings.HasPrefix(data, card+":") {
					assert.Len(t, answers, 1, "the feature may name what the session does now")
					return
				}
				assert.Equal(t, []string{"answer query: " + w.Word(says)}, answers)
			}
		}
		for _, f := range forgeries {
			t.Run(id+": "+f.name, forge(f.from, f.on, f.data, f.says))
			old := *f.on // a message that still has such a button
			old.ReplyMarkup = nil
			t.Run(id+": "+f.name+", on an old keyboard", forge(f.from, &old, f.data, f.says))
		}
		w.Unchanged(t, before)
	}
}

// split returns the parts of a button's data.
func split(data string) (card, revision, option string) {
	parts := strings.Split(data, ":")
	return parts[0], parts[1], parts[2]
}

// TestP9_ConfirmationIsForAskingPerson: another allowed person taps the real button in that chat.
func TestP9_ConfirmationIsForAskingPerson(t *testing.T) {
	w := chattest.ShowsAllButtons(t)
	questions, before := 0, w.State(t)
	for id := range w.Telegram.Sent {
		m := w.Telegram.Now(id + 1)
		if all := chattest.Words(m); len(all) != 2 || all[1] != w.Word(i18n.ButtonCancel) || !chattest.IsButton(chattest.Data(m)[0]) || strings.HasPrefix(m.Text.Text, "🔐") || strings.HasPrefix(m.Text.Text, "❓") { // an answer to a request causes no question
			continue
		}
		questions++
		for _, s := range chattest.Spots(m)[:1] { // any of them may cancel
			t.Run(fmt.Sprint(m.Text.Text, ": ", s.Button.Text), func(t *testing.T) {
				said := len(w.Telegram.Done())
				require.NoError(t, w.TapSpot(t, chattest.Bob, s))
				w.Unchanged(t, before)
				assert.Equal(t, []string{"answer query: " + w.Word(i18n.NotForYou)}, w.Telegram.Done()[said:])
			})
		}
	}
	assert.GreaterOrEqual(t, questions, 6, "kill, done, three about writers, a window")
}

// TestP9_GarbageInAButtonDoesNothing sends what no version of ccbot has put into a button, on the
// message of each card.
func TestP9_GarbageInAButtonDoesNothing(t *testing.T) {
	t.Parallel()
	w, all := buttonsOfAll(t)
	before := w.State(t)
	for id, real := range all {
		_, revision, _ := split(real.data)
		for _, rest := range []string{"", ":", ":x", ":x:y:z:7", ":" + revision, ":" + revision + ":", ":" + revision + ":00", ":" + revision + ":+0",
			":" + revision + ":x", ":" + revision + ":9223372036854775808", ":" + uuid.NewString() + ":7:x", ":../../x:1", ":%s:%n",
			":" + strings.Repeat("A", 22) + ":0"} {
			t.Run(id+rest, func(t *testing.T) {
				on := w.AsTelegram(real.message)
				on.ReplyMarkup = nil // as if the message had such a button
				require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(chattest.Alice, on, id+rest)))
			})
		}
		w.Unchanged(t, before)
	}
}

// TestP9_TapWithoutMessageIsIgnored: the tap is on an inline message, in an unknown chat.
func TestP9_TapWithoutMessageIsIgnored(t *testing.T) {
	w, all := buttonsOfAll(t)
	before := w.State(t)
	for _, real := range all {
		said := len(w.Telegram.Done())
		require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &models.CallbackQuery{ID: "query",
			From: models.User{ID: chattest.Alice}, Data: real.data, InlineMessageID: "x"}}))
		w.Unchanged(t, before)
		assert.Len(t, w.Telegram.Done(), said)
	}
}
