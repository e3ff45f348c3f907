package bot_test

import (
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/conversation"
	"ccbot/bot/inbox"
	"ccbot/bot/prompt"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// Waiting prompts of a person removed from the allow list are not typed, in groups either. The log
// has one line, and each private chat has one card about those of a person to a session.
func TestP9_RemovedPersonsPromptsAreNotTyped(t *testing.T) {
	t.Run("at a start", func(t *testing.T) {
		takenOff(t, func(w *chattest.World) error { return w.Review(t.Context(), 0) })
	})
	t.Run("while sessions run", func(t *testing.T) {
		takenOff(t, func(w *chattest.World) error {
			defer w.Telegram.Deliver(t.Context())
			return errors.Join(prompt.TellPlanners(t.Context(), w.Prompts))
		})
	})
}

func takenOff(t *testing.T, ends func(w *chattest.World) error) {
	w := chattest.NewWorld(t)
	var log strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.Again()
	w.Connect(w.Lifecycle, w.Windows)
	r := w.Session(t, "api", session.Running)
	updates := int64(500)
	queued := w.Prompt(t, r, "y", inbox.Held) // of no update: it stays
	w.Records.Change(r.ID, func(r *session.Record) { r.Prompts = []string{queued.Key} })
	put := func(state inbox.State, from int64, chat models.Chat, raw []byte) string {
		t.Helper()
		updates++
		if from != 0 {
			var err error
			raw, err = json.Marshal(models.Update{ID: updates, Message: &models.Message{ID: int(updates), From: &models.User{ID: from}, Chat: chat, Text: "x"}})
			require.NoError(t, err)
		}
		key := inbox.UpdateKey(updates)
		_, err := w.Inbox.Add(inbox.Entry{Key: key, Update: raw, State: state, Session: r.ID, MessageID: int(updates), Text: "x",
			Conversation: session.Conversation{ChatID: chat.ID}})
		require.NoError(t, err)
		return key
	}
	var barred, stay []string
	for _, state := range []inbox.State{inbox.Held, inbox.Asked} {
		all := &barred
		if state == inbox.Asked { // a person decides about it anyway
			all = &stay
		}
		*all = append(*all, put(state, chattest.Eve, chattest.PrivateChat(chattest.Eve), nil), put(state, chattest.Eve, chattest.GroupChat(chattest.Ours), nil), put(state, chattest.Alice, chattest.GroupChat(-999), nil))
		stay = append(stay, put(state, chattest.Alice, chattest.PrivateChat(chattest.Alice), nil), put(state, chattest.Bob, chattest.GroupChat(chattest.Ours), nil), put(state, 0, chattest.PrivateChat(chattest.Eve), nil))
	}
	barred = append(barred, put(inbox.Held, 0, chattest.PrivateChat(chattest.Alice), []byte(`{"message":7}`)))
	for _, state := range []inbox.State{inbox.Typing, inbox.Unproven} {
		stay = append(stay, put(state, chattest.Eve, chattest.GroupChat(chattest.Ours), nil))
	}
	for range 2 { // and once more is nothing
		require.NoError(t, ends(w))
		for _, key := range barred {
			assert.Equal(t, inbox.Barred, w.EntryState(key), key)
		}
		for _, key := range stay {
			assert.NotContains(t, []inbox.State{inbox.Barred, ""}, w.EntryState(key), key)
		}
	}
	for _, m := range w.Telegram.Sent { // a question that was missing
		assert.Contains(t, append(stay, "0"), inbox.UpdateKey(int64(m.ReplyTo)), "no question is about a prompt that is barred")
	}
	asked := map[int64]int{}
	for _, m := range w.Telegram.ShownOnce() {
		if strings.Contains(m.Text.Text, w.Word(i18n.PersonLeft)) {
			asked[m.To.ChatID]++
		}
	}
	assert.Equal(t, map[int64]int{chattest.Alice: 3}, asked, "of Eve, of the group that was taken off, and of nobody")
	assert.Equal(t, 1, strings.Count(log.String(), "not_typed"), log.String())
	assert.Contains(t, log.String(), "prompts=4")
}

// A person is taken off the list while the recording is put into words: nothing of it is typed.
func TestP9_RecordingOfRemovedPersonIsNotTyped(t *testing.T) {
	d := chattest.NewMediaWorld(t)
	d.Voice = &chattest.FakeVoice{Says: "fix the bug", Then: func() {
		require.NoError(t, d.Readmit(t.Context(), conversation.Lists{People: map[int64]bool{chattest.Bob: true}}))
	}}
	d.Connect(d.Lifecycle, d.Windows)
	key, err := d.Get(t, models.Message{Voice: &models.Voice{FileID: "v"}})
	require.NoError(t, err)
	require.NotEmpty(t, d.Received(t), "it was fetched")
	assert.NotEqual(t, inbox.Held, d.EntryState(key))
	assert.Zero(t, typed(d))
}

// Prompts of a group that has become another chat stay, whichever number is listed.
func TestP4_MigratedGroupsPromptsStay(t *testing.T) {
	for _, listed := range []int64{chattest.Ours, chattest.Grown} {
		for _, stands := range []int64{chattest.Ours, chattest.Grown} {
			w := chattest.NewWorld(t)
			require.NoError(t, w.Chats.Aliases.Note(chattest.Ours, chattest.Grown))
			w.Admit(conversation.Lists{People: w.People, Groups: map[int64]bool{listed: true}})
			key, _ := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Bob}, Chat: chattest.GroupChat(chattest.Ours), Text: "x"})
			require.NoError(t, w.Inbox.Change(key, func(e *inbox.Entry) error {
				e.State, e.Session, e.Conversation = inbox.Held, uuid.New(), session.Conversation{ChatID: stands}
				return nil
			}))
			require.NoError(t, w.Review(t.Context(), 0))
			assert.Equal(t, inbox.Held, w.EntryState(key), "%d is listed, it stands in %d", listed, stands)
		}
	}
}

func TestP9_FailedBarOfPromptFailsStart(t *testing.T) {
	w := chattest.NewWorld(t)
	key, _ := w.Accept(t, &models.Message{From: &models.User{ID: chattest.Eve}, Chat: chattest.PrivateChat(chattest.Eve), Text: "x"})
	require.NoError(t, w.Inbox.Change(key, func(e *inbox.Entry) error { e.State = inbox.Held; return nil }))
	w.Inbox.OnSave = func(inbox.Entry) error { return chattest.ErrDisk }
	require.ErrorIs(t, w.Review(t.Context(), 0), chattest.ErrDisk)
}
