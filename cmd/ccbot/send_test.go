package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
)

// TestSendSaysWhatBecameOfIt runs the verb against a socket.
func TestSendSaysWhatBecameOfIt(t *testing.T) {
	here, err := os.Getwd()
	require.NoError(t, err)
	tests := []struct {
		name       string
		args       []string
		err        error
		code       int
		said, sent string
	}{
		{"sent", []string{"a.txt"}, nil, 0, "a.txt is in the chat\n", `{"path":"` + here + `/a.txt"}`},
		{"a caption", []string{"--caption", "look 'b'", "/x/../a.txt"}, nil, 0, "/x/../a.txt is in the chat\n", `{"path":"/a.txt","caption":"look 'b'"}`},
		{"refused", []string{"/a"}, control.Refuse(control.CodeRefused, "it is empty"), 1, "ccbot: /a was not sent: it is empty\n", `{"path":"/a"}`},
		{"a name with signs for the terminal", []string{"/a\x1b[31m\n\u202eb"}, nil, 0, "/a·[31m··b is in the chat\n", "{\"path\":\"/a\\u001b[31m\\n\u202eb\"}"},
		{"such a name, refused", []string{"/a\x1b[31m\nb"}, control.Refuse(control.CodeRefused, "it is empty"), 1, "ccbot: /a·[31m·b was not sent: it is empty\n", `{"path":"/a\u001b[31m\nb"}`},
		{"failed", []string{"/a"}, errors.New("secret"), 1, "ccbot: /a was not sent: internal error in ccbot; see its log\n", `{"path":"/a"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, sent := socketDir(t), ""
			botThat(t, dir, func(_ context.Context, c hookwire.Call) (any, error) {
				sent = string(c.Body)
				return struct{}{}, tt.err
			})
			var out strings.Builder
			assert.Equal(t, tt.code, run(append([]string{"send"}, tt.args...), []string{"CCBOT_DIR=" + dir}, &out, &out))
			assert.Equal(t, tt.said, out.String())
			assert.Equal(t, tt.sent, sent)
		})
	}
}

// The bot goes away while it sends.
func TestSendThatLosesTheBot(t *testing.T) {
	dir, sending := socketDir(t), make(chan struct{})
	stop := botThat(t, dir, func(ctx context.Context, _ hookwire.Call) (any, error) {
		close(sending)
		<-ctx.Done()
		return nil, ctx.Err()
	})
	var out strings.Builder
	ended := make(chan int, 1)
	go func() { ended <- run([]string{"send", "/a"}, []string{"CCBOT_DIR=" + dir}, &out, &out) }()
	<-sending
	stop()
	assert.Equal(t, exit.Failure, <-ended)
	assert.Contains(t, out.String(), "it is not known whether /a was sent")
}
