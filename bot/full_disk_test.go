package bot_test

import (
	"context"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// The notice of a full disk is stored nowhere. One chat that takes it is enough.
func TestFullDiskIsReportedWithoutDisk(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chattest.Bob}, w.NewCurrentSession(t, "api", session.Running).ID))
	w.Telegram.OnPost = chattest.Refuse
	w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
		if m.To == chattest.AtAlice {
			return chattest.ErrNet
		}
		return nil
	}
	require.NoError(t, w.DiskFull(t.Context()))
	full := chattest.Warning + w.Word(i18n.DiskFull, i18n.Args{"Dir": "~/.ccbot"})
	assert.Equal(t, []string{full}, w.Telegram.AnswersSent())
	w.Telegram.OnSend = func(context.Context, outbox.Message) error { return chattest.ErrNet }
	require.ErrorIs(t, w.DiskFull(t.Context()), chattest.ErrNet, "nobody knows")

	require.ErrorIs(t, w.DiskFree(t.Context()), chattest.ErrDisk)
	w.Telegram.OnPost = nil
	require.NoError(t, w.DiskFree(t.Context()))
	room := w.Word(i18n.DiskRoom, i18n.Args{"Dir": "~/.ccbot"})
	assert.Equal(t, []string{room, room}, w.Telegram.Texts())
}

// While the disk takes nothing, /health and /list are answered from memory, without buttons.
func TestHealthAndListNeedNoDisk(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		from       int64
		answer     string // empty: no answer
	}{
		{"the list", "/list", chattest.Alice, "✓ api"},
		{"health", "/health", chattest.Alice, "Queues: "},
		{"by a stranger", "/list", chattest.Eve, ""},
		{"another command", "/kill", chattest.Alice, ""},
		{"a text", "hi", chattest.Alice, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := chattest.NewWorld(t)
			w.NewCurrentSession(t, "api", session.Running)
			w.Telegram.OnPost = chattest.Refuse
			do := w.Unkept(&models.Update{ID: 1, Message: &models.Message{ID: 9, From: &models.User{ID: tt.from},
				Chat: chattest.PrivateChat(tt.from), Text: tt.text}})
			require.Equal(t, tt.answer != "", do != nil)
			if do == nil {
				return
			}
			require.NoError(t, do(t.Context()))
			require.Len(t, w.Telegram.Sent, 1)
			assert.Contains(t, w.Telegram.Sent[0].Text.Text, tt.answer)
			assert.Empty(t, w.Telegram.Sent[0].Buttons)
		})
	}
	w := chattest.NewWorld(t)
	assert.Nil(t, w.Unkept(&models.Update{ID: 1}))
}

// A chat that missed the notice gets it, and the others get it once.
func TestDiskSpaceReportedOncePerChat(t *testing.T) {
	w := chattest.NewWorld(t)
	require.NoError(t, w.Chats.SetCurrent(session.Conversation{ChatID: chattest.Bob}, w.NewCurrentSession(t, "api", session.Running).ID))
	posts := 0
	w.Telegram.OnPost = func(outbox.Message) error {
		if posts++; posts == 2 {
			return chattest.ErrDisk
		}
		return nil
	}
	require.ErrorIs(t, w.DiskFree(t.Context()), chattest.ErrDisk)
	require.NoError(t, w.DiskFree(t.Context()))
	assert.Len(t, w.Telegram.Texts(), 2)
	require.NoError(t, w.DiskFree(t.Context()))
	assert.Len(t, w.Telegram.Texts(), 4, "the next time")
}
