package engine

import (
	"context"
	"encoding/json"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/hooks"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

// serving is an agent whose server asks.
type serving struct {
	agent.Transcripts
	wait func(ctx context.Context, o agent.Open) (json.RawMessage, error)
}

func (s *serving) Connect(wait func(ctx context.Context, o agent.Open) (json.RawMessage, error)) {
	s.wait = wait
}

func (*serving) Of(q talk.Request) talk.Ask { return talk.Ask{Tool: q.Tool} }

func (*serving) Decide(talk.Request, talk.Answer) (json.RawMessage, error) {
	return json.RawMessage(`"accept"`), nil
}

// shown are the requests that the chat shows, and those whose waits have ended.
type shown struct{ open, left chan hooks.Request }

func (s shown) OnRequest(_ context.Context, q hooks.Request) error { s.open <- q; return nil }
func (s shown) OnLeft(_ context.Context, q hooks.Request)          { s.left <- q }

// TestP8_ServersRequestFindsItsSession: the request of a server belongs to the record that has
// bound the server, and has the same id when the server repeats it to the next ccbot.
func TestP8_ServersRequestFindsItsSession(t *testing.T) {
	e := newEngine(t)
	s := &serving{Transcripts: e.Coding.Of("").Transcripts}
	e.Coding[agent.Default] = agent.Agent{Asks: s, Requests: s, Transcripts: s}
	server, terminal := process.Identity{PID: 7, Start: 70, Boot: "b"}, process.Identity{PID: 6, Start: 60, Boot: "b"}
	r := one(1, "api")
	r.State = session.Running
	r.Binding = &session.Binding{Agent: terminal, AgentServer: server}
	require.NoError(t, e.Store.Create(r))
	ended := one(2, "ended")
	ended.State, ended.AgentSessionID = session.Archived, r.AgentSessionID
	require.NoError(t, e.Store.Create(ended))
	asked := agent.Open{PID: 7, ProcStart: 70, ID: "0", Conversation: r.AgentSessionID, Dir: "/w", Tool: "exec_command", Input: json.RawMessage(`{"call":"c"}`)}

	var ids []string
	for range 2 { // a ccbot, and the one after it
		chat := shown{make(chan hooks.Request, 1), make(chan hooks.Request, 1)}
		e.Relay = hooks.NewRelay(time.Now, slog.New(slog.DiscardHandler))
		e.Relay.Connect(chat)
		e.connectRequests()
		ctx, end := context.WithCancel(t.Context())
		done := make(chan json.RawMessage, 1)
		go func() { output, _ := s.wait(ctx, asked); done <- output }()
		q := <-chat.open
		assert.Equal(t, []any{r.ID, terminal.Text(), server.Text(), "exec_command", "/w"}, []any{q.Session, q.Agent, q.Hook, q.Tool, q.Cwd})
		ids = append(ids, q.ID)
		end() // the terminal has answered, or ccbot ends
		assert.Equal(t, q, <-chat.left)
		assert.Nil(t, <-done)

		go func() { output, _ := s.wait(t.Context(), asked); done <- output }()
		require.NoError(t, e.Relay.Decide(t.Context(), (<-chat.open).ID, talk.Answer{}))
		assert.JSONEq(t, `"accept"`, string(<-done))
	}
	assert.Equal(t, ids[0], ids[1])
	assert.NotEqual(t, ids[0], requestID(server, "1"))
	assert.NotEqual(t, ids[0], requestID(terminal, "0"))
}

// TestP7_ForeignServerAsksAtItsTerminal: a server that no record has bound, or that shows another
// conversation, brings nothing to the chat.
func TestP7_ForeignServerAsksAtItsTerminal(t *testing.T) {
	e := newEngine(t)
	s := &serving{Transcripts: e.Coding.Of("").Transcripts}
	e.Coding[agent.Default] = agent.Agent{Asks: s, Requests: s, Transcripts: s}
	r := one(1, "api")
	r.State = session.Running
	r.Binding = &session.Binding{AgentServer: process.Identity{PID: 7, Start: 70, Boot: "b"}}
	require.NoError(t, e.Store.Create(r))
	e.connectRequests() // without a relay a request would panic
	ctx, end := context.WithCancel(t.Context())
	end()
	for _, o := range []agent.Open{{PID: 7, ProcStart: 71, Conversation: r.AgentSessionID}, {PID: 8, ProcStart: 70, Conversation: r.AgentSessionID}, {PID: 7, ProcStart: 70, Conversation: r.ID}} {
		output, err := s.wait(ctx, o)
		require.NoError(t, err)
		assert.Nil(t, output)
	}
}
