package bot

import (
	"slices"
	"testing"
	"testing/synctest"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// spot is a button where a chat shows it.
type spot struct {
	on     outbox.Message
	button outbox.Button
}

// spots are all buttons of these messages, in order.
func spots(all ...outbox.Message) (list []spot) {
	for _, m := range all {
		for _, row := range m.Buttons {
			for _, b := range row {
				list = append(list, spot{m, b})
			}
		}
	}
	return list
}

// spot finds the first button of a message that has a word: the key of the button's text, or the
// text itself.
func (w *world) spot(t *testing.T, m outbox.Message, word i18n.Key) spot {
	t.Helper()
	for _, s := range spots(m) {
		if s.button.Text == w.word(word) {
			return s
		}
	}
	require.Fail(t, "there is no such button", "%s in %v", w.word(word), words(m))
	return spot{}
}

// tapShown taps the button with a word on a message that was shown.
func (w *world) tapShown(t *testing.T, from int64, m outbox.Message, word i18n.Key) error {
	t.Helper()
	return w.tapSpot(t, from, w.spot(t, m, word))
}

// tapSpot taps a button where it was shown.
func (w *world) tapSpot(t *testing.T, from int64, s spot) error {
	t.Helper()
	return w.Handle(t.Context(), "1", tapOn(from, w.asTelegram(s.on), s.button.Data))
}

// asTelegram is a message of the bot's as Telegram gives it with a tap.
func (w *world) asTelegram(m outbox.Message) *models.Message {
	chat := privateChat(m.To.ChatID)
	if m.To.ChatID < 0 {
		chat = groupChat(m.To.ChatID)
	}
	markup := &models.InlineKeyboardMarkup{}
	id := 55
	for _, d := range data(m)[:min(1, len(data(m)))] {
		id = w.idOf(d)
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

// now is a message that was sent, as the chat shows it by now.
func (f *fakeSender) now(message int) outbox.Message {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, m := range slices.Backward(f.edited) {
		if m.ReplyTo == message {
			return m
		}
	}
	return f.sent[message-1]
}

// words are the texts on a message's buttons.
func words(m outbox.Message) (all []string) {
	for _, s := range spots(m) {
		all = append(all, s.button.Text)
	}
	return all
}

// wordsOf are the texts of buttons with these keys.
func (w *world) wordsOf(keys ...i18n.Key) (all []string) {
	for _, key := range keys {
		all = append(all, w.word(key))
	}
	return all
}

// faces are buttons as people see them: their texts and colours, row by row.
func faces(rows [][]outbox.Button) (all [][]outbox.Button) {
	for _, row := range rows {
		var seen []outbox.Button
		for _, b := range row {
			seen = append(seen, outbox.Button{Text: b.Text, Style: b.Style})
		}
		all = append(all, seen)
	}
	return all
}

// shown tells news and gives the message that the chat has of it, of which the sender's log says
// nothing.
func (w *world) shown(t *testing.T, n lifecycle.Note) outbox.Message {
	t.Helper()
	require.NoError(t, w.SessionNews(t.Context(), n))
	return w.quietly(t)
}

// lostShown is the message that a session was lost, with [Resume].
func (w *world) lostShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	return w.shown(t, lifecycle.Note{Kind: lifecycle.NoteLost, Session: r})
}

// receiptShown is the receipt of a session that was archived when its record says, with [Undo].
func (w *world) receiptShown(t *testing.T, r session.Record) outbox.Message {
	t.Helper()
	r.State = session.Archived
	return w.shown(t, lifecycle.Note{Kind: lifecycle.NoteStopped, Session: r,
		Receipt: &lifecycle.Receipt{}})
}

// heardShown is the message that answers a text of Alice's, of which the logs of the sender and of
// the sessions say nothing.
func (w *world) heardShown(t *testing.T, text string) outbox.Message {
	t.Helper()
	w.mustHear(t, text)
	w.sessions.forget()
	return w.quietly(t)
}

// listed is the session's button in a list that Alice asks for.
func (w *world) listed(t *testing.T, r session.Record) spot {
	t.Helper()
	w.mustHear(t, "/list")
	word := i18n.Key(r.Name)
	if w.CurrentID(atAlice) == r.ID {
		word = "✓ " + word
	}
	return w.spot(t, w.sender.last(t), word)
}

// quietly is the newest message posted, of which the sender's log says nothing.
func (w *world) quietly(t *testing.T) outbox.Message {
	t.Helper()
	m := w.sender.last(t)
	w.sender.forget()
	f := w.sender
	f.mu.Lock()
	defer f.mu.Unlock()
	f.posted, f.edited, f.buttons, f.spent, f.alerts = nil, nil, nil, 0, 0
	return m
}

// settled runs the bot until it has nothing more to do at this moment of the bubble's clock.
func (w *world) settled(t *testing.T) {
	t.Helper()
	stop := w.running(t)
	synctest.Wait()
	w.sender.deliver(t.Context())
	synctest.Wait()
	require.NoError(t, stop())
}

// newTranscript tells that a session has something to read.
func (w *world) newTranscript(t *testing.T, r session.Record) {
	t.Helper()
	require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteTranscript, Session: r}))
}

// readNow runs the bot until the reader of a session that is over has left.
func (w *world) readNow(t *testing.T, r session.Record) {
	t.Helper()
	w.newTranscript(t, r)
	left := w.readerOf(r)
	stop := w.running(t)
	receive(t, left)
	require.NoError(t, stop())
}

// readerOf is closed when the reader of a session leaves; it is closed where there is none.
func (w *world) readerOf(r session.Record) <-chan struct{} { return w.Answers.Left(r.ID) }

// readAll runs the bot until a reader has read all that the transcript of a session has now, and
// starts the bot anew.
func (w *world) readAll(t *testing.T) {
	t.Helper()
	waits := w.talk.untilOneWaits()
	stop := w.running(t)
	receive(t, waits)
	require.NoError(t, stop())
	w.again()
}

// forget empties the log.
func (l *log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}
