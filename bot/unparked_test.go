package bot

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle"
)

// blocks lets Alice block the bot. What it gives back unblocks it, by a message of hers.
func (w *world) blocks(t *testing.T) (unblock func()) {
	t.Helper()
	w.sender.send = func(context.Context, outbox.Message) error {
		w.sender.mu.Lock()
		defer w.sender.mu.Unlock()
		w.sender.parked = map[int64]bool{alice: true}
		return fmt.Errorf("send: %w", &outbox.Refused{Err: outbox.ErrBlocked})
	}
	return func() {
		w.sender.send = nil
		w.mustHear(t, "/help")
		w.work(t)
	}
}

func TestP5_AQuestionToABlockedChatComesWhenItIsUnblocked(t *testing.T) {
	runsAs(t, "a permission", func(t *testing.T, w *world) {
		unblock := w.blocks(t)
		_, q := w.asking(t)
		assert.Empty(t, w.relay.done(), "its hook waits on")
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
		unblock()
		require.Len(t, w.sender.sent, 1)
		assert.True(t, w.has(w.sender.sent[0], i18n.AskAllow))
		assert.Equal(t, 1, w.message(t, q))
		w.mustHear(t, "/help")
		w.work(t)
		assert.Len(t, w.sender.sent, 1, "it comes once")
		w.tapsOn(t, alice, q, i18n.AskAllow)
		assert.Equal(t, []string{"allow "}, w.relay.done())
	})
	runsAs(t, "a dialog", func(t *testing.T, w *world) {
		unblock := w.blocks(t)
		r := w.currentSession(t, "api", session.Running)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		unblock()
		require.Len(t, w.sender.sent, 1)
		assert.Contains(t, words(w.sender.sent[0]), trust.Options[0])
		w.mustHear(t, "/help")
		w.work(t)
		assert.Len(t, w.sender.sent, 1, "it comes once")
	})
	runsAs(t, "what is said under a text that waits", func(t *testing.T, w *world) {
		r, q := w.asking(t)
		unblock := w.blocks(t)
		e, _ := w.heldBehind(t, r)
		unblock()
		assert.Equal(t, e.MessageID, w.lastSent(t).ReplyTo)
		assert.Equal(t, []string{w.word(i18n.ButtonDenyWith), w.word(i18n.ButtonSendAfter)}, words(w.lastSent(t)))
		assert.Equal(t, 2, w.offer(t, q).Message)
	})
	runsAs(t, "a tap unblocks too", func(t *testing.T, w *world) {
		w.blocks(t)
		_, q := w.asking(t)
		w.sender.send = nil
		w.tapAt(t, alice, privateChat(alice), 77, "no such verb")
		assert.Equal(t, 1, w.message(t, q))
	})
	runsAs(t, "after a restart, too", func(t *testing.T, w *world) {
		unblock := w.blocks(t)
		_, q := w.asking(t)
		w.stops(t)
		w.sender.parked = nil // a start tries each chat once
		w.restart(t)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
		assert.True(t, w.sender.Parked(alice))
		unblock()
		assert.Equal(t, 1, w.message(t, q))
	})
}

// The chat is unblocked while the refusal is on its way.
func TestP5_AQuestionIsNotLostBetweenARefusalAndTheUnblocking(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		refused := make(map[string]bool)
		w.sender.send = func(_ context.Context, m outbox.Message) error {
			if refused[m.Text.Text] {
				return nil
			}
			refused[m.Text.Text] = true
			w.mustHear(t, "/help")
			return &outbox.Refused{Err: outbox.ErrBlocked}
		}
		r, q := w.asking(t)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		assert.Len(t, w.sender.sent, 2)
		assert.NotZero(t, w.message(t, q))
		w.sessions.dialog = trust
		w.restart(t)
		assert.Len(t, w.sender.sent, 2, "it is known which messages they are")
	})
}

func TestWhatWasAnsweredWhileTheChatWasBlockedIsNotAskedThere(t *testing.T) {
	for _, tt := range []struct {
		name string
		ends func(t *testing.T, w *world, r session.Record, q asked)
	}{
		{"the transcript says so", func(t *testing.T, w *world, _ session.Record, q asked) { w.result(t, q, "", "ok", false) }},
		{"its hook is gone", func(t *testing.T, w *world, _ session.Record, q asked) {
			w.hangsUp(q)
			w.Left(t.Context(), q.Request)
			w.work(t)
		}},
		{"the terminal does not ask any more", func(t *testing.T, w *world, r session.Record, _ asked) {
			w.later(time.Minute)
			require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
			w.work(t)
		}},
	} {
		runsAs(t, tt.name, func(t *testing.T, w *world) {
			unblock := w.blocks(t)
			r, q := w.asking(t)
			tt.ends(t, w, r, q)
			unblock()
			assert.Empty(t, w.sender.sent)
		})
	}
	runsAs(t, "a dialog that is gone", func(t *testing.T, w *world) {
		unblock := w.blocks(t)
		r := w.currentSession(t, "api", session.Running)
		require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
		w.work(t)
		require.NoError(t, w.SessionNews(t.Context(), lifecycle.Note{Kind: lifecycle.NoteDialogGone, Session: r}))
		unblock()
		assert.Empty(t, w.sender.sent)
		assert.Empty(t, w.dialogFiles(t))
	})
}

// A chat that takes nothing is not tried again and again.
func TestAQuestionIsNotTriedWhileItsChatIsBlocked(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		w.blocks(t)
		w.asking(t)
		w.sender.send = func(context.Context, outbox.Message) error { t.Error("tried"); return nil }
		w.later(round)
	})
}
