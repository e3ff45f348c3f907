package bot

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/i18n"
	"ccbot/internal/session"
)

func TestAFloodOfRequestsIsLeftToTheTerminal(t *testing.T) {
	t.Run("that nobody answers", func(t *testing.T) {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		for range maxUnsettled {
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
	})
	t.Run("one after the other", func(t *testing.T) {
		w := newWorld(t)
		r := w.currentSession(t, "api", session.Running)
		for range maxFresh {
			w.result(t, w.asksFor(t, r, "Bash", bash), "", "ok", false)
		}
		q := w.request(t, r, "Bash", bash)
		require.ErrorIs(t, w.Asked(t.Context(), q.Request), errFlood)
		w.later(freshSpan)
		require.NoError(t, w.Asked(t.Context(), q.Request), "after a while it is shown again")
		assert.Len(t, w.sender.texts(), 1)
	})
}
