package bot_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// Who may tap a button.
const (
	anyone = "any allowed person"
	asker  = "a question, or its [Cancel]: who was asked; anything else: any allowed person"
)

// whoMayTap has a line for every kind of card, so that nobody adds one without asking who
// may tap it. A tap that ends, kills or archives something in its second step is for who tapped the
// first.
var whoMayTap = map[string]string{
	"end":              asker,
	"idle":             asker,
	"modes":            asker,
	"page":             asker,
	"rename":           asker,
	"resume":           asker,
	"status":           asker,
	"where":            asker,
	"which-changes":    asker,
	"which-done":       asker,
	"which-history":    asker,
	"which-kill":       asker,
	"which-mode":       asker,
	"which-queue":      asker,
	"which-screenshot": asker,
	"which-status":     asker,
	"which-stop":       asker,
	"which-why":        asker,
	"window":           asker,
	"writers":          asker,

	"ask":           anyone,
	"changes":       anyone,
	"dialog":        anyone,
	"limit":         anyone,
	"limit-warning": anyone,
	"link":          anyone,
	"list":          anyone,
	"notice":        anyone,
	"pick":          anyone,
	"question":      anyone,
	"report":        anyone,
	"screenshot":    anyone,
	"switch":        anyone,
	"topic-lost":    anyone,
	"turn":          anyone,
	"waiting":       anyone,
	"windows":       anyone,
}

func TestEveryTapHasItsRule(t *testing.T) {
	w := chattest.NewWorld(t)
	for kind := range w.CardKinds() {
		assert.Contains(t, whoMayTap, kind, "who may tap it?")
	}
}

// onButton is a button of a real message.
type onButton struct {
	message outbox.Message
	data    string
}

// buttonsOfAll is a world in which every button there is was shown, and one of each verb. That it
// is every one is what TestCallbackDataFits sees to.
func buttonsOfAll(t *testing.T) (*chattest.World, map[string]onButton) {
	t.Helper()
	w := chattest.ShowsAllButtons(t)
	all := make(map[string]onButton)
	for _, m := range slices.Concat(w.Telegram.Sent, w.Telegram.Edited, w.Telegram.Posted) {
		for _, d := range chattest.Data(m) {
			verb, _, _ := strings.Cut(d, ":")
			all[verb] = onButton{m, d}
		}
	}
	return w, all
}

// inChat is the message as Telegram gives it with a tap.
func inChat(chat models.Chat, m outbox.Message) *models.Message {
	keys := [][]models.InlineKeyboardButton{}
	for _, row := range m.Buttons {
		var line []models.InlineKeyboardButton
		for _, b := range row {
			line = append(line, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data})
		}
		keys = append(keys, line)
	}
	return &models.Message{ID: 55, Chat: chat, Text: m.Text.Text, ReplyMarkup: &models.InlineKeyboardMarkup{InlineKeyboard: keys}}
}

