package bot_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port/news"
)

func TestP5_UnblockedChatGetsQuestion(t *testing.T) {
	chattest.RunsAs(t, "a permission", func(t *testing.T, w *chattest.World) {
		unblock := w.Blocks(t)
		_, q := w.Asking(t)
		assert.Empty(t, w.Relay.Done(), "its hook waits on")
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		unblock()
		require.Len(t, w.Telegram.Sent, 1)
		assert.True(t, w.Has(w.Telegram.Sent[0], i18n.AskAllow))
		assert.Equal(t, 1, w.Message(t, q))
		w.MustHear(t, "/status nobody")
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 1, "it comes once")
		w.TapsOn(t, chattest.Alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.Relay.Done())
	})
	chattest.RunsAs(t, "a dialog", func(t *testing.T, w *chattest.World) {
		unblock := w.Blocks(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		unblock()
		require.Len(t, w.Telegram.Sent, 1)
		assert.Contains(t, chattest.Words(w.Telegram.Sent[0]), chattest.Trust.Options[0])
		w.MustHear(t, "/status nobody")
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 1, "it comes once")
	})
	chattest.RunsAs(t, "what is said under a text that waits", func(t *testing.T, w *chattest.World) {
		r, q := w.Asking(t)
		unblock := w.Blocks(t)
		e, _ := w.HeldBehind(t, r)
		unblock()
		assert.Equal(t, e.MessageID, w.LastSent(t).ReplyTo)
		assert.Equal(t, []string{w.Word(i18n.ButtonShowQuestion), w.Word(i18n.ButtonDenyWith)}, chattest.Words(w.LastSent(t)))
		assert.Equal(t, 2, w.Offer(t, q).Message)
	})
	chattest.RunsAs(t, "a tap unblocks too", func(t *testing.T, w *chattest.World) {
		w.Blocks(t)
		_, q := w.Asking(t)
		w.Telegram.OnSend = nil
		w.TapAt(t, chattest.Alice, chattest.PrivateChat(chattest.Alice), 77, "no such verb")
		assert.Equal(t, 1, w.Message(t, q))
	})
	chattest.RunsAs(t, "after a restart, too", func(t *testing.T, w *chattest.World) {
		unblock := w.Blocks(t)
		_, q := w.Asking(t)
		w.Stops(t)
		w.Telegram.OnParked = nil // a start tries each chat once
		w.Restart(t)
		assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
		assert.True(t, w.Telegram.IsSuspended(chattest.Alice))
		unblock()
		assert.Equal(t, 1, w.Message(t, q))
	})
}

// The chat is unblocked while the refusal is on its way.
func TestP5_QuestionSurvivesUnblockingRace(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		refused := make(map[string]bool)
		w.Telegram.OnSend = func(_ context.Context, m outbox.Message) error {
			if refused[m.Text.Text] {
				return nil
			}
			refused[m.Text.Text] = true
			w.MustHear(t, "/status nobody")
			return &outbox.Refused{Err: outbox.ErrBlocked}
		}
		r, q := w.Asking(t)
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, 2)
		assert.NotZero(t, w.Message(t, q))
		w.Lifecycle.OnDialog = chattest.Trust
		w.Restart(t)
		assert.Len(t, w.Telegram.Sent, 2, "it is known which messages they are")
	})
}

func TestUnblockedChatGetsNoAnsweredQuestion(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(t *testing.T, w *chattest.World, r session.Record, q chattest.Asked)
	}{
		{"the transcript says so", func(t *testing.T, w *chattest.World, _ session.Record, q chattest.Asked) {
			w.Result(t, q, "", "ok", false)
		}},
		{"its hook is gone", func(t *testing.T, w *chattest.World, _ session.Record, q chattest.Asked) {
			w.HangsUp(q)
			w.OnLeft(t.Context(), q.Request)
			w.Work(t)
		}},
		{"the terminal does not ask any more", func(t *testing.T, w *chattest.World, r session.Record, _ chattest.Asked) {
			w.Later(time.Minute)
			require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
			w.Work(t)
		}},
	} {
		chattest.RunsAs(t, tt.name, func(t *testing.T, w *chattest.World) {
			unblock := w.Blocks(t)
			r, q := w.Asking(t)
			tt.ends(t, w, r, q)
			unblock()
			assert.Empty(t, w.Telegram.Sent)
		})
	}
	chattest.RunsAs(t, "a dialog that is gone", func(t *testing.T, w *chattest.World) {
		unblock := w.Blocks(t)
		r := w.NewCurrentSession(t, "api", session.Running)
		require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
		w.Work(t)
		require.NoError(t, w.SessionNews(t.Context(), r, news.DialogGone{}))
		unblock()
		assert.Empty(t, w.Telegram.Sent)
		assert.Empty(t, w.DialogFiles(t))
	})
}

// A chat that takes nothing is not tried again and again.
func TestBlockedChatGetsNoQuestion(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		w.Blocks(t)
		w.Asking(t)
		w.Telegram.OnSend = func(context.Context, outbox.Message) error { t.Error("tried"); return nil }
		w.Later(chattest.Round)
	})
}
