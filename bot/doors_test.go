package bot

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// round is how often a bot that runs looks at what is not settled.
const round = 30 * time.Second

// runs is a test with a bot that runs, in a bubble of its own: no time is lost by waiting in it.
func runs(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		w.starts(t)
		test(t, w)
	})
}

// runsAs is runs as a subtest.
func runsAs(t *testing.T, name string, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { runs(t, test) })
}

// starts runs the bot until stops, or the end of the test. It needs a bubble, whose clock is the
// bot's from then on.
func (w *world) starts(t *testing.T) {
	t.Helper()
	w.Now, w.inBubble = time.Now, true
	bot := w.Bot
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- bot.Run(ctx) }()
	w.cancel, w.ended = cancel, done
	t.Cleanup(func() { w.stops(t) })
	synctest.Wait()
}

// stops ends the bot that runs, if one does, and waits until it has ended.
func (w *world) stops(t *testing.T) {
	t.Helper()
	if w.ended == nil {
		return
	}
	w.cancel()
	assert.NoError(t, <-w.ended)
	w.ended = nil
}

// restart is the same world after a restart of the program, with what is on disk.
func (w *world) restart(t *testing.T) {
	t.Helper()
	if !w.inBubble {
		w.open(t)
		w.again()
		w.work(t)
		return
	}
	w.stops(t)
	w.open(t)
	w.again()
	w.starts(t)
	w.work(t)
}

// work waits until the bot has done all that it can do by now.
func (w *world) work(t *testing.T) {
	t.Helper()
	if w.inBubble {
		synctest.Wait()
		w.sender.deliverEach(context.WithoutCancel(t.Context()))
		synctest.Wait()
		return
	}
	w.sender.deliver(t.Context())
}

// later lets time pass.
func (w *world) later(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
	w.sender.deliverEach(context.Background())
	synctest.Wait()
}

// shows is a message as it stands in the chat by now. The first one that was sent has the id 1.
func (w *world) shows(t *testing.T, id int) outbox.Message {
	t.Helper()
	all := w.versions(t, id)
	return all[len(all)-1]
}

// versions are what a message has shown, the newest last.
func (w *world) versions(t *testing.T, id int) []outbox.Message {
	t.Helper()
	w.sender.mu.Lock()
	defer w.sender.mu.Unlock()
	require.Positive(t, id, "it is not in the chat")
	require.LessOrEqual(t, id, len(w.sender.sent), "it is not in the chat")
	all := []outbox.Message{w.sender.sent[id-1]}
	for _, m := range w.sender.edited {
		if m.ReplyTo == id {
			all = append(all, m)
		}
	}
	return all
}

// has says whether a message has a button with a word.
func (w *world) has(m outbox.Message, word i18n.Key) bool {
	return slices.Contains(words(m), w.word(word))
}

// dialogFiles are the dialogs that are remembered on disk.
func (w *world) dialogFiles(t *testing.T) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(w.dir, "dialogs", "*.json"))
	require.NoError(t, err)
	return all
}

// dialog lets a session's terminal ask something, and is what the chat shows of that.
func (w *world) dialog(t *testing.T, r session.Record, d lifecycle.Dialog) outbox.Message {
	t.Helper()
	before := w.sender.lastID()
	require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, d)))
	w.work(t)
	if w.sender.lastID() > before {
		return w.lastSent(t)
	}
	return w.sender.lastEdit(t)
}

// wordWith is the text of the first button of a message that has a part in it.
func wordWith(t *testing.T, m outbox.Message, part string) string {
	t.Helper()
	i := slices.IndexFunc(words(m), func(text string) bool { return strings.Contains(text, part) })
	require.GreaterOrEqual(t, i, 0, "there is no such button: %s in %v", part, words(m))
	return words(m)[i]
}

// press taps the button with a text under a message, as the message stands in the chat by now.
func (w *world) press(t *testing.T, from int64, id int, text string) {
	t.Helper()
	require.NoError(t, w.pressing(t, from, id, text))
	w.work(t)
}

// pressing is press that waits for nothing, and gives the error.
func (w *world) pressing(t *testing.T, from int64, id int, text string) error {
	t.Helper()
	return w.pressOn(t, from, id, w.shows(t, id), text)
}

// pressLate is press by a person whose app still shows a message as it was when it had the button.
func (w *world) pressLate(t *testing.T, from int64, id int, text string) {
	t.Helper()
	require.NoError(t, w.pressingLate(t, from, id, text))
	w.work(t)
}

func (w *world) pressingLate(t *testing.T, from int64, id int, text string) error {
	t.Helper()
	for _, m := range slices.Backward(w.versions(t, id)) {
		if slices.Contains(words(m), text) {
			return w.pressOn(t, from, id, m, text)
		}
	}
	require.Fail(t, "there never was such a button", "%s under message %d", text, id)
	return nil
}

// pressOn taps the button with a text under a message that stands in the chat as m.
func (w *world) pressOn(t *testing.T, from int64, id int, m outbox.Message, text string) error {
	t.Helper()
	return w.Handle(t.Context(), "1", tapOn(from, telegrams(id, m), dataBehind(t, m, text)))
}

// dataBehind is what Telegram sends when the button with a text is tapped.
func dataBehind(t *testing.T, m outbox.Message, text string) string {
	t.Helper()
	for _, row := range m.Buttons {
		for _, b := range row {
			if b.Text == text {
				return b.Data
			}
		}
	}
	require.Fail(t, "there is no such button", "%s in %v", text, words(m))
	return ""
}

// telegrams is a message as Telegram gives it with a tap.
func telegrams(id int, m outbox.Message) *models.Message {
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
		return groupChat(to.ChatID)
	}
	return privateChat(to.ChatID)
}

// tapAt taps a button under another message than the bot put it under, or in another chat: the
// message has this button alone.
func (w *world) tapAt(t *testing.T, from int64, chat models.Chat, message int, data string) {
	t.Helper()
	require.NoError(t, w.Handle(t.Context(), "1", tapOn(from, &models.Message{ID: message, Chat: chat, Text: "x"}, data)))
	w.work(t)
}

// tapsOn taps a button of the request's own message.
func (w *world) tapsOn(t *testing.T, from int64, q asked, word i18n.Key) {
	t.Helper()
	w.press(t, from, w.message(t, q), w.word(word))
}

// tapsLate is tapsOn by a person who sees the message as it was when it had the button.
func (w *world) tapsLate(t *testing.T, from int64, q asked, word i18n.Key) {
	t.Helper()
	w.pressLate(t, from, w.message(t, q), w.word(word))
}
