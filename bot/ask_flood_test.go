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
)

// The limits of one session: unsettled requests, messages at once, and one more after a while. A
// session that exceeds them counts as flooding for some time.
const (
	openAtMost = 32
	atOnce     = 60
	oneMore    = 10 * time.Second
	flooding   = 10 * time.Minute
)

// TestP7_KilledRequestsBlockNoOther: a program below an agent may start ccbot-hook and kill it
// repeatedly. Claude Code's own requests still come to the chat, and not from the terminal's
// screen.
func TestP7_KilledRequestsBlockNoOther(t *testing.T) {
	t.Parallel()
	for _, seen := range []bool{true, false} {
		chattest.Runs(t, func(t *testing.T, w *chattest.World) {
			r := w.NewCurrentSession(t, "api", session.Running)
			taken := make(chan struct{})
			w.Telegram.OnSend = func(context.Context, outbox.Message) error {
				if !seen {
					<-taken // so that all the others are killed before they are sent
				}
				return nil
			}
			for range 75 {
				w.Kills(t, r, seen)
			}
			close(taken)
			w.Work(t)
			assert.LessOrEqual(t, len(w.Asks.Unsettled()), openAtMost)
			assert.LessOrEqual(t, len(w.Telegram.Sent), atOnce)
			if seen {
				assert.Equal(t, []string{w.Named(i18n.AskFlood, "api")}, w.Telegram.Texts(), "told once")
			}
			sent := len(w.Telegram.Sent)
			q := w.AsksFor(t, r, "Bash", chattest.Bash)
			w.Later(chattest.Round)
			require.Len(t, w.Telegram.Sent, sent+1)
			assert.Equal(t, ask.StageOpen, w.RequestState(t, q).Stage)
			assert.Contains(t, w.Relay.Waiting(t.Context(), r.ID), q.Request, "its hook waits on")
			assert.NotEmpty(t, chattest.Choices(w.Dialog(t, r, chattest.Trust)))
		})
	}
}

// TestP7_FloodDoesNotWeakenQuestions: if too many hooks wait and one is refused, the terminal's own
// dialog has no button that approves.
func TestP7_FloodDoesNotWeakenQuestions(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		first := w.AsksFor(t, r, "Bash", chattest.Bash)
		for range openAtMost - 1 {
			w.AsksFor(t, r, "Bash", chattest.Bash)
		}
		for range 3 {
			require.ErrorContains(t, w.OnRequest(t.Context(), w.Request(t, r, "Bash", chattest.Bash).Request), "asks too often")
		}
		w.Work(t)
		assert.Len(t, w.Telegram.Sent, openAtMost)
		assert.Equal(t, []string{w.Named(i18n.AskFlood, "api")}, w.Telegram.Texts(), "told once")
		other := w.Session(t, "web", session.Running)
		w.AsksFor(t, other, "Bash", chattest.Bash)

		shown := func(r session.Record) (message int) {
			require.NoError(t, w.SessionNews(t.Context(), r, chattest.OpenDialog(chattest.Trust)))
			return w.Telegram.LastID()
		}
		message := shown(r)
		assert.Empty(t, chattest.Choices(w.Telegram.Now(message)))
		assert.Contains(t, w.Telegram.Now(message).Text.Text, w.Named(i18n.AskFlood, "api"))
		assert.NotEmpty(t, chattest.Choices(w.Telegram.Now(shown(other))), "another session is asked as ever")
		w.Later(flooding)
		shown(r)
		assert.Empty(t, chattest.Choices(w.Telegram.Now(message)), "all of them wait still")
		w.Result(t, first, "", "ok", false)
		shown(r)
		assert.NotEmpty(t, chattest.Choices(w.Telegram.Now(message)))
	})
}

// TestP7_NewerRequestWaitsItsTurn: requests started and killed whenever a message may be sent do
// not delay an older one.
func TestP7_NewerRequestWaitsItsTurn(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		w.Later(7 * time.Second) // so that at no round a message may just be sent
		for range 2 * atOnce {
			w.Kills(t, r, true)
		}
		q := w.AsksFor(t, r, "Bash", chattest.Bash)
		require.Zero(t, w.Message(t, q))
		for range 3 {
			w.Later(oneMore)
			w.Kills(t, r, true)
		}
		assert.NotZero(t, w.Message(t, q))
	})
}

// TestManyPermittedRequestsAreShown: a person who answers quickly meets no bound.
func TestManyPermittedRequestsAreShown(t *testing.T) {
	t.Parallel()
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		r := w.NewCurrentSession(t, "api", session.Running)
		for range atOnce {
			for range chattest.Round / oneMore {
				w.Writes(t, w.AsksFor(t, r, "Bash", chattest.Bash), "", "ok", false)
			}
			w.Later(chattest.Round)
		}
		assert.Len(t, w.Telegram.Sent, 3*atOnce)
		assert.Empty(t, w.Telegram.Texts())
	})
}
