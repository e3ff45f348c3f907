package telegram

import (
	"context"
	"errors"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// network loses every attempt that begins before it is back, as a route that swallows packets does.
type network struct {
	back  time.Time
	mu    sync.Mutex
	conns []net.Conn
}

func (n *network) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	if time.Now().Before(n.back) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	ours, theirs := net.Pipe()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns = append(n.conns, theirs)
	return ours, nil
}

// TestDialSucceedsSoonAfterOutage at whatever moment of an attempt the network comes back.
func TestDialSucceedsSoonAfterOutage(t *testing.T) {
	for _, away := range []time.Duration{0, time.Millisecond, 2999 * time.Millisecond, 3001 * time.Millisecond, 16 * time.Second, 26900 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			n := &network{back: time.Now().Add(away)}
			conn, err := persistent(n.dial)(t.Context(), "tcp", "api.telegram.org:443")
			require.NoError(t, err)
			assert.LessOrEqual(t, time.Since(n.back), dialAgain)
			require.NoError(t, conn.Close())
			synctest.Wait()
		})
	}
}

func TestDialReportsRefusalAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refused, begun := errors.New("connection refused"), time.Now()
		_, err := persistent(func(context.Context, string, string) (net.Conn, error) { return nil, refused })(t.Context(), "tcp", "x:1")
		require.ErrorIs(t, err, refused)
		assert.Zero(t, time.Since(begun))
	})
}

func TestDialEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{back: time.Now().Add(time.Hour)}
		_, err := persistent(n.dial)(t.Context(), "tcp", "x:1")
		require.ErrorIs(t, err, context.DeadlineExceeded)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		_, err = persistent(n.dial)(ctx, "tcp", "x:1")
		require.ErrorIs(t, err, context.Canceled)
		synctest.Wait() // no attempt is left
	})
}

// TestDialClosesLateConnections: two attempts connect, and one of them is the result.
func TestDialClosesLateConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &network{}
		begun := time.Now()
		conn, err := persistent(func(context.Context, string, string) (net.Conn, error) {
			time.Sleep(time.Until(begun.Add(2 * dialAgain)))
			return n.dial(context.Background(), "", "")
		})(t.Context(), "tcp", "x:1")
		require.NoError(t, err)
		require.NoError(t, conn.Close())
		synctest.Wait()
		require.GreaterOrEqual(t, len(n.conns), 2)
		for _, theirs := range n.conns {
			_, err := theirs.Read(make([]byte, 1))
			assert.Error(t, err, "the other end is closed")
		}
	})
}

// TestSilentConnectionEnds: the other end takes nothing, as if the network had gone away during a
// call.
func TestSilentConnectionEnds(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	d := net.Dialer{Control: limitSilence(100 * time.Millisecond)}
	conn, err := d.DialContext(t.Context(), "tcp", server.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	for piece := make([]byte, 1<<20); err == nil; {
		_, err = conn.Write(piece)
	}
	require.ErrorIs(t, err, syscall.ETIMEDOUT)
}

func TestConnectionsHaveTheLimitOfSilence(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer server.Close()
	conn, err := dialOnce(t.Context(), "tcp", server.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	raw, err := conn.(*net.TCPConn).SyscallConn()
	require.NoError(t, err)
	require.NoError(t, raw.Control(func(fd uintptr) {
		set, err := readSilence(int(fd))
		assert.NoError(t, err)
		assert.Equal(t, silence, set)
	}))
}
