package socket

import (
	"ccbot/cmd/ccbot/ccbottest"
	"context"
	"net"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
)

// TestSilentSocketIsNamed: its bot is stopped, or starts.
func TestSilentSocketIsNamed(t *testing.T) {
	dir := ccbottest.StateWith(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, hookwire.SocketName), Net: "unix"})
	require.NoError(t, err)
	defer l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	assert.ErrorIs(t, Ask(ctx, dir, "resume", struct{}{}, &struct{}{}), ErrSilent)
}
