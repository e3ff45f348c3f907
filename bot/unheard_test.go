package bot

import (
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/internal/session"
)

// Who is taken off the list while prompts wait gets none of them typed, in a group neither. Nobody
// is told, and the log has one line.
func TestP9_PromptsOfAPersonTakenOffTheListAreNotTyped(t *testing.T) {
	w := newWorld(t)
	var log strings.Builder
	w.Log = slog.New(slog.NewTextHandler(&log, nil))
	w.again()
	w.Connect(w.sessions, w.windows)
	r := w.session(t, "api", session.Running)
	updates := int64(500)
	put := func(state inbox.State, from int64, chat models.Chat, raw []byte) string {
		t.Helper()
		updates++
		if from != 0 {
			var err error
			raw, err = json.Marshal(models.Update{ID: updates, Message: &models.Message{ID: 5, From: &models.User{ID: from}, Chat: chat, Text: "x"}})
			require.NoError(t, err)
		}
		key := inbox.UpdateKey(updates)
		_, err := w.entries.Add(inbox.Entry{Key: key, Update: raw, State: state, Session: r.ID, MessageID: 5, Text: "x",
			Conversation: session.Conversation{ChatID: chat.ID}})
		require.NoError(t, err)
		return key
	}
	var gone, stay []string
	for _, state := range []inbox.State{inbox.Held, inbox.Asked} {
		gone = append(gone, put(state, eve, privateChat(eve), nil), put(state, eve, groupChat(ours), nil), put(state, alice, groupChat(-999), nil))
		stay = append(stay, put(state, alice, privateChat(alice), nil), put(state, bob, groupChat(ours), nil), put(state, 0, privateChat(eve), nil))
	}
	gone = append(gone, put(inbox.Held, 0, privateChat(alice), []byte(`{"message":7}`)))
	for _, state := range []inbox.State{inbox.Typing, inbox.Unproven} {
		stay = append(stay, put(state, eve, groupChat(ours), nil))
	}
	for range 2 { // and once more is nothing
		require.NoError(t, w.Review(t.Context(), 0))
		for _, key := range gone {
			assert.Empty(t, w.entryState(key), key)
		}
		for _, key := range stay {
			assert.NotEmpty(t, w.entryState(key), key)
		}
	}
	w.silent(t)
	assert.Equal(t, 1, strings.Count(log.String(), "not_typed"), log.String())
	assert.Contains(t, log.String(), "prompts=7")
}

// Prompts of a group that has become another chat stay, whichever number is listed.
func TestP4_PromptsOfAGroupThatHasMovedAreStillHeard(t *testing.T) {
	for _, listed := range []int64{ours, grown} {
		for _, stands := range []int64{ours, grown} {
			w := newWorld(t)
			require.NoError(t, w.Chats.Aliases.Note(ours, grown))
			w.Groups = map[int64]bool{listed: true}
			key, _ := w.accept(t, &models.Message{From: &models.User{ID: bob}, Chat: groupChat(ours), Text: "x"})
			require.NoError(t, w.entries.Change(key, func(e *inbox.Entry) error {
				e.State, e.Session, e.Conversation = inbox.Held, uuid.New(), session.Conversation{ChatID: stands}
				return nil
			}))
			require.NoError(t, w.Review(t.Context(), 0))
			assert.Equal(t, inbox.Held, w.entryState(key), "%d is listed, it stands in %d", listed, stands)
		}
	}
}

func TestP9_AnUnheardPromptThatCannotBeEndedEndsTheStart(t *testing.T) {
	w := newWorld(t)
	key, _ := w.accept(t, &models.Message{From: &models.User{ID: eve}, Chat: privateChat(eve), Text: "x"})
	require.NoError(t, w.entries.Change(key, func(e *inbox.Entry) error { e.State = inbox.Held; return nil }))
	w.entries.finish = func(string) error { return errDisk }
	require.ErrorIs(t, w.Review(t.Context(), 0), errDisk)
}
