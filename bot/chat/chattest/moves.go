package chattest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

const Grown = int64(-1001234567890) // the group's new number

var (
	InTopic = session.Conversation{ChatID: Alice, ThreadID: 9}
)

// SettledIn is a session with everything that may be shown of one in a conversation.
func (w *World) SettledIn(t *testing.T, to session.Conversation) (r session.Record, held inbox.Entry, q Asked) {
	t.Helper()
	r = w.Session(t, "api", session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Conversation = to })
	r = w.Record(t, r.ID)
	require.NoError(t, w.Chats.SetCurrent(to, r.ID))
	require.NoError(t, w.Chats.NoteMessage(to, 77, r.ID))
	q = w.AsksFor(t, r, "Bash", Bash)
	w.Lifecycle.OnDialog = Trust
	require.NoError(t, w.SessionNews(t.Context(), r, OpenDialog(Trust)))
	w.Work(t)
	require.Len(t, w.Telegram.Sent, 2)
	w.Updates++ // it comes last: before the request, it would be in a list
	held = inbox.Entry{Key: inbox.UpdateKey(w.Updates), Received: Started, State: inbox.Held, Session: r.ID,
		Conversation: to, MessageID: 77, Text: "do it"}
	_, err := w.Inbox.Add(held)
	require.NoError(t, err)
	return r, held, q
}

// IsIn requires that all of it is shown in the chat whose place has this name.
func (w *World) IsIn(t *testing.T, seen, place session.Conversation, r session.Record, held inbox.Entry, q Asked) {
	t.Helper()
	assert.Equal(t, place, w.Record(t, r.ID).Conversation)
	e, err := w.Inbox.Load(held.Key)
	require.NoError(t, err)
	assert.Equal(t, place, e.Conversation)
	assert.Equal(t, inbox.Held, e.State)
	w.React(t.Context(), place, e.MessageID, ReactionTyped)
	assert.Equal(t, "none yet", w.Telegram.Reaction(77), "there is another message of that number, or none")
	c := w.RequestState(t, q)
	assert.Equal(t, place, c.Conversation)
	assert.Equal(t, ask.StageOpen, c.Stage)
	var anew []int
	for i, m := range w.Telegram.Sent[2:] {
		if !slices.Contains(Words(m), w.Word(i18n.ButtonNewTopic)) { // a question about a topic precedes them
			anew = append(anew, i+3)
			assert.Equal(t, seen, m.To)
		}
	}
	require.Len(t, anew, 2, "the request and the dialog are shown anew")
	request := w.ShownAs(t, q)
	require.Contains(t, anew, request, "in any order")
	dialog := anew[0] + anew[1] - request
	assert.Contains(t, w.Telegram.Sent[request-1].Text.Text, "go test")
	assert.Contains(t, w.Telegram.Sent[dialog-1].Text.Text, "Do you trust")
	assert.Contains(t, Words(w.Telegram.Now(dialog)), Trust.Options[0])
}

// ShownAs is the id that the message of a request has in the chat.
func (w *World) ShownAs(t *testing.T, q Asked) int {
	t.Helper()
	c := w.RequestState(t, q)
	_, id := w.Chats.Aliases.Out(c.Conversation.ChatID, w.Message(t, q))
	return id
}

// Migrates turns a group into another chat, as an update reports it.
func (w *World) Migrates(t *testing.T, from, to int64) {
	t.Helper()
	_, err := w.Bot.Moves.Note(from, to)
	require.NoError(t, err)
}

// StartsAnew is the same world after a restart of the program, with the chats on disk.
func (w *World) StartsAnew(t *testing.T) {
	t.Helper()
	chats, err := OpenChats(filepath.Join(w.Dir, "chats"))
	require.NoError(t, err)
	w.Chats = chats
	w.Restart(t)
}

// SaysIn handles a text of a person in a group.
func (w *World) SaysIn(t *testing.T, group int64, m models.Message) inbox.Entry {
	t.Helper()
	m.Chat, m.From = GroupChat(group), &models.User{ID: Alice}
	key, u := w.Accept(t, &m)
	require.NoError(t, w.Handle(t.Context(), key, u))
	e, err := w.Inbox.Load(key)
	require.NoError(t, err)
	return e
}

// TapOnShown taps the button with a word under a message, in the message's current form.
func (w *World) TapOnShown(t *testing.T, from int64, id int, word i18n.Key) error {
	t.Helper()
	return w.pressOn(t, from, id, w.Telegram.Now(id), w.Word(word))
}

// Adopted is a session that continues in a window that a person opened.
func (w *World) Adopted(t *testing.T, name string) session.Record {
	t.Helper()
	r := w.Session(t, name, session.Running)
	w.Records.Change(r.ID, func(r *session.Record) { r.Binding = &session.Binding{Adopted: true, Window: "@21", Shell: 99} })
	return w.Record(t, r.ID)
}
