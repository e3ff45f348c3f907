package hub_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/hub"
	"ccbot/fleet/hub/hubtest"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/internal/pause"
)

// carry carries one command and one event.
func carry(t *testing.T, chat *link.Chat, host *link.Host, id string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	commands, events := make(chan string, 10), make(chan string, 10)
	go func() { _ = host.Commands(ctx, func(data []byte) { commands <- string(data) }) }()
	go func() { _ = chat.Events(ctx, func(from string, data []byte) { events <- from + " " + string(data) }) }()
	require.NoError(t, chat.SendCommand(ctx, "h1", id, []byte("start "+id)))
	assert.Equal(t, "start "+id, <-commands)
	require.NoError(t, host.SendEvent(ctx, id, []byte("note "+id)))
	assert.Equal(t, "h1 note "+id, <-events)
}

// TestP6_EventsOfOneHostDelayNoOther: the chat still works on an event of a host with many events.
func TestP6_EventsOfOneHostDelayNoOther(t *testing.T) {
	w := hubtest.Start(t)
	chat, busy := w.Chat("h1"), w.Host("h1")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for i := range 100 {
		require.NoError(t, busy.SendEvent(ctx, fmt.Sprint(i), []byte("flood")))
	}
	other := make(chan string)
	go func() {
		_ = chat.Events(ctx, func(from string, data []byte) {
			if from == "h2" {
				other <- string(data)
				return
			}
			<-ctx.Done()
		})
	}()
	require.NoError(t, chat.SetFleet(ctx, w.Fleet(nil, "h1", "h2")))
	require.NoError(t, w.Host("h2").SendEvent(ctx, "1", []byte("note")))
	assert.Equal(t, "note", <-other)
}

func TestMessagesCrossTheHub(t *testing.T) {
	w := hubtest.Start(t)
	chat, host := w.Chat("h1"), w.Host("h1")
	carry(t, chat, host, "1")
}

// A hub that comes back with or without its disk serves the connections of before.
func TestHubMayLoseItsDisk(t *testing.T) {
	for name, wipe := range map[string]bool{"kept": false, "wiped": true} {
		t.Run(name, func(t *testing.T) {
			w := hubtest.Start(t)
			chat, host := w.Chat("h1"), w.Host("h1")
			carry(t, chat, host, "1")
			before := w.Hub()
			w.Stop()
			w.Restart(wipe)
			assert.Equal(t, before, w.Hub(), "the address and the pin")
			for chat.SendCommand(t.Context(), "h1", "2", []byte("again")) != nil { // until the hub is reached
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			got := make(chan string, 10)
			go func() { _ = host.Commands(ctx, func(data []byte) { got <- string(data) }) }()
			assert.Equal(t, "again", <-got)
		})
	}
}

// A store that a crash of the machine has damaged is removed: its messages are still at both ends.
func TestDamagedStoreIsRemoved(t *testing.T) {
	w := hubtest.Start(t)
	w.Stop()
	store := filepath.Join(w.Folder, "store")
	require.NoError(t, os.RemoveAll(store))
	require.NoError(t, os.WriteFile(store, []byte("damage"), 0o600))
	w.Restart(false)
	carry(t, w.Chat("h1"), w.Host("h1"), "1")
}

// TestP5_HubThatCouldNotWriteTakesMessagesAgain: the server keeps the first error of a write for as
// long as it runs, also when the disk has room again.
func TestP5_HubThatCouldNotWriteTakesMessagesAgain(t *testing.T) {
	w := hubtest.Start(t)
	chat, host := w.Chat("h1"), w.Host("h1")
	found, err := filepath.Glob(filepath.Join(w.Folder, "store", "jetstream", "*", "streams", "*", "msgs"))
	require.NoError(t, err)
	require.Len(t, found, 2)
	w.SetRoom(func() bool {
		for _, folder := range found {
			_ = os.Remove(folder) // fails if it is the folder
			_ = os.Rename(folder+".kept", folder)
		}
		return true
	})
	for _, folder := range found { // such as on a full disk
		require.NoError(t, os.Rename(folder, folder+".kept"))
		require.NoError(t, os.WriteFile(folder, nil, 0o600))
	}
	for i := 0; host.SendEvent(t.Context(), strconv.Itoa(i), make([]byte, 250<<10)) == nil; i++ { // until the next block
	}
	for host.SendEvent(t.Context(), "again", []byte("kept")) != nil || chat.SendCommand(t.Context(), "h1", "again", []byte("kept")) != nil {
	}
}

// TestP5_DamagedConsumersAreMadeAgain: the server refuses to make a consumer whose file is damaged.
func TestP5_DamagedConsumersAreMadeAgain(t *testing.T) {
	w := hubtest.Start(t)
	chat, host := w.Chat("h1"), w.Host("h1")
	carry(t, chat, host, "1")
	w.Stop()
	found, err := filepath.Glob(filepath.Join(w.Folder, "store", "jetstream", "*", "streams", "*", "obs", "*", "o.dat"))
	require.NoError(t, err)
	require.Len(t, found, 2)
	for _, file := range found {
		require.NoError(t, os.WriteFile(file, []byte("damage"), 0o600))
	}
	w.Restart(false)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { _ = host.Commands(ctx, func([]byte) { cancel() }) })
	for i := 0; ctx.Err() == nil; i++ { // as the courier sends it again: what the stream had is lost
		_ = chat.SendCommand(t.Context(), "h1", fmt.Sprint("command ", i), nil)
		_ = pause.For(ctx, 10*time.Millisecond)
	}
	running.Wait()
	ctx, cancel = context.WithCancel(t.Context())
	running.Go(func() { _ = chat.Events(ctx, func(string, []byte) { cancel() }) })
	for i := 0; ctx.Err() == nil; i++ {
		_ = host.SendEvent(t.Context(), fmt.Sprint("event ", i), nil)
		_ = pause.For(ctx, 10*time.Millisecond)
	}
	running.Wait()
}