// TestP9_AForgedTapDoesNothing taps, for every verb there is, what no button of the message says:
// an app may send any data for any message of the bot's. Strangers, and anybody in a group that is
// not listed, get not even an answer.
func TestP9_AForgedTapDoesNothing(t *testing.T) {
	t.Parallel()
	w, all := buttonsOfAll(t)
	other := w.Session(t, "other", session.Running)
	bare := outbox.Message{Text: chattest.Plain("a message of ours")}
	before := w.State(t)
	for verb, real := range all {
		var another outbox.Message
		for v, one := range all {
			if v != verb && !slices.Contains(chattest.Data(one.message), real.data) {
				another = one.message
			}
		}
		forgeries := []struct {
			name string
			from int64
			on   *models.Message
			data string
			says i18n.Key // empty: nothing at all
		}{
			{"a message without buttons", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), bare), real.data, i18n.StaleButton},
			{"a message with no keyboard at all", chattest.Alice, &models.Message{ID: 55, Chat: chattest.PrivateChat(chattest.Alice), ReplyMarkup: &models.InlineKeyboardMarkup{}}, real.data, i18n.StaleButton},
			{"another message", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), another), real.data, i18n.StaleButton},
			{"a message of another chat", chattest.Bob, inChat(chattest.PrivateChat(chattest.Bob), bare), real.data, i18n.StaleButton},
			{"another session", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), real.message), forSession(real.data, other.ID), i18n.StaleButton},
			{"another person", chattest.Bob, inChat(chattest.PrivateChat(chattest.Alice), bare), forPerson(real.data, chattest.Bob), i18n.StaleButton},
			{"cut", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), real.message), real.data[:len(real.data)*2/3], i18n.StaleButton},
			{"longer", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), real.message), real.data + ":x", i18n.StaleButton},
			{"much too long", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), real.message), real.data + strings.Repeat("x", 5000), i18n.StaleButton},
			{"only the verb", chattest.Alice, inChat(chattest.PrivateChat(chattest.Alice), real.message), verb, i18n.StaleButton},
			{"a stranger, on the button", chattest.Eve, inChat(chattest.GroupChat(chattest.Ours), real.message), real.data, ""},
			{"a stranger, in private", chattest.Eve, inChat(chattest.PrivateChat(chattest.Eve), real.message), real.data, ""},
			{"a group that is not listed", chattest.Alice, inChat(chattest.GroupChat(-200), real.message), real.data, ""},
		}
		for _, f := range forgeries {
			t.Run(verb+": "+f.name, func(t *testing.T) {
				said := len(w.Telegram.Done())
				require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &models.CallbackQuery{ID: "query",
					From: models.User{ID: f.from}, Data: f.data, Message: models.MaybeInaccessibleMessage{Message: f.on}}}))
				w.Unchanged(t, before)
				var want []string
				if f.says != "" {
					want = []string{"answer query: " + w.Word(f.says)}
				}
				assert.ElementsMatch(t, want, w.Telegram.Done()[said:], "the message keeps its own buttons")
			})
		}
	}
}

// forSession is the data of a button, for another session.
func forSession(data string, id uuid.UUID) string {
	parts := strings.Split(data, ":")
	if len(parts) < 2 {
		return data + ":" + chattest.Ref(id)
	}
	parts[1] = chattest.Ref(id)
	return strings.Join(parts, ":")
}

// forPerson is the data of a button as if it had been made for another person.
func forPerson(data string, person int64) string {
	parts := strings.Split(data, ":")
	parts[len(parts)-1] = strconv.FormatInt(person, 10)
	return strings.Join(parts, ":")
}

// TestP9_AConfirmationIsForWhoAsked: another allowed person, on the real button, in the same chat.
func TestP9_AConfirmationIsForWhoAsked(t *testing.T) {
	w := chattest.ShowsAllButtons(t)
	questions, before := 0, w.State(t)
	for id := range w.Telegram.Sent {
		m := w.Telegram.Now(id + 1)
		if all := chattest.Words(m); len(all) != 2 || all[1] != w.Word(i18n.ButtonCancel) || !chattest.IsButton(chattest.Data(m)[0]) || strings.HasPrefix(m.Text.Text, "🔐") || strings.HasPrefix(m.Text.Text, "❓") { // who answers a request is asked nothing
			continue
		}
		questions++
		for _, s := range chattest.Spots(m) {
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

// TestP9_GarbageInAButtonDoesNothing calls every verb past the look at the buttons, as a message of
// an earlier version might: arguments that name nothing.
func TestP9_GarbageInAButtonDoesNothing(t *testing.T) {
	t.Parallel()
	w, all := buttonsOfAll(t)
	before := w.State(t)
	for verb := range all {
		for _, args := range []string{"", ":", ":x", ":x:y:z:7", ":" + chattest.Ref(uuid.New()), ":" + uuid.NewString() + ":7:x", ":../../x:1", ":%s:%n",
			":" + strings.Repeat("A", 22) + "..z:7:7"} {
			t.Run(verb+args, func(t *testing.T) {
				require.NoError(t, w.TapButton(t, chattest.Alice, verb+args))
				w.Unchanged(t, before)
			})
		}
	}
}

// TestP9_ATapWithoutAMessageIsNobodys: from an inline message, which is in a chat that nobody
// knows.
func TestP9_ATapWithoutAMessageIsNobodys(t *testing.T) {
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
