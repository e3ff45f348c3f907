package bot_test

import (
	"io/fs"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/chat/chattest"
	"ccbot/fleet/wire"
	"ccbot/i18n"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
)

// barn is another machine of the chat with an equal session.
func barn(t *testing.T, w *chattest.World) (other *chattest.World, ours, theirs session.Record, link *wire.Loop) {
	t.Helper()
	other = chattest.NewWorld(t)
	m, link := wire.Loopback(t.Context(), other.Machine)
	require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
	ours, theirs = w.NewCurrentSession(t, "api", session.Running), other.Session(t, "api", session.Running)
	other.Records.Change(theirs.ID, func(r *session.Record) { r.Dir = ours.Dir })
	return other, ours, theirs, link
}

// TestP6_SilentMachineDelaysNoOther: the sessions of a machine that does not answer are
// listed, and neither ended nor in the way of others.
func TestP6_SilentMachineDelaysNoOther(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		_, ours, theirs, link := barn(t, w)
		away := w.Word(i18n.MachineAway, i18n.Args{"Machine": "barn"})
		w.MustHear(t, "/list")
		list := w.Telegram.Last(t).Text.Text
		assert.Equal(t, 2, strings.Count(list, "api · "), list)
		assert.Equal(t, 1, strings.Count(list, "barn:api · "), list)
		assert.NotContains(t, list, away)
		assert.Contains(t, list, "\nbarn\n• ")

		link.Set(wire.Faults{Unreachable: true})
		w.Later(time.Hour)
		w.Telegram.Forget()
		w.MustHear(t, "/list")
		list = w.Telegram.Last(t).Text.Text
		assert.Equal(t, 2, strings.Count(list, "api · "), list)
		assert.Contains(t, list, away)
		s, known := w.Machine.Records.Get(theirs.ID)
		assert.True(t, known)
		assert.Equal(t, port.StateUnknown, s.State)

		key := w.MustHear(t, "fix it")
		assert.Contains(t, w.Lifecycle.Done(), "queue "+key+" for "+ours.ID.String())
		w.MustHear(t, "/loops")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, away)
		w.MustHear(t, "/schedules")
		assert.Contains(t, w.Telegram.Last(t).Text.Text, away)

		link.Set(wire.Faults{})
		w.MustHear(t, "/list")
		list = w.Telegram.Last(t).Text.Text
		assert.NotContains(t, list, away)
		s, _ = w.Machine.Records.Get(theirs.ID)
		assert.Equal(t, port.StateRunning, s.State)
	})
}

// TestP2_EqualWindowsOfTwoMachines: an option is about the window of its machine, also if both have
// the same id and process.
func TestP2_EqualWindowsOfTwoMachines(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other, _, _, link := barn(t, w)
		for _, one := range []*chattest.World{w, other} {
			one.Windows.All = []evidence.Window{chattest.ShellWindow(t, "@21")}
		}
		w.MustHear(t, "/list")
		m := w.Telegram.Last(t)
		assert.Equal(t, 1, strings.Count(m.Text.Text, "barn:"), m.Text.Text)
		spots := chattest.Spots(m)
		require.Len(t, spots, 2)
		require.NoError(t, w.TapSpot(t, chattest.Alice, spots[1]))
		assert.Empty(t, other.Windows.All)
		assert.Len(t, w.Windows.All, 1)

		w.MustHear(t, "/list")
		spots = chattest.Spots(w.Telegram.Last(t))
		link.Set(wire.Faults{Unreachable: true})
		require.NoError(t, w.TapSpot(t, chattest.Alice, spots[0]))
		assert.Empty(t, w.Windows.All)
	})
}

