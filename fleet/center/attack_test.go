package center_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/machine"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/internal/waittest"
	"ccbot/port"
	"ccbot/port/news"
)

// thief has the folder of a machine, and runs its own program instead of ccbot. testdata/attacks.md
// lists what such a program, and a hub, have tried.
type thief struct {
	t  *testing.T
	of join.Admission
	*link.Host
}

// membership returns what the folder of a machine has: its admission and its keys.
func membership(t *testing.T, folder string) (join.Admission, join.HostKeys) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(folder, "member"))
	require.NoError(t, err)
	var stored struct {
		join.Admission
		Keys json.RawMessage `json:"keys"`
	}
	require.NoError(t, json.Unmarshal(data, &stored))
	keys, err := join.ParseHostKeys(stored.Keys)
	require.NoError(t, err)
	return stored.Admission, keys
}

func (w *world) steal(folder string) *thief {
	w.t.Helper()
	a, keys := membership(w.t, folder)
	conn := hubtest.Connect(w.t, func() (*link.Host, error) { return link.OpenHost(a.Hub, a.Login(keys), a.Names, a.ID) })
	w.t.Cleanup(conn.Close)
	return &thief{t: w.t, of: a, Host: conn}
}

// TestP9_MachineCommandsNoHub: the hub sends answers without asking for a right, also to the
// subjects that delete the streams of all machines.
func TestP9_MachineCommandsNoHub(t *testing.T) {
	w := newWorld(t)
	b, c := t.TempDir(), t.TempDir()
	w.join("B", b)
	w.join("C", c)
	onC := w.run("C", c)
	w.shows("C")
	x := w.steal(b)
	names := x.of.Names
	next := "$JS.API.CONSUMER.MSG.NEXT." + names.Commands() + "." + x.of.ID
	for _, reply := range []string{"$JS.API.STREAM.DELETE." + names.Events(), "$JS.API.STREAM.DELETE." + names.Commands(), "$JS.API.STREAM.PURGE." + names.Commands(),
		"$JS.API.CONSUMER.DELETE." + names.Events() + ".chat", names.Event("c"), names.Request("c"), "x"} {
		for subject, body := range map[string]string{next: `{"batch":1,"no_wait":true}`, names.Event(x.of.ID): "x"} {
			for _, header := range []nats.Header{nil, {"x": []string{"y"}}} {
				x := w.steal(b)
				cut := x.Conn().StatusChanged(nats.RECONNECTING)
				require.NoError(t, x.Conn().PublishMsg(&nats.Msg{Subject: subject, Reply: reply, Header: header, Data: []byte(body)}))
				<-cut
				x.Close()
			}
		}
	}
	require.NoError(t, onC.News().SessionNews(t.Context(), port.Session{ID: uuid.New(), Name: "still"}, news.Renamed{}))
	waittest.Until(t, func() bool { return slices.Contains(w.chat.all(), "still") })
	streams, err := filepath.Glob(filepath.Join(w.settings.Folder, "store", "jetstream", "*", "streams", "*"))
	require.NoError(t, err)
	assert.Len(t, streams, 2)
}

// TestP8_StreamsAreMadeAgain: the hub loses a stream while it is connected.
func TestP8_StreamsAreMadeAgain(t *testing.T) {
	w := newWorld(t)
	c := t.TempDir()
	w.join("C", c)
	onC := w.run("C", c)
	w.shows("C")
	keys, err := os.ReadFile(filepath.Join(w.folder, "keys"))
	require.NoError(t, err)
	of, err := rights.ParseKeys(keys)
	require.NoError(t, err)
	user, err := of.Chat()
	require.NoError(t, err)
	conn := hubtest.Connect(t, func() (*nats.Conn, error) { return link.Dial(onC.Admission.Hub, link.Login{User: user}) })
	defer conn.Close()
	for i, stream := range []string{of.Names().Events(), of.Names().Commands()} {
		_, err = conn.Request("$JS.API.STREAM.DELETE."+stream, nil, time.Minute)
		require.NoError(t, err)
		require.NoError(t, onC.News().SessionNews(t.Context(), port.Session{ID: uuid.New()}, news.Renamed{}))
		waittest.Until(t, func() bool { return len(w.chat.all()) == i+1 })
	}
}

// TestP9_MachineTakesNoConnections: one machine does not use up the connections of all.
func TestP9_MachineTakesNoConnections(t *testing.T) {
	w := newWorld(t)
	b, c := t.TempDir(), t.TempDir()
	w.join("B", b)
	w.join("C", c)
	cut := w.steal(b).Conn().StatusChanged(nats.RECONNECTING)
	for range 4 {
		w.steal(b)
	}
	<-cut
	w.run("C", c)
	w.shows("C")
}

// removals calls a function before a machine is removed.
type removals func()

func (removals) Add(string, string, *machine.Machine) error { return nil }
func (removals) Note(string, bool, time.Time)               {}
func (r removals) Remove(string)                            { r() }

// TestP9_RemovalWaitsForNoHub: the chat ends its trust in a machine although the hub
// still serves it.
func TestP9_RemovalWaitsForNoHub(t *testing.T) {
	w := newWorld(t)
	b, served := t.TempDir(), false
	w.join("B", b)
	w.stop()
	w.machines = removals(func() {
		if !served {
			w.steal(b)
			assert.Empty(t, w.center.List())
		}
		served = true
	})
	w.start()
	_, err := w.center.Remove(t.Context(), "B")
	require.NoError(t, err)
	assert.True(t, served)
}