// TestP5_DiskThatTakesNoConsumerDeletesNoStream: a folder that cannot be made stands for a full disk and a missing right,
// which the server's answer does not tell from damage.
func TestP5_DiskThatTakesNoConsumerDeletesNoStream(t *testing.T) {
	w := hubtest.Start(t)
	chat := w.Chat("h1")
	found, err := filepath.Glob(filepath.Join(w.Folder, "store", "jetstream", "*", "streams", "*", "obs"))
	require.NoError(t, err)
	require.Len(t, found, 2)
	for _, folder := range found {
		require.NoError(t, os.RemoveAll(folder))
		require.NoError(t, os.WriteFile(folder, []byte("kept"), 0o600))
	}
	require.ErrorContains(t, chat.SetFleet(t.Context(), w.Fleet(nil, "h1", "h2")), "creating store for consumer")
	for _, folder := range found {
		assert.FileExists(t, folder, "its stream was deleted")
	}
}

func TestHubSpeaksOnlyTLS13(t *testing.T) {
	w := hubtest.Start(t)
	at, err := url.Parse(w.Hub().Address)
	require.NoError(t, err)
	_, err = tls.Dial("tcp", at.Host, &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}) //nolint:gosec // the attempt
	require.Error(t, err)
	_, err = tls.Dial("tcp", at.Host, &tls.Config{})
	require.ErrorContains(t, err, "certificate", "no authority knows it")
	conn, err := tls.Dial("tcp", at.Host, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // no authority
	require.NoError(t, err)
	assert.Equal(t, uint16(tls.VersionTLS13), conn.ConnectionState().Version)
	require.NoError(t, conn.Close())
}

func TestClientRefusesAnotherKey(t *testing.T) {
	w := hubtest.Start(t)
	w.Chat("h1")
	user, _ := w.User("h1", farAway)
	at := w.Hub()
	at.Pin = make([]byte, len(at.Pin))
	_, err := link.OpenHost(at, link.Login{User: user}, w.Keys.Names(), "h1")
	require.ErrorIs(t, err, link.ErrPin)
}

// A user of another fleet, however complete its keys are, is none of this hub.
func TestHubRefusesOtherFleets(t *testing.T) {
	w := hubtest.Start(t)
	other, err := rights.NewKeys()
	require.NoError(t, err)
	account, err := other.AccountJWT(nil)
	require.NoError(t, err)
	hubtest.Refused(t, func() (*link.Chat, error) {
		return link.OpenChat(t.Context(), w.Hub(), other, link.Fleet{Account: account})
	})
}

func TestBadSettingsAreErrors(t *testing.T) {
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	trust, err := keys.Trust()
	require.NoError(t, err)
	badKey := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(badKey, "key.pem"), []byte("no key"), 0o600))
	for _, tt := range []struct {
		name string
		with hub.Settings
		want string
	}{
		{"no port", hub.Settings{Folder: t.TempDir(), Listen: "127.0.0.1", Trust: trust}, "missing port"},
		{"port of letters", hub.Settings{Folder: t.TempDir(), Listen: "127.0.0.1:x", Trust: trust}, "port is not a number"},
		{"no operator", hub.Settings{Folder: t.TempDir(), Listen: "127.0.0.1:0"}, "read the operator"},
		{"damaged key", hub.Settings{Folder: badKey, Listen: "127.0.0.1:0", Trust: trust}, "has no PEM block"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := hub.Open(tt.with)
			require.ErrorContains(t, err, tt.want)
		})
	}
}

var farAway = time.Now().Add(rights.HostTTL)
