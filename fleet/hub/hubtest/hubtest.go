// Package hubtest starts a real hub on loopback for tests.
package hubtest

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nkeys"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/hub"
	"ccbot/fleet/join"
	"ccbot/fleet/link"
	"ccbot/fleet/rights"
	"ccbot/internal/addresstest"
	"ccbot/internal/pause"
)

// World is a hub and the keys of the fleet that it trusts.
type World struct {
	Keys   *rights.Keys
	Folder string

	t        *testing.T
	hub      *hub.Hub
	settings hub.Settings
	hasRoom  atomic.Pointer[func() bool]
	stop     func() // ends the hub's Run
}

// Start starts a hub, which ends with the test.
func Start(t *testing.T) *World {
	t.Helper()
	keys, err := rights.NewKeys()
	require.NoError(t, err)
	trust, err := keys.Trust()
	require.NoError(t, err)
	w := &World{Keys: keys, Folder: t.TempDir(), t: t}
	w.settings = hub.Settings{Folder: w.Folder, Listen: addresstest.Free(t), Trust: trust, MaxStore: rights.MaxDisk, HasRoom: func() bool { return (*w.hasRoom.Load())() }}
	w.SetRoom(func() bool { return true })
	w.open()
	t.Cleanup(w.Stop)
	return w
}

// Connect connects to a hub that accepts the user. It tries again if the machine was so slow that
// an end timed out.
func Connect[T any](t *testing.T, open func() (T, error)) T {
	t.Helper()
	conn, err := untilAnswered(open)
	require.NoError(t, err)
	return conn
}

// Refused tries to connect to a hub that refuses the user. It tries again as Connect does.
func Refused[T any](t *testing.T, open func() (T, error)) {
	t.Helper()
	_, err := untilAnswered(open)
	require.ErrorIs(t, err, link.ErrRights)
}

// Ask calls join.Ask, and again if the connection times out, because the machine was slow.
func Ask(ctx context.Context, code join.Code, keys join.HostKeys, m join.Machine) (join.Admission, error) {
	for {
		a, err := join.Ask(ctx, code, keys, m)
		var late net.Error
		if !errors.As(err, &late) || !late.Timeout() || ctx.Err() != nil {
			return a, err
		}
	}
}

func untilAnswered[T any](open func() (T, error)) (conn T, err error) {
	pause.Await(context.Background(), 10*time.Millisecond, 2*time.Minute, func() bool {
		conn, err = open()
		return err == nil || errors.Is(err, link.ErrRights) || errors.Is(err, link.ErrPin)
	})
	return conn, err
}

func (w *World) open() {
	w.t.Helper()
	var err error
	w.hub, err = hub.Open(w.settings)
	require.NoError(w.t, err)
	running := w.hub
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { defer close(ended); assert.NoError(w.t, running.Run(ctx)) }()
	w.stop = func() { cancel(); <-ended; running.Close() }
}

// SetRoom sets what the hub asks before it starts its server again.
func (w *World) SetRoom(has func() bool) { w.hasRoom.Store(&has) }

// Stop ends the hub.
func (w *World) Stop() { w.stop() }

// Restart starts the hub after Stop, with an empty disk if wipe is set.
func (w *World) Restart(wipe bool) {
	w.t.Helper()
	if wipe {
		require.NoError(w.t, os.RemoveAll(filepath.Join(w.Folder, "store")))
	}
	w.open()
}

// Hub returns the address of the hub.
func (w *World) Hub() link.Hub {
	pin := w.hub.Pin()
	return link.Hub{Address: "nats://" + w.hub.Address(), Pin: pin[:]}
}

// Chat connects the chat of a fleet with these hosts.
func (w *World) Chat(hosts ...string) *link.Chat {
	w.t.Helper()
	fleet := w.Fleet(nil, hosts...)
	chat := Connect(w.t, func() (*link.Chat, error) { return link.OpenChat(w.t.Context(), w.Hub(), w.Keys, fleet) })
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = chat.Run(ctx, func(error) {}) }()
	w.t.Cleanup(func() { cancel(); <-done; _ = chat.Close() })
	return chat
}

// Fleet describes the fleet to the hub.
func (w *World) Fleet(revoked rights.Revoked, hosts ...string) link.Fleet {
	w.t.Helper()
	account, err := w.Keys.AccountJWT(revoked)
	require.NoError(w.t, err)
	return link.Fleet{Account: account, Hosts: hosts}
}

// User returns a user with the rights of a host.
func (w *World) User(host string, until time.Time) (user rights.User, public string) {
	w.t.Helper()
	pair, err := nkeys.CreateUser()
	require.NoError(w.t, err)
	public, err = pair.PublicKey()
	require.NoError(w.t, err)
	token, err := w.Keys.HostJWT(host, public, until)
	require.NoError(w.t, err)
	return rights.User{JWT: token, Key: pair}, public
}

// Host connects a host.
func (w *World) Host(id string) *link.Host {
	w.t.Helper()
	user, _ := w.User(id, time.Now().Add(rights.HostTTL))
	host := Connect(w.t, func() (*link.Host, error) {
		return link.OpenHost(w.Hub(), link.Login{User: user}, w.Keys.Names(), id)
	})
	w.t.Cleanup(host.Close)
	return host
}
