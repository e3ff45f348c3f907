package bot

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/internal/transcript"
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

// spot finds the first button of a message that has a word: the key of the button's text,
// or the text itself.
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

// tapSpot taps a button where it was shown. The message has the number 55.
func (w *world) tapSpot(t *testing.T, from int64, s spot) error {
	t.Helper()
	return w.Handle(t.Context(), "1", tapOn(from, asTelegram(s.on), s.button.Data))
}

// asTelegram is a message of the bot's as Telegram gives it with a tap.
func asTelegram(m outbox.Message) *models.Message {
	chat := privateChat(m.To.ChatID)
	if m.To.ChatID < 0 {
		chat = groupChat(m.To.ChatID)
	}
	markup := &models.InlineKeyboardMarkup{}
	on := &models.Message{ID: 55, Chat: chat, Text: m.Text.Text, ReplyMarkup: markup,
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

// left is the message that was tapped in Alice's chat, with the buttons that it has now.
func (w *world) left() outbox.Message { return outbox.Message{To: atAlice, Buttons: w.sender.buttons} }

// shown tells news and gives the message that the chat has of it, of which the sender's
// log says nothing.
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

// heardShown is the message that answers a text of Alice's, of which the logs of the sender
// and of the sessions say nothing.
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

// What follows looks into the reader of answers, which no door of Bot tells of.

// readerOf is closed when the reader of a session leaves; it is closed where there is none.
func (w *world) readerOf(r session.Record) <-chan struct{} {
	w.answers.mu.Lock()
	defer w.answers.mu.Unlock()
	if left, ok := w.answers.left[r.ID]; ok {
		return left
	}
	none := make(chan struct{})
	close(none)
	return none
}

// leaving is a session whose reader has nothing more to read: leave lets the reader leave if
// there is no news, and forget takes the session away and says whether there was a reader, whether
// another one was to start, and whether there was news that no reader had heard.
func (w *world) leaving(r session.Record) (leave func() bool, forget func() (has, starts, unheard bool)) {
	a, news := w.answers, make(chan struct{}, 1)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.news[r.ID], a.left[r.ID] = news, make(chan struct{})
	return func() bool { return a.leave(r.ID, news) }, func() (has, starts, unheard bool) {
		heard, has := a.news[r.ID]
		starts = slices.Equal(a.takeWaiting(), []uuid.UUID{r.ID})
		delete(a.news, r.ID)
		delete(a.left, r.ID)
		return has, starts, len(heard) == 1
	}
}

// awaitsPeople says whether a reader waits until somebody writes in a chat that takes nothing.
func (w *world) awaitsPeople() bool {
	w.answers.mu.Lock()
	defer w.answers.mu.Unlock()
	return len(w.answers.parked) > 0
}

// looksAfter has readers look at an agent after that silence.
func (w *world) looksAfter(d time.Duration) { w.answers.settle = d }

// looksAt lets the reader of a session, which holds a text, look at a silent agent. It says
// whether the text is held on, and after which silence the reader looks again.
func (w *world) looksAt(t *testing.T, r session.Record) (holds bool, again time.Duration) {
	t.Helper()
	p := &passage{answers: w.answers, id: r.ID, held: held{next: r.Cursors[0], line: "one"}}
	require.NoError(t, p.lookQuiet(t.Context()))
	return p.held.any(), p.held.patience
}

// reading is a reader of a session that is open; next takes one more item of its transcript.
func (w *world) reading(t *testing.T, r session.Record) (next func() (more bool, err error)) {
	t.Helper()
	r, _ = w.records.Get(r.ID)
	p := &passage{answers: w.answers, id: r.ID}
	reader := transcript.Open(r.Cursors[0])
	t.Cleanup(func() { _ = reader.Close() })
	return func() (bool, error) {
		item, ok, err := reader.Next()
		if err != nil || !ok {
			return false, err
		}
		return true, p.take(t.Context(), item)
	}
}

// readAll lets a reader of a session that is open read what there is now.
func (w *world) readAll(t *testing.T, r session.Record) {
	t.Helper()
	next, more := w.reading(t, r), true
	for more {
		var err error
		more, err = next()
		require.NoError(t, err)
	}
}

// readsOnce follows the transcript of a session that is open until there is news, which tell
// brings, or the transcript is another one. The reader of a running bot may begin once more at any
// moment, so that a test of it does not know what that reader has passed already.
func (w *world) readsOnce(t *testing.T, r session.Record) (tell func(), done <-chan error) {
	t.Helper()
	news, end := make(chan struct{}), make(chan error, 1)
	go func() { end <- w.answers.readFile(t.Context(), r, news, true) }()
	return func() {
		select {
		case news <- struct{}{}:
		case <-time.After(patience):
			require.FailNow(t, "nobody takes the news")
		}
	}, end
}

// forget empties the log.
func (l *log) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}
