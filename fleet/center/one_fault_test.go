package center_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/center"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/member"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
	"ccbot/port/refusal"
)

// TestP6_FaultOfOneMachineIsItsOwn: a damaged file of B keeps no other machine away, and B stays in
// the list, so that its sessions are unknown and not forgotten.
func TestP6_FaultOfOneMachineIsItsOwn(t *testing.T) {
	for _, tt := range []struct{ name, file string }{
		{"its record", "hosts/%s"},
		{"its seals", "links/%s/epoch"},
		{"its courier", "links/%s/courier/in/state"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			b, c := t.TempDir(), t.TempDir()
			id := w.join("B", b).ID
			w.run("B", b)
			w.join("C", c)
			onC := w.run("C", c)
			w.shows("B")
			w.shows("C")
			w.stop()
			require.NoError(t, os.WriteFile(filepath.Join(w.folder, fmt.Sprintf(tt.file, id)), []byte("{"), 0o600))
			w.start()
			w.shows("C")
			require.NoError(t, onC.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: "one"}, news.Renamed{}))
			waittest.Until(t, func() bool { return len(w.chat.all()) == 1 })
			damaged := w.state(id)
			require.Error(t, damaged.Fault)
			_, err := w.sessions(damaged.Name)
			require.ErrorIs(t, err, refusal.ErrUnreachable)
			w.join("D", t.TempDir()) // as ever
		})
	}
}

// TestP9_RemovalIsNotLostWithUnreadRecord: the hub keeps the revocations that it has, and a removal
// that it does not get is an error.
func TestP9_RemovalIsNotLostWithUnreadRecord(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	keys, err := member.Keys(b)
	require.NoError(t, err)
	id := w.join("B", b).ID
	onB, err := member.Open(b, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	w.join("C", t.TempDir())
	_, err = w.center.Remove(t.Context(), "B")
	require.NoError(t, err)
	w.stop()
	require.NoError(t, os.WriteFile(filepath.Join(w.folder, "hosts", id), nil, 0o600))
	w.start()
	require.Error(t, w.state(id).Fault)
	_, err = w.center.Remove(t.Context(), "C")
	require.ErrorContains(t, err, id)
	a := onB.Admission
	hubtest.Refused(t, func() (*link.Host, error) { return link.OpenHost(a.Hub, a.Login(keys), a.Names, a.ID) })
}

// TestMachineWithTheChatsNameIsShownUnderAnother: the chat's machine has got the name of B.
func TestMachineWithTheChatsNameIsShownUnderAnother(t *testing.T) {
	w := newWorld(t)
	b := t.TempDir()
	id := w.join("B", b).ID
	w.run("B", b)
	w.shows("B")
	w.stop()
	w.name = "b"
	w.start()
	waittest.Until(t, func() bool { // its first beat comes before it answers
		got, err := w.sessions("B-2")
		return err == nil && assert.ObjectsAreEqual([]string{"api on B"}, got)
	})
	assert.Equal(t, "B", w.state(id).Own)
	_, err := w.center.Remove(t.Context(), "B-2")
	require.NoError(t, err)
}

func (w *world) state(id string) center.State {
	w.t.Helper()
	for _, s := range w.center.List() {
		if s.ID == id {
			return s
		}
	}
	require.Fail(w.t, "no such machine")
	return center.State{}
}
