package rpc

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/seal"
	"ccbot/internal/spool"
)

// TestP8_HubEndsNoChat: the hub chooses the subject of what it sends to a subscription.
func TestP8_HubEndsNoChat(t *testing.T) {
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
	chat, host := links(t)
	old, err := chat.Seal(seal.Message{Kind: beatKind})
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
