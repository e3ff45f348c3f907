package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	port "ccbot/bot/port/refusal"
	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
)

// socketDir is a folder for a socket: t.TempDir may be too long for one.
func socketDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "ccbot")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	return dir
}

// serving runs a socket in a folder until stop, or the end of the test.
func serving(t *testing.T, a *around, dir string) (stop func()) {
	t.Helper()
	table, err := process.NewTable()
	require.NoError(t, err)
	return runServer(t, a.socket().server(dir, table, nil), dir)
}

// runServer runs a server of the socket in dir until stop, or the end of the test.
func runServer(t *testing.T, server *control.Server, dir string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		assert.NoError(t, <-ended)
	})
	t.Cleanup(stop)
	require.Eventually(t, func() bool {
		_, err := os.Lstat(filepath.Join(dir, hookwire.SocketName))
		return err == nil
	}, 20*time.Second, time.Millisecond)
	return stop
}

// TestSendSaysWhatBecameOfIt runs the verb against a socket.
func TestSendSaysWhatBecameOfIt(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	inside := evidence.Above{Found: true, Session: uuid.New()}
	tests := []struct {
		name       string
		args       []string
		above      evidence.Above
		err        error
		code       int
		said, sent string
	}{
		{"sent", []string{"a.txt"}, inside, nil, 0, "a.txt is in the chat\n", here + "/a.txt "},
		{"a caption", []string{"--caption", "look <b>", "/x/../a.txt"}, inside, nil, 0, "/x/../a.txt is in the chat\n", "/a.txt look <b>"},
		{"refused", []string{"/a"}, inside, &port.Error{Code: port.FileEmpty}, 1, "ccbot: /a was not sent: it is empty\n", "/a "},
		{"failed", []string{"/a"}, inside, errors.New("secret"), 1,
			"ccbot: /a was not sent: something went wrong in ccbot; its log says what\n", "/a "},
		{"not below an agent", []string{"/a"}, evidence.Above{}, nil, 1,
			"ccbot: /a was not sent: no session of ccbot is above this program, so there is no chat to send to\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &around{above: tt.above, send: func(context.Context) error { return tt.err }}
			dir := socketDir(t)
			serving(t, a, dir)
			var out strings.Builder
			code := run(append([]string{"send"}, tt.args...), []string{"CCBOT_DIR=" + dir}, &out, &out)
			assert.Equal(t, tt.code, code)
			assert.Equal(t, tt.said, out.String())
			want := []string{tt.above.Session.String() + " " + tt.sent}
			if tt.sent == "" {
				want = nil
			}
			assert.Equal(t, want, a.sent)
		})
	}
}

// The bot goes away while it sends.
func TestSendThatLosesTheBot(t *testing.T) {
	dir, sending := socketDir(t), make(chan struct{})
	a := &around{above: evidence.Above{Found: true, Session: uuid.New()}}
	a.send = func(ctx context.Context) error {
		close(sending)
		<-ctx.Done()
		return ctx.Err()
	}
	stop := serving(t, a, dir)
	var out strings.Builder
	ended := make(chan int, 1)
	go func() { ended <- run([]string{"send", "/a"}, []string{"CCBOT_DIR=" + dir}, &out, &out) }()
	<-sending
	stop()
	assert.Equal(t, exit.Failure, <-ended)
	assert.Contains(t, out.String(), "it is not known whether /a was sent")
}
