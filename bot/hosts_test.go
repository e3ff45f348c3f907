package bot_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
)

// TestP6_SilentMachineIsReportedOnce: one message reports that a machine does not answer, with its
// sessions, also across a restart of the bot; one reports that it answers again. No session is
// taken for ended.
func TestP6_SilentMachineIsReportedOnce(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other, _, theirs, link := barn(t, w)
		w.MustHear(t, "/list")
		w.Telegram.Forget()
		sent := func(text string) (n int) {
			for _, m := range slices.Concat(w.Telegram.Sent, w.Telegram.Posted) {
				n += strings.Count(m.Text.Text, text)
			}
			return n
		}
		heard := w.Now()
		link.Set(wire.Faults{Unreachable: true})
		w.Later(10 * time.Second)
		w.Fleet.Note("bbbb", true, heard)
		w.Work(t)
		w.Fleet.Note("bbbb", true, heard)
		w.Work(t)
		assert.Equal(t, 1, sent("barn has not answered "+w.In(chattest.AtAlice).Since(heard)))
		assert.Equal(t, 1, sent("1 session ran there: barn:api."))
		assert.Empty(t, other.Lifecycle.Done())

		w.Restart(t)
		w.Fleet.Note("bbbb", true, heard)
		w.Work(t)
		assert.Equal(t, 1, sent("barn has not answered"), "after a restart")

		w.Later(4*time.Minute - 10*time.Second)
		link.Set(wire.Faults{})
		w.Fleet.Note("bbbb", false, w.Now())
		w.Work(t)
		w.Fleet.Note("bbbb", false, w.Now())
		w.Work(t)
		assert.Equal(t, 1, sent("barn answers again after 4 min"))
		s, known := w.Machine.Records.Get(theirs.ID)
		require.True(t, known)
		assert.True(t, s.State.Live())
	})
}
