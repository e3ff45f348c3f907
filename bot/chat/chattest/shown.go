package chattest

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/ending"
	"ccbot/port/news"
)

// Spot is a button where a chat shows it.
type Spot struct {
	On     outbox.Message
	Button outbox.Button
}

// Spots are all buttons of these messages, in order.
func Spots(all ...outbox.Message) (list []Spot) {
	for _, m := range all {
		for _, row := range m.Buttons {
			for _, b := range row {
				list = append(list, Spot{m, b})
			}
		}
	}
	return list
}

// Spot finds the first button of a message that has a word: the key of the button's text, or the
// text itself.
func (w *World) Spot(t *testing.T, m outbox.Message, word i18n.Key) Spot {
	t.Helper()
	for _, s := range Spots(m) {
		if s.Button.Text == w.Word(word) {
			return s
		}
	}
	require.Fail(t, "there is no such button", "%s in %v", w.Word(word), Words(m))
	return Spot{}
}

// TapShown taps the button with a word on a message that was shown.
func (w *World) TapShown(t *testing.T, from int64, m outbox.Message, word i18n.Key) error {
	t.Helper()
	return w.TapSpot(t, from, w.Spot(t, m, word))
}

// TapSpot taps a button in its message.
func (w *World) TapSpot(t *testing.T, from int64, s Spot) error {
	t.Helper()
	return w.Handle(t.Context(), "1", TapOn(from, w.AsTelegram(s.On), s.Button.Data))
}

// AsTelegram is a message of the bot's as Telegram gives it with a tap.
func (w *World) AsTelegram(m outbox.Message) *models.Message {
	chat := PrivateChat(m.To.ChatID)
	if m.To.ChatID < 0 {
		chat = GroupChat(m.To.ChatID)
	}
	markup := &models.InlineKeyboardMarkup{}
	id := 55
	for _, d := range Data(m)[:min(1, len(Data(m)))] {
		id = w.IDOf(d)
	}
	on := &models.Message{ID: id, Chat: chat, Text: m.Text.Text, ReplyMarkup: markup,
		MessageThreadID: m.To.ThreadID, IsTopicMessage: m.To.ThreadID != 0}
	for _, row := range m.Buttons {
		var keys []models.InlineKeyboardButton
		for _, b := range row {
			keys = append(keys, models.InlineKeyboardButton{Text: b.Text, CallbackData: b.Data,
				Style: string(b.Style)})
		}
		markup.InlineKeyboard = append(markup.InlineKeyboard, keys)
	}
	return on
}

// Now returns the current form of a sent message.
func (f *FakeSender) Now(message int) outbox.Message {
	f.Mu.Lock()
	defer f.Mu.Unlock()
	for _, m := range slices.Backward(f.Edited) {
		if m.ReplyTo == message {
			return m
		}
	}
	return f.Sent[message-1]
}

// Words are the texts on a message's buttons.
func Words(m outbox.Message) (all []string) {
	for _, s := range Spots(m) {
		all = append(all, s.Button.Text)
	}
	return all
}

// WordsOf are the texts of buttons with these keys.
func (w *World) WordsOf(keys ...i18n.Key) (all []string) {
	for _, key := range keys {
		all = append(all, w.Word(key))
	}
	return all
}

// Faces are buttons as people see them: their texts and colours, row by row.
func Faces(rows [][]outbox.Button) (all [][]outbox.Button) {
	for _, row := range rows {
		var seen []outbox.Button
		for _, b := range row {
			seen = append(seen, outbox.Button{Text: b.Text, Style: b.Style})
		}
		all = append(all, seen)
	}
	return all
}

// Shown reports news and returns the chat's message about it, which is left out of the sender's
// log.
func (w *World) Shown(t *testing.T, r session.Record, n news.News) outbox.Message {
	t.Helper()
	require.NoError(t, w.SessionNews(t.Context(), r, n))
	return w.Quietly(t)
}

// LostShown is the message that a session was lost, with [Resume].
func (w *World) LostShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	return w.Shown(t, r, news.Lost{})
}

// ReceiptShown is the receipt of a session that was archived at the time in its record, with
// [Undo].
func (w *World) ReceiptShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	r.State = session.Archived
	return w.Shown(t, r, ending.Receipt{})
}

// HeardShown returns the reply to a text of Alice's, which is left out of the logs of the sender
// and of the sessions.
func (w *World) HeardShown(t *testing.T, text string) outbox.Message {
	t.Helper()
	w.MustHear(t, text)
	w.Lifecycle.Forget()
	return w.Quietly(t)
}

// Listed is the session's button in a list that Alice asks for.
func (w *World) Listed(t *testing.T, r session.Record) Spot {
	t.Helper()
	w.MustHear(t, "/list")
	var m outbox.Message
	i := -1
	found := func() bool {
		m = w.Telegram.Last(t)
		i = slices.IndexFunc(Spots(m), func(s Spot) bool { // its name may stand between two signs
			return slices.Contains(strings.Fields(s.Button.Text), r.Name)
		})
		return i >= 0
	}
	if !found() { // another message to this chat is under way, and the list follows it
		waittest.Until(t, found, "%s in %v", r.Name, Words(m))
	}
	return Spots(m)[i]
}

// Quietly returns the newest posted message, which is left out of the sender's log.
func (w *World) Quietly(t *testing.T) outbox.Message {
	t.Helper()
	m := w.Telegram.Last(t)
	w.Telegram.Forget()
	f := w.Telegram
	f.Mu.Lock()
	defer f.Mu.Unlock()
	f.Posted, f.Edited, f.Buttons, f.Spent, f.Alerts = nil, nil, nil, 0, 0
	return m
}

// Settled runs the bot until it has nothing more to do at this moment of the bubble's clock.
func (w *World) Settled(t *testing.T) {
	t.Helper()
	stop := w.Running(t)
	synctest.Wait()
	w.Telegram.Deliver(t.Context())
	synctest.Wait()
	require.NoError(t, stop())
}

// NewTranscript reports that a session has something to read.
func (w *World) NewTranscript(t *testing.T, r session.Record) {
	t.Helper()
	require.NoError(t, w.SessionNews(t.Context(), r, news.Transcript{}))
}

// ReadNow runs the bot until the reader of an ended session has left.
func (w *World) ReadNow(t *testing.T, r session.Record) {
	t.Helper()
	w.NewTranscript(t, r)
	left := w.ReaderOf(r)
	stop := w.Running(t)
	Receive(t, left)
	require.NoError(t, stop())
}

// ReaderOf is closed when the reader of a session leaves, or if there is none.
func (w *World) ReaderOf(r session.Record) <-chan struct{} { return w.Answers.Left(r.ID) }

// ReadAll runs the bot until a reader has read all that the transcript of a session has now, and
// starts the bot again.
func (w *World) ReadAll(t *testing.T) {
	t.Helper()
	waits := w.Talk.untilOneWaits()
	stop := w.Running(t)
	Receive(t, waits)
	require.NoError(t, stop())
	w.Again()
}

// Forget empties the log.
func (l *log) Forget() {
	l.Mu.Lock()
	defer l.Mu.Unlock()
	l.lines = nil
}
