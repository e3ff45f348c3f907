package bot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/ask"
	"ccbot/i18n"
	"ccbot/internal/session"
)

// TestP7_KilledRequestsDoNotCloseTheWay: a program below an agent may ask with ccbot-hook and kill it, again and
// again. What Claude Code itself asks comes to the chat all the same, and not by way of the terminal's screen.
func TestP7_KilledRequestsDoNotCloseTheWay(t *testing.T) {
	for _, seen := range []bool{true, false} {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		for range 75 {
			q := w.request(t, r, "Bash", bash)
			require.NoError(t, w.Asked(t.Context(), q.Request))
			if seen {
				w.work(t)
			}
			w.relay.end(q.ID)
			w.Left(t.Context(), q.Request)
			w.asks.catchUp(t.Context())
		}
		w.work(t)
		assert.LessOrEqual(t, len(w.asks.cardsOf(r.ID)), maxUnsettled)
		assert.LessOrEqual(t, len(w.sender.sent), askBurst)
		if seen {
			assert.Equal(t, []string{w.named(i18n.AskFlood, "api")}, w.sender.texts(), "told once")
		}
		sent := len(w.sender.sent)
		q := w.asksFor(t, r, "Bash", bash)
		w.later(askRefill)
		w.asks.lookAtAll(t.Context())
		w.work(t)
		require.Len(t, w.sender.sent, sent+1)
		assert.Equal(t, ask.StateOpen, w.card(t, q).State)
		assert.True(t, w.asks.waits(w.card(t, q)))
		assert.False(t, w.asks.floods(r.ID))
	}
}

// TestP7_WhoFloodsIsNotAskedInAWeakerWay: where so many hooks wait that one is refused, the terminal's own dialog
// has no button that approves.
func TestP7_WhoFloodsIsNotAskedInAWeakerWay(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	first := w.asksFor(t, r, "Bash", bash)
	for range maxUnsettled - 1 {
		w.asksFor(t, r, "Bash", bash)
	}
	for range 3 {
		require.ErrorIs(t, w.Asked(t.Context(), w.request(t, r, "Bash", bash).Request), errFlood)
	}
	w.work(t)
	assert.Len(t, w.sender.sent, maxUnsettled)
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
	w.later(floodSpan)
	shown(r)
	assert.Empty(t, choices(w.sender.now(message)), "all of them wait still")
	w.result(t, first, "", "ok", false)
	shown(r)
	assert.NotEmpty(t, choices(w.sender.now(message)))
}

// TestP7_ANewerRequestDoesNotTakeTheTurn: one that is asked and killed again and again, each time when a message may be
// sent, does not keep an older one from the chat.
func TestP7_ANewerRequestDoesNotTakeTheTurn(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	killed := func() {
		q := w.request(t, r, "Bash", bash)
		require.NoError(t, w.Asked(t.Context(), q.Request))
		w.relay.end(q.ID)
		w.Left(t.Context(), q.Request)
		w.asks.catchUp(t.Context())
	}
	for range 2 * askBurst {
		killed()
	}
	w.work(t)
	q := w.asksFor(t, r, "Bash", bash)
	require.Zero(t, w.card(t, q).Message)
	w.later(askRefill)
	killed()
	w.asks.lookAtAll(t.Context())
	w.work(t)
	assert.NotZero(t, w.card(t, q).Message)
}

// TestManyRequestsThatArePermittedAreAllShown: a person who answers quickly meets no bound.
func TestManyRequestsThatArePermittedAreAllShown(t *testing.T) {
	w := newWorld(t)
	r := w.currentSession(t, "api", session.Running)
	for range 3 * askBurst {
		w.result(t, w.asksFor(t, r, "Bash", bash), "", "ok", false)
		w.later(askRefill)
	}
	w.work(t)
	assert.Len(t, w.sender.sent, 3*askBurst)
	assert.Empty(t, w.sender.texts())
}
