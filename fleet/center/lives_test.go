package center_test

import (
	"context"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/beat"
	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/member"
	"ccbot/fleet/rpc"
	"ccbot/fleet/wire"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
)

// copyOf copies a folder as it is now.
func copyOf(t *testing.T, folder string) string {
	t.Helper()
	to := t.TempDir()
	require.NoError(t, os.CopyFS(to, os.DirFS(folder)))
	return to
}

// setBack puts a copy of a folder in its place, as a snapshot of the machine does.
func setBack(t *testing.T, folder, snapshot string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(folder))
	require.NoError(t, os.CopyFS(folder, os.DirFS(snapshot)))
}

func (h *host) say(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, h.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: name}, news.Renamed{}))
	}
}

// TestP5_NewsOfAMachineThatWasSetBackArrive: the chat knows the numbers of its next news already.
func TestP5_NewsOfAMachineThatWasSetBackArrive(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	onB := w.run("B", b)
	onB.say(t, "one", "two")
	waittest.Until(t, func() bool { return len(w.chat.all()) == 2 })
	onB.stop()
	snapshot := copyOf(t, b)
	onB = w.run("B", b)
	onB.say(t, "three", "four", "five", "six")
	waittest.Until(t, func() bool { return len(w.chat.all()) == 6 })
	onB.stop()
	setBack(t, b, snapshot)
	onB = w.run("B", b)
	onB.say(t, "seven", "eight")
	waittest.Until(t, func() bool { return len(w.chat.all()) == 8 })
	assert.Equal(t, []string{"one", "two", "three", "four", "five", "six", "seven", "eight"}, w.chat.all())
}

// TestP4_MachinesHearAChatThatWasSetBack: a snapshot, an update, and the snapshot again.
func TestP4_MachinesHearAChatThatWasSetBack(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	onB := w.run("B", b)
	w.shows("B")
	w.stop()
	w.start() // the hub may repeat the hello of B, which begins another epoch
	w.shows("B")
	w.stop()
	snapshot := copyOf(t, w.folder)
	w.start()
	for range 200 {
		w.shows("B")
	}
	onB.say(t, "one")
	waittest.Until(t, func() bool { return len(w.chat.all()) == 1 })
	w.stop()
	setBack(t, w.folder, snapshot)
	w.start()
	w.shows("B")
	onB.say(t, "two")
	waittest.Until(t, func() bool { return slices.Contains(w.chat.all(), "two") })
	assert.Equal(t, []string{"one", "two"}, slices.Compact(w.chat.all()), "news whose receipt the stop cut off comes once more")
	assert.Empty(t, w.center.List()[0].Lives.Words())
}

// TestP4_SecondChatDisturbsNothing: the chat's folder is copied, and both run.
func TestP4_SecondChatDisturbsNothing(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	onB := w.run("B", b)
	w.shows("B")
	other := &chat{}
	second, err := center.Open(center.Settings{Folder: copyOf(t, w.folder), Name: "attic", Now: time.Now, Log: slog.New(slog.DiscardHandler),
		News: func(join.Host) wire.Chat { return other }})
	require.NoError(t, err)
	stop := background(t, second.Run)
	waittest.Until(t, second.IsConnected)
	said := 0
	waittest.Until(t, func() bool { // the first works all the time
		w.shows("B")
		onB.say(t, "x")
		said++
		waittest.Until(t, func() bool { return len(w.chat.all()) == said })
		return second.List()[0].Lives.Elsewhere.ID != "" && second.List()[0].Presence == beat.Away
	})
	assert.Empty(t, other.all())
	_, err = second.Machines()["B"].Records.List()
	require.Error(t, err)
	stop()
	w.shows("B")
}

// TestP6_CopyOfAMachineMakesNoCall: the folder of a machine is copied, and both run. A call is made once.
func TestP6_CopyOfAMachineMakesNoCall(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	w.join("B", b)
	onB := w.run("B", b)
	w.shows("B")
	m, err := member.Open(copyOf(t, b), slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	var mu sync.Mutex
	made := 0
	server := wire.Server{Name: "B", Machine: &machine.Machine{Records: records{}}}
	stop := background(t, func(ctx context.Context) error {
		return m.Run(ctx, func(ctx context.Context, e wire.Envelope) wire.Envelope {
			mu.Lock()
			made++
			mu.Unlock()
			return server.Answer(ctx, e)
		}, func() rpc.Beat { return rpc.Beat{} })
	})
	require.NoError(t, m.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: "of the copy"}, news.Renamed{}))
	waittest.Until(t, func() bool {
		w.shows("B")
		return len(w.center.List()[0].Lives.Refused) == 1
	})
	for range 100 {
		w.shows("B")
	}
	mu.Lock()
	assert.Zero(t, made)
	mu.Unlock()
	onB.say(t, "of B")
	waittest.Until(t, func() bool { return len(w.chat.all()) == 1 })
	assert.Equal(t, []string{"of B"}, w.chat.all())
	onB.stop()
	w.run("B", b)
	w.shows("B")
	stop()
	require.ErrorIs(t, w.center.Follow("none", "x"), center.ErrNoHost)
}
