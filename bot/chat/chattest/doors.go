package chattest

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
)

// Round is the interval at which a running bot checks unsettled things.
const Round = 30 * time.Second

// Runs is a test with a running bot, in a separate bubble: no time is lost by waiting in it.
func Runs(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := NewWorld(t)
		w.Starts(t)
		test(t, w)
	})
}

// RunsRemote is Runs with a machine that is reached only through Link.
func RunsRemote(t *testing.T, test func(t *testing.T, w *World)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, true)
		w.Starts(t)
		test(t, w)
	})
}

// RunsAs is runs as a subtest.
func RunsAs(t *testing.T, name string, test func(t *testing.T, w *World)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { Runs(t, test) })
}

// Starts runs the bot until stops, or the end of the test. It needs a bubble, whose clock is the
// bot's from then on.
func (w *World) Starts(t *testing.T) {
	t.Helper()
	w.Now, w.inBubble = time.Now, true
	bot := w.Bot
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	w.Stop, w.ended = cancel, done
	t.Cleanup(func() { w.Stops(t) })
	synctest.Wait()
}

// Stops ends the bot that runs, if one does, and waits until it has ended.
func (w *World) Stops(t *testing.T) {
	t.Helper()
	if w.ended == nil {
		return
	}
	w.Stop()
	assert.NoError(t, <-w.ended)
	w.ended = nil
}

// Restart is the same world after a restart of the program, with its files.
func (w *World) Restart(t *testing.T) {
	t.Helper()
	if !w.inBubble {
		w.open(t)
		w.Again()
		w.Work(t)
		return
	}
	w.Stops(t)
	w.open(t)
	w.Again()
	w.Starts(t)
	w.Work(t)
}

// RestartUnread is the world after a restart, while its machine does not answer: the bot has read
// no session. The world began with RunsRemote.
func (w *World) RestartUnread(t *testing.T) {
	t.Helper()
	w.Deps.Machine = w.connect(true, w.machine)
	w.Link.Set(wire.Faults{Unreachable: true})
	w.Restart(t)
}

// Work waits until the bot is idle.
func (w *World) Work(t *testing.T) {
	t.Helper()
	if w.inBubble {
		synctest.Wait()
		w.Telegram.deliverEach(context.WithoutCancel(t.Context()))
		synctest.Wait()
		return
	}
	w.Telegram.Deliver(t.Context())
}

// Later lets time pass.
func (w *World) Later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	w.Telegram.deliverEach(context.Background())
	synctest.Wait()
}

// Shows returns the current content of a message in the chat. The first message has the id 1.
func (w *World) Shows(t *testing.T, id int) outbox.Message {
	t.Helper()
	all := w.versions(t, id)
	return all[len(all)-1]
}

// versions returns all contents of a message, the newest last.
func (w *World) versions(t *testing.T, id int) []outbox.Message {
	t.Helper()
	w.Telegram.Mu.Lock()
	defer w.Telegram.Mu.Unlock()
	require.Positive(t, id, "it is not in the chat")
	require.LessOrEqual(t, id, len(w.Telegram.Sent), "it is not in the chat")
	all := []outbox.Message{w.Telegram.Sent[id-1]}
	for _, m := range w.Telegram.Edited {
		if m.ReplyTo == id {
			all = append(all, m)
		}
	}
	return all
}

// Has reports whether a message has a button with a word.
func (w *World) Has(m outbox.Message, word i18n.Key) bool {
	return slices.Contains(Words(m), w.Word(word))
}

// DialogFiles are the dialogs that are remembered on disk.
func (w *World) DialogFiles(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(w.Dir, "dialogs", "*.json"))
	require.NoError(t, err)
	return all
}

// Dialog lets a session's terminal ask something, and returns the chat's message about it.
func (w *World) Dialog(t *testing.T, r session.Record, d port.Dialog) outbox.Message {
	t.Helper()
	before := w.Telegram.LastID()
	require.NoError(t, w.SessionNews(t.Context(), r, OpenDialog(d)))
	w.Work(t)
	if w.Telegram.LastID() > before {
		return w.Shows(t, before+1)
	}
	return w.Telegram.LastEdit(t)
}

