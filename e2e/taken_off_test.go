package e2e

import (
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port"
	"ccbot/schedule"
	"ccbot/try/botapi"
)

// TestP9_RemovedPersonGetsAndSendsNothing: the session of a person who is taken off the list goes on
// at the desk. Its answers wait, what the person has planned is not typed, also after a restart, and
// the one who is left is asked. Back on the list, the person gets the answers.
func TestP9_RemovedPersonGetsAndSendsNothing(t *testing.T) {
	inShortRun(t, "a reload of the lists reaches the outbox and the schedules")
	t.Parallel()
	w := newWorld(t)
	w.without("ALLOWED_USERS")
	eve := w.api.Person(77, "Eve")
	eve.Start()
	both, one := fmt.Sprintf("ALLOWED_USERS=%d,77", w.person.ID()), fmt.Sprintf("ALLOWED_USERS=%d", w.person.ID())
	w.settings(both)
	b := w.detached()
	w.until("it is ready", func() bool { return strings.Contains(b.log.String(), "msg=ready") })
	gets := func(text string) bool {
		for _, m := range w.api.Messages(77) {
			if m.FromBot && strings.Contains(m.Text, text) {
				return true
			}
		}
		return false
	}
	reloads := func(list string) {
		t.Helper()
		n := strings.Count(b.log.String(), "msg=settings_reloaded")
		w.settings(list)
		require.NoError(t, b.cmd.Process.Signal(syscall.SIGHUP))
		w.until("the list is read", func() bool { return strings.Count(b.log.String(), "msg=settings_reloaded") > n })
	}
	w.hear(w.say("/list"), noSessions) // the chat of the other is known
	eve.Send(77, "/new priv "+w.dir)
	w.until("her session is ready", func() bool { return gets("priv is ready") })
	eve.Send(77, "say before")
	w.until("she gets the answer", func() bool { return gets("before") })

	reloads(one)
	code, _, errs := w.newTerminal().call("ccbot send-prompt priv 'say secret' --wait").end()
	require.Zero(t, code, errs)
	assert.False(t, gets("secret"))
	reloads(both)
	w.until("she gets what waited", func() bool { return gets("secret") })

	w.stop()
	w.schedule("priv", "say planned", "@every 1h", func(s *schedule.Schedule) { s.Planner = port.Planner{By: 77} })
	w.settings(one)
	b = w.detached()
	asked := w.find("the other is asked", func(m botapi.Message) bool { return strings.Contains(m.Text, "The schedule of priv is paused") })
	assert.False(t, slices.Contains(w.received(), "say planned"))
	w.tap(asked, "Run it as mine")
	w.until("it is the other's", func() bool { return w.schedules()[0].Planner == port.Planner{By: w.person.ID()} })
	assert.Equal(t, w.chat(), w.record("priv").Conversation.ChatID, "who sees the answers from now on")
	assert.False(t, gets("planned"))
	w.stop()
}
