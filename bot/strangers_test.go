package bot

import (
	"errors"
	"os"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP9_NothingOfAStrangerIsHeard: all that a person can send, from a stranger, in private, in an
// allowed group and elsewhere; and from an allowed person in a group that is not listed. No answer,
// no reaction, no file asked for, no end of a tap's waiting, nothing on disk.
func TestP9_NothingOfAStrangerIsHeard(t *testing.T) {
	for _, tt := range whoAndWhere {
		if tt.heard {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			r := w.currentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: tt.chat.ID}, r.ID))
			list := w.heardShown(t, "/list")
			before, err := os.ReadDir(w.dir)
			require.NoError(t, err)
			from := &models.User{ID: tt.from}
			kinds := []models.Message{{Text: "/kill api"}, {Text: "a prompt"}, {Text: "!id"}, {Caption: "x", Photo: []models.PhotoSize{{FileID: "f"}}},
				{Document: &models.Document{FileID: "f", FileName: "a"}}, {Voice: &models.Voice{FileID: "f"}}, {Video: &models.Video{FileID: "f"}},
				{MediaGroupID: "1", Photo: []models.PhotoSize{{FileID: "f"}}}, {Sticker: &models.Sticker{FileID: "f"}}, {Location: &models.Location{}},
				{Text: "reply", ReplyToMessage: &models.Message{ID: 3}}, {NewChatMembers: []models.User{*from}}, {MigrateToChatID: -9}}
			for n := range kinds {
				m := kinds[n]
				m.ID, m.From, m.Chat = 10+n, from, tt.chat
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(n)), &models.Update{Message: &m}))
				edited := m
				edited.EditDate = 5
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(100+n)), &models.Update{EditedMessage: &edited}))
			}
			on := w.asTelegram(list)
			on.Chat = tt.chat
			require.NoError(t, w.Handle(t.Context(), "1", tapOn(tt.from, on, spots(list)[0].button.Data)))
			old := &models.InaccessibleMessage{Chat: tt.chat, MessageID: 5}
			require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &models.CallbackQuery{ID: "q", From: *from,
				Message: models.MaybeInaccessibleMessage{InaccessibleMessage: old}}}))
			f := inbox.Failure{From: tt.from, Conversation: session.Conversation{ChatID: tt.chat.ID}, Tap: true, Late: true, Err: errors.New("late"),
				Update: tapOn(tt.from, &models.Message{Chat: tt.chat}, "x")}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			w.silent(t)
			after, err := os.ReadDir(w.dir)
			require.NoError(t, err)
			assert.Len(t, after, len(before))
		})
	}
}

func TestATapOfLongAgoIsTold(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, w.UpdateFailed(t.Context(), inbox.Failure{From: alice, Conversation: atAlice, Tap: true, Late: true, Err: errors.New("late"),
		Update: tapOn(alice, &models.Message{}, "x")}))
	assert.Equal(t, []string{"answer query: " + w.word(i18n.TapLate)}, w.sender.done())
	for _, lang := range i18n.Languages() {
		assert.LessOrEqual(t, plain(w.Words.For(lang).Say(i18n.TapLate)).Length(), alertLimit, lang)
	}
}
