package bot_test

import (
	"errors"
	"os"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/inbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP9_StrangersAreIgnored: all that a person can send, from a stranger, in private, in an
// allowed group and elsewhere; and from an allowed person in a group that is not listed. No answer,
// no reaction, no file asked for, no end of a tap's waiting, nothing on disk.
func TestP9_StrangersAreIgnored(t *testing.T) {
	for _, tt := range chattest.WhoAndWhere {
		if tt.OnItem {
			continue
		}
		t.Run(tt.Name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			r := w.NewCurrentSession(t, "api", session.Running)
			require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: tt.Chat.ID}, r.ID))
			list := w.HeardShown(t, "/list")
			before, err := os.ReadDir(w.Dir)
			require.NoError(t, err)
			from := &models.User{ID: tt.From}
			kinds := []models.Message{{Text: "/kill api"}, {Text: "a prompt"}, {Text: "!id"}, {Caption: "x", Photo: []models.PhotoSize{{FileID: "f"}}},
				{Document: &models.Document{FileID: "f", FileName: "a"}}, {Voice: &models.Voice{FileID: "f"}}, {Video: &models.Video{FileID: "f"}},
				{MediaGroupID: "1", Photo: []models.PhotoSize{{FileID: "f"}}}, {Sticker: &models.Sticker{FileID: "f"}}, {Location: &models.Location{}},
				{Text: "reply", ReplyToMessage: &models.Message{ID: 3}}, {NewChatMembers: []models.User{*from}}, {MigrateToChatID: -9}}
			for n := range kinds {
				m := kinds[n]
				m.ID, m.From, m.Chat = 10+n, from, tt.Chat
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(n)), &models.Update{Message: &m}))
				edited := m
				edited.EditDate = 5
				require.NoError(t, w.Handle(t.Context(), inbox.UpdateKey(int64(100+n)), &models.Update{EditedMessage: &edited}))
			}
			on := w.AsTelegram(list)
			on.Chat = tt.Chat
			require.NoError(t, w.Handle(t.Context(), "1", chattest.TapOn(tt.From, on, chattest.Spots(list)[0].Button.Data)))
			old := &models.InaccessibleMessage{Chat: tt.Chat, MessageID: 5}
			require.NoError(t, w.Handle(t.Context(), "1", &models.Update{CallbackQuery: &models.CallbackQuery{ID: "q", From: *from,
				Message: models.MaybeInaccessibleMessage{InaccessibleMessage: old}}}))
			f := inbox.Failure{From: tt.From, Conversation: session.Conversation{ChatID: tt.Chat.ID}, Tap: true, Late: true, Err: errors.New("late"),
				Update: chattest.TapOn(tt.From, &models.Message{Chat: tt.Chat}, "x")}
			require.NoError(t, w.UpdateFailed(t.Context(), f))
			w.Silent(t)
			after, err := os.ReadDir(w.Dir)
			require.NoError(t, err)
			assert.Len(t, after, len(before))
		})
	}
}

func TestOldTapIsReported(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.UpdateFailed(t.Context(), inbox.Failure{From: chattest.Alice, Conversation: chattest.AtAlice, Tap: true, Late: true, Err: errors.New("late"),
		Update: chattest.TapOn(chattest.Alice, &models.Message{}, "x")}))
	assert.Equal(t, []string{"answer query: " + w.Word(i18n.TapLate)}, w.Telegram.Done())
	for _, lang := range i18n.Languages() {
		assert.LessOrEqual(t, chattest.Plain(w.Speech.For(lang).Say(i18n.TapLate)).Length(), chattest.AlertLimit, lang)
	}
}
