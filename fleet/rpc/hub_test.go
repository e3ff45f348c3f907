package rpc

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"ccbot/fleet/seal"
	"ccbot/fleet/wire"
	"ccbot/internal/spool"
)

// TestP8_HubEndsNoChat: the hub chooses the subject of what it sends to a subscription.
func TestP8_HubEndsNoChat(t *testing.T) {
	t.Parallel()
	w := &waiting{lost: make(chan struct{})}
	c := &Caller{inbox: "_INBOX.c", calls: map[string]*waiting{"1": w}}
	for _, subject := range []string{"", "x", "_INBOX.c", "_INBOX.x.1", "_INBOX.c.2"} {
		c.receiveStatus(&nats.Msg{Subject: subject, Header: nats.Header{"Status": {"503"}}})
	}
	select {
	case <-w.lost:
		t.Fatal("the call is lost")
	default:
	}
	c.receiveStatus(&nats.Msg{Subject: "_INBOX.c.1", Header: nats.Header{"Status": {"503"}}})
	<-w.lost
}

// links returns both ends of the seals of a host.
func links(t *testing.T) (chat, host *seal.Link) {
	t.Helper()
	chatKey, err := seal.NewKey()
	require.NoError(t, err)
	hostKey, err := seal.NewKey()
	require.NoError(t, err)
	stored := func() seal.EpochFile { return seal.EpochFile{Folder: spool.Folder{Path: t.TempDir()}, Name: "epoch"} }
	chat, err = seal.NewChatLink(chatKey, "h1", hostKey.Public(), stored())
	require.NoError(t, err)
	at := stored()
	require.NoError(t, at.SetEpoch(1)) // the host has met the chat, and was started again
	host, err = seal.NewHostLink(hostKey, "h1", chatKey.Public(), at)
	require.NoError(t, err)
	return chat, host
}

// TestP8_OldMessagesStartNoGoroutines: a hub repeats a message of before the host's start, and
// keeps all others back.
func TestP8_OldMessagesStartNoGoroutines(t *testing.T) {
	t.Parallel()
	chat, host := links(t)
	old, err := chat.Seal(seal.Message{Kind: seal.Beat})
	require.NoError(t, err)
	var greets atomic.Int32
	block := make(chan struct{})
	s := NewServer(Settings{Link: host, Greet: func(context.Context) { greets.Add(1); <-block }})
	for range 100 {
		s.receive(t.Context(), old)
	}
	assert.Len(t, s.due, 1, "a hello is due")
	close(block)
	s.running.Wait()
	assert.Zero(t, greets.Load())
}

// TestP6_LateMessagesHaveNoEffect: a hub keeps a beat back until the machine is dead, and a call
// until the person has decided otherwise.
func TestP6_LateMessagesHaveNoEffect(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		chat, host := links(t)
		sealed := func(by *seal.Link, kind string, body []byte) []byte {
			data, err := by.Seal(seal.Message{Kind: kind, ID: kind, Body: body})
			require.NoError(t, err)
			return data
		}
		ping := func() {
			_, err := host.Open(sealed(chat, seal.Beat, nil))
			require.NoError(t, err)
		}
		body, err := encode(wire.Envelope{V: wire.Version})
		require.NoError(t, err)
		greets, made := 0, 0
		c := &Caller{Remote: Remote{Link: chat, Greet: func() { greets++ }}, taken: rate.NewLimiter(Rate, MostBytes)}
		s := NewServer(Settings{Link: host, Answer: func(context.Context, wire.Envelope) wire.Envelope { made++; return wire.Envelope{} }})

		_, err = chat.Open(sealed(host, seal.Hello, nil))
		require.NoError(t, err)
		ping()
		for _, tt := range []struct {
			late time.Duration
			made int
		}{{0, 1}, {seal.MaxAge - time.Second, 2}, {seal.MaxAge + time.Second, 2}, {0, 3}} {
			was := time.Now()
			c.receive(&nats.Msg{Data: sealed(host, seal.Beat, []byte("{}"))})
			require.Equal(t, was, c.heard)
			data, call := sealed(host, seal.Beat, []byte("{}")), sealed(chat, callKind, body[0])
			time.Sleep(tt.late)
			c.receive(&nats.Msg{Data: data})
			s.receive(t.Context(), call)
			synctest.Wait()
			assert.Equal(t, tt.made, made)
			assert.Equal(t, tt.late <= seal.MaxAge, c.heard.Equal(time.Now()))
			ping()
		}
		assert.Equal(t, 1, greets, "the host learns the time again")
	})
}
