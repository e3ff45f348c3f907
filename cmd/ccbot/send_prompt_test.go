package main

import (
	"bufio"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/hookwire"
	"ccbot/internal/session"
)

// TestTimeoutEndsRetries: a bot that ends at each prompt before it answers is not asked
// again in vain.
func TestTimeoutEndsRetries(t *testing.T) {
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.State = session.Running }))
	l, err := net.Listen("unix", filepath.Join(dir, hookwire.SocketName))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, l.Close()) })
	var prompts atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			line, _ := bufio.NewReader(conn).ReadString('\n') // a client that is gone has no line
			if strings.Contains(line, `"ping"`) {
				_, _ = io.WriteString(conn, "{\"v\":1,\"body\":{}}\n")
			} else {
				prompts.Add(1)
			}
			_ = conn.Close()
		}
	}()
	code, _, _ := ccbot([]string{"HOME=" + dir, "CCBOT_DIR=" + dir}, "send-prompt", "api", "hi", "--wait", "--timeout", "1s")
	assert.Equal(t, exit.Failure, code)
	assert.LessOrEqual(t, prompts.Load(), int32(1))
}
