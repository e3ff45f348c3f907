package bot

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/bot/outbox"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// What one session may ask: so many requests that are not settled, so many messages at once, and
// one more after a while. Who asks for more counts as flooding for some time.
const (
	openAtMost = 32
	atOnce     = 60
	oneMore    = 10 * time.Second
	flooding   = 10 * time.Minute
)

// kills lets a program below an agent ask with ccbot-hook and kill it.
func (w *world) kills(t *testing.T, r session.Record, seen bool) {
	t.Helper()
	q := w.request(t, r, "Bash", bash)
	require.NoError(t, w.Asked(t.Context(), q.Request))
	if seen {
		w.work(t)
	}
	w.relay.end(q.ID)
	w.Left(t.Context(), q.Request)
	w.work(t)
}

// TestP7_KilledRequestsDoNotCloseTheWay: a program below an agent may ask with ccbot-hook and kill
// it, again and again. What Claude Code itself asks comes to the chat all the same, and not by way
// of the terminal's screen.
func TestP7_KilledRequestsDoNotCloseTheWay(t *testing.T) {
	for _, seen := range []bool{true, false} {
		runs(t, func(t *testing.T, w *world) {
			r := w.currentSession(t, "api", session.Running)
			taken := make(chan struct{})
			w.sender.send = func(context.Context, outbox.Message) error {
				if !seen {
					<-taken // so that all the others are killed before they are sent
				}
				return nil
			}
			for range 75 {
				w.kills(t, r, seen)
			}
			close(taken)
			w.work(t)
			assert.LessOrEqual(t, len(w.Asks.Unsettled()), openAtMost)
			assert.LessOrEqual(t, len(w.sender.sent), atOnce)
			if seen {
				assert.Equal(t, []string{w.named(i18n.AskFlood, "api")}, w.sender.texts(), "told once")
			}
			sent := len(w.sender.sent)
			q := w.asksFor(t, r, "Bash", bash)
			w.later(round)
			require.Len(t, w.sender.sent, sent+1)
			assert.Equal(t, ask.StateOpen, w.card(t, q).State)
			assert.Contains(t, w.relay.Waiting(r.ID), q.Request, "its hook waits on")
			assert.NotEmpty(t, choices(w.dialog(t, r, trust)))
		})
	}
}

// TestP7_WhoFloodsIsNotAskedInAWeakerWay: where so many hooks wait that one is refused, the
// terminal's own dialog has no button that approves.
func TestP7_WhoFloodsIsNotAskedInAWeakerWay(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		first := w.asksFor(t, r, "Bash", bash)
		for range openAtMost - 1 {
			w.asksFor(t, r, "Bash", bash)
		}
		for range 3 {
			require.ErrorContains(t, w.Asked(t.Context(), w.request(t, r, "Bash", bash).Request), "asks too often")
		}
		w.work(t)
		assert.Len(t, w.sender.sent, openAtMost)
		assert.Equal(t, []string{w.named(i18n.AskFlood, "api")}, w.sender.texts(), "told once")
		other := w.session(t, "web", session.Running)
		w.asksFor(t, other, "Bash", bash)

		shown := func(r session.Record) (message int) {
			require.NoError(t, w.SessionNews(t.Context(), dialogNote(r, trust)))
			return w.sender.lastID()
		}
		message := shown(r)
		assert.Empty(t, choices(w.sender.now(message)))
		assert.Contains(t, w.sender.now(message).Text.Text, w.named(i18n.AskFlood, "api"))
		assert.NotEmpty(t, choices(w.sender.now(shown(other))), "another session is asked as ever")
		w.later(flooding)
		shown(r)
		assert.Empty(t, choices(w.sender.now(message)), "all of them wait still")
		w.result(t, first, "", "ok", false)
		shown(r)
		assert.NotEmpty(t, choices(w.sender.now(message)))
	})
}

// TestP7_ANewerRequestDoesNotTakeTheTurn: one that is asked and killed again and again, each time
// when a message may be sent, does not keep an older one from the chat.
func TestP7_ANewerRequestDoesNotTakeTheTurn(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		w.later(7 * time.Second) // so that at no round a message may just be sent
		for range 2 * atOnce {
			w.kills(t, r, false)
		}
		q := w.asksFor(t, r, "Bash", bash)
		require.Zero(t, w.message(t, q))
		for range 3 {
			w.later(oneMore)
			w.kills(t, r, false)
		}
		assert.NotZero(t, w.message(t, q))
	})
}

// TestManyRequestsThatArePermittedAreAllShown: a person who answers quickly meets no bound.
func TestManyRequestsThatArePermittedAreAllShown(t *testing.T) {
	runs(t, func(t *testing.T, w *world) {
		r := w.currentSession(t, "api", session.Running)
		for range atOnce {
			for range round / oneMore {
				w.writes(t, w.asksFor(t, r, "Bash", bash), "", "ok", false)
			}
			w.later(round)
		}
		assert.Len(t, w.sender.sent, 3*atOnce)
		assert.Empty(t, w.sender.texts())
	})
}
