package bot_test

import (
	"os"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/bot/outbox"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/port"
	"ccbot/port/news"
)

// TestP8_StartOfAnotherMachineOutlivesFaults: the sessions that a start on another machine
// closed are reported once, although the machine was not reached, or the disk was full, when the
// news came.
func TestP8_StartOfAnotherMachineOutlivesFaults(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other, ours, _, link := barn(t, w)
		other.Lost(t, "gone", session.ClosedTmux)
		w.Lost(t, "here", session.ClosedTmux)
		start := news.Start{Unreadable: 1, Dir: "/home/u/.ccbot", Repaired: []news.Repair{{Session: ours.ID, Failed: true}}}
		starts := func() error { return w.Fleet.Chat("bbbb", w.Bot).SessionNews(t.Context(), port.Session{}, start) }
		link.Set(wire.Faults{Unreachable: true})
		require.Error(t, starts())
		link.Set(wire.Faults{})
		w.Telegram.OnPost = func(outbox.Message) error { return &os.PathError{Op: "write", Path: "p", Err: syscall.ENOSPC} }
		require.Error(t, starts())
		assert.Equal(t, []string{"gone"}, other.Unreported())
		w.Telegram.OnPost = nil
		require.NoError(t, starts())
		w.Work(t)
		require.Len(t, w.Telegram.Sent, 1)
		shown := w.Telegram.Last(t).Text.Text
		assert.Contains(t, shown, "together with tmux: barn:gone.")
		assert.Contains(t, shown, "barn:")
		assert.NotContains(t, shown, "here")
		assert.NotContains(t, shown, "still has a problem", "it is no session of this machine")
		assert.Empty(t, other.Unreported())
		assert.Equal(t, []string{"here"}, w.Unreported())
	})
}

// TestSessionOnAnOlderMachine: a machine that cannot list its agents starts sessions of its own
// agent, and has no buttons of agents. What else it lacks is refused by a sentence that names it.
func TestSessionOnAnOlderMachine(t *testing.T) {
	w := inFolders(t, "here")
	install(t, w.World, "Codex")
	link := besideBarn(t, w, "there")
	link.Set(wire.Faults{Unknown: []string{"Agents.Installed"}})
	for machine, folder := range map[string]string{"attic": "here", "barn": "there"} {
		w.open()
		w.press(machine)
		w.press(folder, w.say(i18n.ButtonUseThis))
		assert.Equal(t, machine == "attic", slices.Contains(w.buttons(), "Codex"), machine)
	}
	w.MustHear(t, "/new api barn:~/there")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, "barn:api")

	link.Set(wire.Faults{Unknown: []string{"Places.Resolve"}})
	w.MustHear(t, "/new web barn:~/there")
	assert.Contains(t, w.Telegram.Last(t).Text.Text, w.say(i18n.MachineOld, i18n.Args{"Machine": "barn"}))
}
