package channel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/channel"
	"ccbot/fleet/courier"
	"ccbot/fleet/seal"
	"ccbot/internal/spool"
)

// TestRefusedMessagesHaveNoEffect delivers what another user of the hub could send.
func TestRefusedMessagesHaveNoEffect(t *testing.T) {
	chatKey, hostKey := newKey(t), newKey(t)
	stored := func(name string) seal.EpochFile {
		return seal.EpochFile{Folder: spool.Folder{Path: t.TempDir(), Fsync: true}, Name: name}
	}
	there, err := seal.NewChatLink(chatKey, "h1", hostKey.Public(), stored("chat"))
	require.NoError(t, err)
	l, err := seal.NewHostLink(hostKey, "h1", chatKey.Public(), stored("host"))
	require.NoError(t, err)
	var sent [][]byte
	host, end, err := channel.Open(l, false, courier.Settings{Folder: t.TempDir(), Sender: sendFunc(func(_ context.Context, _ string, data []byte) error {
		sent = append(sent, data)
		return nil
	})})
	require.NoError(t, err)

	// Without an epoch only a hello is sent, and the frame is kept.
	require.ErrorIs(t, host.Send(t.Context(), "1", []byte("frame")), seal.ErrEpoch)
	hello, err := there.Open(sent[0])
	require.NoError(t, err)
	assert.Equal(t, seal.Hello, hello.Kind)

	frame := []byte(`{"v":1,"life":"0193b7a0-0000-7000-8000-000000000001","seq":1}` + "\nstart")
	sealed := func(kind string) []byte {
		data, err := there.Seal(seal.Message{Kind: kind, Body: frame})
		require.NoError(t, err)
		return data
	}
	stranger, err := newKey(t).SealFor(hostKey.Public(), frame)
	require.NoError(t, err)
	require.ErrorIs(t, host.Receive(t.Context(), frame), seal.ErrSender)
	require.ErrorIs(t, host.Receive(t.Context(), stranger), seal.ErrSender)
	require.ErrorIs(t, host.Receive(t.Context(), sealed("unknown")), errors.ErrUnsupported)
	ctx, cancel := context.WithTimeout(t.Context(), time.Nanosecond)
	defer cancel()
	_, err = end.Next(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded, "no item arrived")

	data := sealed("courier")
	require.NoError(t, host.Receive(t.Context(), data))
	require.NotNil(t, l.OnRenew)
	require.ErrorIs(t, host.Receive(t.Context(), data), seal.ErrReplay)
	item, err := end.Next(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "start", string(item.Body))
	require.NoError(t, host.Send(t.Context(), "2", []byte("frame")))
	m, err := there.Open(sent[len(sent)-1])
	require.NoError(t, err)
	assert.Equal(t, "frame", string(m.Body))
}
