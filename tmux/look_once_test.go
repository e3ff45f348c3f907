package tmux_test

import (
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
	"ccbot/tmux"
)

// PaneAndScreen reports the same as the control client, for any names of windows and folders.
func TestLookTellsWhatTheClientTells(t *testing.T) {
	r := ensured(t)
	odd := filepath.Join(t.TempDir(), "two\nlines|#{pid} é;")
	require.NoError(t, os.Mkdir(odd, 0o700))
	odd, err := filepath.EvalSymlinks(odd)
	require.NoError(t, err)
	for i, name := range []string{"api", `$x "|" ;`, "каталог", "#(id)"} {
		key := "u-" + string(rune('a'+i))
		_, err := r.NewWindow(t.Context(), tmux.Spec{Name: name, Tag: "test/" + key, Dir: odd, Argv: []string{"/bin/sleep", "1000"}})
		require.NoError(t, err)
	}
	r.tmux(t, "split-window", "-d", "-t", "=ccbot:api", "sleep", "1000")
	gone, err := r.NewWindow(t.Context(), tmux.Spec{Name: "gone", Tag: "test/gone", Dir: "/", Argv: []string{"/bin/sh", "-c", "exit 7"}})
	require.NoError(t, err)
	eventually(t, func() bool {
		p, err := r.Pane(t.Context(), gone.ID)
		return err == nil && p.Dead && p.DeadStatus == 7
	})

	want, err := r.Panes(t.Context())
	require.NoError(t, err)
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	eventually(t, func() bool { // a process that has just started is called otherwise for a moment
		_, got, err := tmux.Inspect(t.Context(), r.config())
		want, again := r.Panes(t.Context())
		return err == nil && again == nil && assert.ObjectsAreEqual(want, got)
	})
	seen, got, err := tmux.Inspect(t.Context(), r.config())
	require.NoError(t, err)
	assert.Equal(t, server, seen)
	assert.Len(t, got, len(want))
	assert.GreaterOrEqual(t, len(got), 7)
}

// PaneAndScreen starts no server, neither before the first one nor after the last one has ended.
func TestP6_LookStartsNoServer(t *testing.T) {
	r := open(t)
	_, panes, err := tmux.Inspect(t.Context(), r.config())
	require.ErrorIs(t, err, tmux.ErrNoServer)
	assert.Empty(t, panes)
	assert.NoFileExists(t, r.socket)

	require.NoError(t, r.Ensure(t.Context()))
	_, _, err = tmux.Inspect(t.Context(), r.config())
	require.NoError(t, err)
	r.stopServer(t)
	_, _, err = tmux.Inspect(t.Context(), r.config())
	require.ErrorIs(t, err, tmux.ErrNoServer)
}

// A server that does not answer is not one that is not there.
func TestP6_StoppedServerIsUnknown(t *testing.T) {
	r := ensured(t)
	server, err := r.Server(t.Context())
	require.NoError(t, err)
	require.NoError(t, syscall.Kill(server.PID, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(server.PID, syscall.SIGCONT) })
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, _, err = tmux.Inspect(ctx, r.config())
	require.ErrorIs(t, err, context.DeadlineExceeded)
	assert.NotErrorIs(t, err, tmux.ErrNoServer)
	assert.EqualError(t, err, "look at tmux: tmux does not answer: context deadline exceeded")
}

func TestLookRefusesTheDefaultServer(t *testing.T) {
	for _, name := range []string{"", "default"} {
		_, _, err := tmux.Inspect(t.Context(), tmux.Config{Socket: name, Start: startTime})
		require.ErrorIs(t, err, tmux.ErrDefaultSocket)
	}
	_, _, err := tmux.Inspect(t.Context(), tmux.Config{Socket: "a/b", Start: startTime})
	require.Error(t, err)
}

// If no server has run since the boot, another user of the machine can make the folder of the
// sockets, and listen there.
func TestP9_ForeignSocketFolderIsRefused(t *testing.T) {
	programtest.Require(t, "tmux")
	base, err := os.MkdirTemp("", "cc") // a socket's path must be short
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(base)) })
	t.Setenv("TMUX_TMPDIR", base)
	cfg := real{name: "ccbot-test-foreign", home: t.TempDir()}.config()
	require.NoError(t, os.Mkdir(socketDir(t), 0o700))
	require.NoError(t, os.Chmod(socketDir(t), 0o707)) // independent of the umask
	listener, err := net.Listen("unix", filepath.Join(socketDir(t), cfg.Socket))
	require.NoError(t, err)
	var said atomic.Int64
	var heard sync.WaitGroup
	heard.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			n, _ := conn.Read(make([]byte, 1))
			said.Add(int64(n))
			conn.Close()
		}
	})
	client, err := tmux.New(cfg)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	heard.Go(func() { assert.NoError(t, client.Run(ctx)) })

	_, _, err = tmux.Inspect(t.Context(), cfg)
	assert.ErrorIs(t, err, tmux.ErrFolder)
	assert.NotErrorIs(t, err, tmux.ErrNoServer)
	waittest.Until(t, func() bool { // until the client has tried to connect
		short, stop := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer stop()
		_, err := client.Panes(short)
		return errors.Is(err, tmux.ErrFolder)
	})
	cancel()
	listener.Close()
	heard.Wait()
	assert.Zero(t, said.Load())
}