// TestP6_TextForMachineThatNeverAnsweredWaits: a text for a session whose machine has not answered
// since the start holds up no other text, and arrives before later ones.
func TestP6_TextForMachineThatNeverAnsweredWaits(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other := chattest.NewWorld(t)
		theirs := other.Session(t, "api", session.Running)
		m, link := wire.Loopback(t.Context(), other.Machine)
		link.Set(wire.Faults{Unreachable: true})
		require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
		require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, theirs.ID))
		first := w.MustHear(t, "fix it")
		second := w.MustHear(t, "and test it")
		w.MustHear(t, "/list")
		assert.Empty(t, other.Lifecycle.Done())

		third := w.MustHear(t, "then commit") // the machine has no inbox for a text that it gets at once
		link.Set(wire.Faults{})
		w.Fleet.Note("bbbb", false, w.Now())
		w.Later(10 * time.Second)
		var want []string
		for _, key := range []string{first, second, third} {
			want = append(want, "keep "+key+" for "+theirs.ID.String())
		}
		assert.Equal(t, want, other.Lifecycle.Done())
	})
}

// TestP4_TextForSilentMachineCanBeTakenBack: the chat says what a text waits for. One that is taken
// back meanwhile is not delivered.
func TestP4_TextForSilentMachineCanBeTakenBack(t *testing.T) {
	for how, read := range map[string]bool{"its sessions are known": true, "it has never answered": false} {
		chattest.RunsAs(t, how, func(t *testing.T, w *chattest.World) {
			other := chattest.NewWorld(t)
			theirs := other.Session(t, "api", session.Running)
			m, link := wire.Loopback(t.Context(), other.Machine)
			link.Set(wire.Faults{Unreachable: !read})
			require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
			w.Later(time.Second)
			require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, theirs.ID))
			link.Set(wire.Faults{Unreachable: true})
			w.Fleet.Note("bbbb", true, time.Time{})
			w.Later(10 * time.Second) // it is reported
			w.MustHear(t, "fix it")
			w.Work(t)
			waits := w.Telegram.LastID()
			name := map[bool]string{true: "barn:api", false: theirs.ID.String()[:8]}[read]
			away := w.Word(i18n.MachineAway, i18n.Args{"Machine": "barn"})
			assert.Equal(t, w.Word(i18n.HeldAway, i18n.Args{"Away": away, "Name": name}), w.Shows(t, waits).Text.Text)
			w.Later(time.Minute)
			assert.Equal(t, waits, w.Telegram.LastID(), "it is said once")
			w.Press(t, chattest.Alice, waits, w.Word(i18n.ButtonTakeBack))
			assert.Equal(t, w.Word(i18n.TakenBackLater), w.Shows(t, waits).Text.Text)

			second := w.MustHear(t, "and test it")
			link.Set(wire.Faults{})
			w.Fleet.Note("bbbb", false, w.Now())
			w.Later(10 * time.Second)
			offered := slices.DeleteFunc(other.Lifecycle.Done(), func(done string) bool { return !strings.HasPrefix(done, "keep ") })
			assert.Equal(t, []string{"keep " + second + " for " + theirs.ID.String()}, offered)
		})
	}
}

// TestP4_TextForMachineWithFullDisk: the machine answers, so its connection is not what the text waits for.
func TestP4_TextForMachineWithFullDisk(t *testing.T) {
	chattest.Runs(t, func(t *testing.T, w *chattest.World) {
		other := chattest.NewWorld(t)
		theirs := other.Session(t, "api", session.Running)
		m, _ := wire.Loopback(t.Context(), other.Machine)
		require.NoError(t, w.Fleet.Add("bbbb", "barn", m))
		w.Later(time.Second)
		require.NoError(t, w.Book.MakeCurrent(t.Context(), chattest.AtAlice, 0, theirs.ID))
		var full atomic.Bool
		full.Store(true)
		other.Lifecycle.OnQueue = func(uuid.UUID, string) error {
			if full.Load() {
				return &fs.PathError{Op: "write", Path: "/b/prompts/1", Err: syscall.ENOSPC}
			}
			return nil
		}
		key := w.MustHear(t, "fix it")
		w.Work(t)
		waits := w.Telegram.LastID()
		assert.Equal(t, w.Word(i18n.HeldUnable, i18n.Args{"Name": "barn:api"}), w.Shows(t, waits).Text.Text)
		w.Later(time.Minute)
		assert.Equal(t, waits, w.Telegram.LastID(), "it is said once")
		full.Store(false)
		w.Later(10 * time.Second)
		assert.Contains(t, other.Lifecycle.Done(), "keep "+key+" for "+theirs.ID.String())
	})
}
