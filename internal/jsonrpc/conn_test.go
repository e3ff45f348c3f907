package jsonrpc_test

import (
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/jsonrpc"
)

// serve answers each message with the next of some answers.
func serve(t *testing.T, answers ...[]string) *jsonrpc.Conn {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(t.TempDir(), "s"))
	require.NoError(t, err)
	web := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ws, err := websocket.Accept(w, r, nil)
		if !assert.NoError(t, err) {
			return
		}
		defer ws.CloseNow()
		for _, all := range answers {
			if _, _, err := ws.Read(r.Context()); err != nil {
				return
			}
			for _, one := range all {
				assert.NoError(t, ws.Write(r.Context(), websocket.MessageText, []byte(one)))
			}
		}
		_, _, _ = ws.Read(r.Context()) // until the client leaves
	})}
	done := make(chan struct{})
	go func() { _ = web.Serve(l); close(done) }()
	t.Cleanup(func() { assert.NoError(t, web.Close()); <-done })
	raw, err := (&net.Dialer{}).DialContext(t.Context(), "unix", l.Addr().String())
	require.NoError(t, err)
	c, err := jsonrpc.Open(t.Context(), raw)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// TestCallKeepsOtherMessages: what the server sends during a call comes from Next, in order, but
// not a response that no call waits for.
func TestCallKeepsOtherMessages(t *testing.T) {
	c := serve(t, []string{`{"method":"a"}`, `{"id":7,"method":"b"}`, `{"id":9,"result":{}}`, `{"id":1,"result":{"n":5}}`, `{"method":"c"}`})
	var result struct{ N int }
	require.NoError(t, c.Call(t.Context(), "count", map[string]int{}, &result))
	assert.Equal(t, 5, result.N)
	for _, want := range []string{"a", "b", "c"} {
		m, err := c.Next(t.Context())
		require.NoError(t, err)
		assert.Equal(t, want, m.Method)
	}
}

func TestErrorOfServer(t *testing.T) {
	c := serve(t, []string{`{"id":1,"error":{"code":-32600,"message":"not found"}}`}, []string{`{"id":2,"result":[]}`})
	err := c.Call(t.Context(), "find", nil, nil)
	var answered *jsonrpc.Error
	require.ErrorAs(t, err, &answered)
	assert.Equal(t, -32600, answered.Code)
	require.EqualError(t, err, "find: not found (-32600)")
	var result struct{}
	require.Error(t, c.Call(t.Context(), "find", nil, &result), "a result of another form")
}
