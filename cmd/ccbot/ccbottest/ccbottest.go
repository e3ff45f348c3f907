// Package ccbottest makes the surroundings of a ccbot in a test: its folder, its tmux server and
// its socket.
package ccbottest

import (
	"context"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/try/demoagent"
	"ccbot/try/privatetmux"
)

// GoodToken has the form of a token, but belongs to no bot.
const (
	GoodToken   = "123456789:AAsecretsecretsecretsecret"
	TokenSecret = "AAsecret" // must not be in an error
)

// Timeout is how long something may take on a busy machine before a test calls it missing.
const Timeout = 2 * time.Minute

// SocketDir is a folder for a socket: t.TempDir may be too long for one.
func SocketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ccbot")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// Serve runs a server of the socket in dir until stop, or the end of the test.
func Serve(t *testing.T, server *control.Server, dir string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	waittest.Until(t, func() bool {
		_, err := os.Lstat(filepath.Join(dir, hookwire.SocketName))
		return err == nil
	})
	return stop
}

// StateWith is a state folder with these records.
func StateWith(t *testing.T, records ...session.Record) (dir string) {
	t.Helper()
	dir = SocketDir(t)
	store, err := session.Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	for _, r := range records {
		require.NoError(t, store.Create(r))
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "format"), fmt.Appendln(nil, statefolder.Format), 0o600))
	return dir
}

// Tree is everything below a folder: names, kinds, times and bytes.
func Tree(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		text := []byte(nil)
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
			require.NoError(t, err)
		}
		lines = append(lines, strings.Join([]string{path, info.Mode().String(), info.ModTime().String(), string(text)}, " "))
		return nil
	}))
	return lines
}

var servers atomic.Int64

// Machine returns a separate environment for a ccbot, gone with the test: a state folder with these
// records, a tmux server, and the demo agent for a Claude Code.
func Machine(t *testing.T, records ...session.Record) (environ []string) {
	t.Helper()
	programtest.Require(t, "tmux")
	dir := StateWith(t, records...)
	socket := fmt.Sprintf("ccbot-cmd-%d-%d", os.Getpid(), servers.Add(1))
	t.Cleanup(func() { assert.NoError(t, privatetmux.End(context.Background(), socket)) })
	link, err := demoagent.Link(dir)
	require.NoError(t, err)
	return []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH"), "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=" + socket, "CLAUDE_COMMAND=" + link,
		"CLAUDE_CONFIG_DIR=" + filepath.Join(dir, "claude-config"), "TELEGRAM_BOT_TOKEN=" + GoodToken, "ALLOWED_USERS=1", "DEMOAGENT_NO_HOOKS=1"}
}

// Text is the text of all files in a folder.
func Text(t *testing.T, path string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(path, "*"))
	require.NoError(t, err)
	var all strings.Builder
	for _, f := range files {
		data, err := os.ReadFile(f)
		require.NoError(t, err)
		all.Write(data)
	}
	return all.String()
}

// Refused requires that the error is one sentence with the command that fixes it.
func Refused(t *testing.T, err error, fix string) {
	t.Helper()
	require.ErrorContains(t, err, "`"+fix+"`")
	assert.NotContains(t, err.Error(), "\n")
	assert.Equal(t, exit.Misuse, exit.Code(err), err.Error())
}