// wordWith is the text of the first button of a message that has a part in it.
func wordWith(t *testing.T, m outbox.Message, part string) string {
	t.Helper()
	i := slices.IndexFunc(Words(m), func(text string) bool { return strings.Contains(text, part) })
	require.GreaterOrEqual(t, i, 0, "there is no such button: %s in %v", part, Words(m))
	return Words(m)[i]
}

// Press taps the button with a text under a message, in the message's current form.
func (w *World) Press(t *testing.T, from int64, id int, text string) {
	t.Helper()
	require.NoError(t, w.Pressing(t, from, id, text))
	w.Work(t)
}

// Pressing is Press without waiting; it returns the error.
func (w *World) Pressing(t *testing.T, from int64, id int, text string) error {
	t.Helper()
	return w.pressOn(t, from, id, w.Shows(t, id), text)
}

// PressLate is press by a person whose app still shows a message as it was when it had the button.
func (w *World) PressLate(t *testing.T, from int64, id int, text string) {
	t.Helper()
	require.NoError(t, w.pressingLate(t, from, id, text))
	w.Work(t)
}

func (w *World) pressingLate(t *testing.T, from int64, id int, text string) error {
	t.Helper()
	for _, m := range slices.Backward(w.versions(t, id)) {
		if slices.Contains(Words(m), text) {
			return w.pressOn(t, from, id, m, text)
		}
	}
	require.Fail(t, "there never was such a button", "%s under message %d", text, id)
	return nil
}

// pressOn taps the button with a text under a message that the chat shows as m.
func (w *World) pressOn(t *testing.T, from int64, id int, m outbox.Message, text string) error {
	t.Helper()
	return w.Handle(t.Context(), "1", TapOn(from, Telegrams(id, m), DataBehind(t, m, text)))
}

// DataBehind returns the data that Telegram sends when the button with a text is tapped.
func DataBehind(t *testing.T, m outbox.Message, text string) string {
	t.Helper()
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == text {
				return b.Data
			}
		}
	}
	require.Fail(t, "there is no such button", "%s in %v", text, Words(m))
	return ""
}

// Telegrams is a message as Telegram gives it with a tap.
func Telegrams(id int, m outbox.Message) *models.Message {
	on := &models.Message{ID: id, MessageThreadID: m.To.ThreadID, IsTopicMessage: m.To.ThreadID != 0, Chat: chatOf(m.To),
		Text: m.Text.Text, ReplyMarkup: &models.InlineKeyboardMarkup{}}
	for _, row := range m.Buttons {
		var keys []models.InlineKeyboardButton
		for _, b := range row {
			keys = append(keys, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data, Style: string(b.Style)})
		}
		on.ReplyMarkup.InlineKeyboard = append(on.ReplyMarkup.InlineKeyboard, keys)
	}
	return on
}

func chatOf(to session.Conversation) models.Chat {
	if to.ChatID < 0 {
		return GroupChat(to.ChatID)
	}
	return PrivateChat(to.ChatID)
}

// TapAt taps a button under another message than the bot put it under, or in another chat: the
// message has this button alone.
func (w *World) TapAt(t *testing.T, from int64, chat models.Chat, message int, data string) {
	t.Helper()
	require.NoError(t, w.Handle(t.Context(), "1", TapOn(from, &models.Message{ID: message, Chat: chat, Text: "x"}, data)))
	w.Work(t)
}

// TapsOn taps a button of the request's own message.
func (w *World) TapsOn(t *testing.T, from int64, q Asked, word i18n.Key) {
	t.Helper()
	w.Press(t, from, w.Message(t, q), w.Word(word))
}

// TapsLate is TapsOn by a person who sees the earlier message with the button.
func (w *World) TapsLate(t *testing.T, from int64, q Asked, word i18n.Key) {
	t.Helper()
	w.PressLate(t, from, w.Message(t, q), w.Word(word))
}

// IsButton reports whether the data of a tap names a card's button: the card, its revision and the
// option.
func IsButton(data string) bool { return ofCard.MatchString(data) }

var ofCard = regexp.MustCompile(`^[^:]{13}:[^:]{22}:[^:]*$`)
