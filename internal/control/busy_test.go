package control

import (
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/waittest"
)

// A call over the limit of its kind gets an answer; each kind has its own limit.
func TestP10_TooManyAreTold(t *testing.T) {
	s := newService(t)
	person, file := newWaiting(), newWaiting()
	person.called = make(chan struct{}, maxWaiting)
	person.cause = make(chan error, maxWaiting)
	s.HandleWaiting("wait", person.handle)
	s.Handle("send", file.handle)
	s.Handle("echo", echo)
	s.run(t)
	fill := func(verb string, w *waiting, n int) (last *net.UnixConn) {
		for range n {
			last = s.dial(t)
			_, err := io.WriteString(last, `{"v":1,"verb":"`+verb+`"}`+"\n")
			require.NoError(t, err)
			<-w.called
		}
		return last
	}
	code := func(verb string) string {
		// it may not be read to its end
		body := json.RawMessage(`"` + strings.Repeat("x", 1<<20) + `"`)
		_, err := Do(t.Context(), s.path, hookwire.Call{Verb: verb, Body: body})
		if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
			return refusal.Code
		}
		require.NoError(t, err)
		return ""
	}
	sent := fill("send", file, maxCalls)
	assert.Equal(t, codeBusy, code("send"))
	fill("wait", person, maxWaiting)
	assert.Equal(t, codeBusy, code("wait"))
	assert.Empty(t, code("echo"))
	require.NoError(t, sent.Close())
	<-file.cause
	waittest.Until(t, func() bool {
		conn := s.dial(t)
		_, _ = io.WriteString(conn, `{"v":1,"verb":"send"}`+"\n")
		reply := make(chan struct{})
		go func() { defer close(reply); _, _ = conn.Read(make([]byte, 1)) }()
		select {
		case <-file.called:
			return true
		case <-reply:
			return false
		}
	}, "there is room again")

	var silent []*net.UnixConn
	for range maxUnread {
		silent = append(silent, s.dial(t))
	}
	assert.Equal(t, codeBusy, code("echo"), "all listen to those who say nothing")
	require.NoError(t, silent[0].Close())
	waittest.Until(t, func() bool { return code("echo") == "" })
}
