package appserver

import (
	"context"
	"encoding/json"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/coder/websocket"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/internal/jsonrpc"
	"ccbot/internal/process"
)

var _ agent.Delivery = Delivery{}

var (
	thread1 = uuid.MustParse("01a218bf-1ff2-7662-b877-89551f85d5f7")
	thread2 = uuid.MustParse("01a218c0-41c6-7ae1-8e15-ea4a033438ad")
)

// server is a stand-in of the app-server with real conversations. This process listens, so that its
// identity is the server's.
type server struct {
	t         *testing.T
	process   process.Process
	threads   map[string]map[string]any
	status    string // of all conversations
	userAgent string
	joined    []string
	items     string                                      // of the running turn, for who joins and asks for them
	start     func(ws *websocket.Conn, m jsonrpc.Message) // answers turn/start and thread/compact/start
	resumed   func(conversation uuid.UUID)                // before the answer to thread/resume; may be nil

	mu      sync.Mutex
	calls   []string
	clients []*websocket.Conn // that have joined
}

// toAll sends a message to all clients that have joined.
func (s *server) toAll(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ws := range s.clients {
		s.raw(ws, text)
	}
}

// dropAll ends the connections of all clients that have joined.
func (s *server) dropAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ws := range s.clients {
		_ = ws.CloseNow()
	}
	s.clients = nil
}

func count(all []string, one string) (n int) {
	for _, a := range all {
		if a == one {
			n++
		}
	}
	return n
}

func newServer(t *testing.T, loaded ...uuid.UUID) *server {
	t.Helper()
	s := &server{t: t, threads: make(map[string]map[string]any), status: `{"type":"idle"}`, userAgent: "ccbot/0.171.0 (Debian 12.0.0; x86_64) unknown (ccbot; 1)"}
	data, err := os.ReadFile("testdata/threads.jsonl")
	require.NoError(t, err)
	for one := range strings.Lines(string(data)) {
		var thread map[string]any
		require.NoError(t, json.Unmarshal([]byte(one), &thread))
		id := uuid.MustParse(thread["id"].(string))
		for _, l := range loaded {
			if l == id || thread["ephemeral"] == true { // those for titles are always there
				s.threads[id.String()] = thread
			}
		}
	}
	dir, err := os.MkdirTemp("", "as")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(dir)) })
	path := filepath.Join(dir, "s")
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	require.NoError(t, err)
	web := &http.Server{Handler: http.HandlerFunc(s.serve)}
	done := make(chan struct{})
	go func() { _ = web.Serve(l); close(done) }()
	t.Cleanup(func() { assert.NoError(t, web.Close()); <-done })
	s.process = process.Process{Identity: process.Identity{PID: os.Getpid(), Start: 7, Boot: "b"},
		Args: []string{"codex", "app-server", "--listen", "unix://" + path}}
	return s
}

// Inspect knows this process, and the one that is taken for the server.
func (s *server) Inspect(pid int) (process.Process, error) {
	p := s.process
	if pid != p.PID && pid != os.Getpid() {
		return process.Process{}, process.ErrGone
	}
	p.PID = pid
	return p, nil
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	ws, err := websocket.Accept(w, r, nil)
	if !assert.NoError(s.t, err) {
		return
	}
	defer ws.CloseNow()
	for {
		_, data, err := ws.Read(r.Context())
		if err != nil {
			return
		}
		var m jsonrpc.Message
		if !assert.NoError(s.t, json.Unmarshal(data, &m)) {
			return
		}
		s.mu.Lock()
		s.calls = append(s.calls, strings.TrimSpace(m.Method+" "+string(m.Result)))
		s.mu.Unlock()
		s.answer(ws, m)
	}
}

func (s *server) answer(ws *websocket.Conn, m jsonrpc.Message) {
	var p struct {
		ThreadID         string
		InitialTurnsPage *struct{ Limit int }
	}
	if m.Params != nil {
		assert.NoError(s.t, json.Unmarshal(m.Params, &p))
	}
	thread := maps.Clone(s.threads[p.ThreadID]) // clients ask at the same time
	if thread != nil {
		thread["status"] = json.RawMessage(s.status)
	}
	switch m.Method {
	case "initialize":
		s.send(ws, m.ID, map[string]string{"userAgent": s.userAgent})
	case "thread/loaded/list":
		var ids []string
		for id := range s.threads {
			ids = append(ids, id)
		}
		s.send(ws, m.ID, map[string]any{"data": ids, "nextCursor": nil})
	case "thread/read":
		s.send(ws, m.ID, map[string]any{"thread": thread})
	case "thread/resume":
		if s.resumed != nil {
			s.resumed(uuid.MustParse(p.ThreadID))
		}
		s.mu.Lock()
		s.clients = append(s.clients, ws)
		s.mu.Unlock()
		for _, event := range s.joined {
			s.raw(ws, event)
		}
		answer := map[string]any{"thread": thread}
		if p.InitialTurnsPage != nil {
			answer["initialTurnsPage"] = json.RawMessage(`{"data":[{"items":[` + s.items + `]}]}`)
		}
		s.send(ws, m.ID, answer)
	case "turn/start", "thread/compact/start":
		s.start(ws, m)
	}
}

func (s *server) send(ws *websocket.Conn, id json.RawMessage, result any) {
	data, err := json.Marshal(result)
	assert.NoError(s.t, err)
	s.raw(ws, `{"id":`+string(id)+`,"result":`+string(data)+`}`)
}

func (s *server) raw(ws *websocket.Conn, text string) {
	_ = ws.Write(s.t.Context(), websocket.MessageText, []byte(text)) // the client may be gone
}

// accept takes a text.
func (s *server) accept(ws *websocket.Conn, m jsonrpc.Message) {
	var p struct {
		ThreadID, ClientUserMessageID string
		Input                         []struct{ Text string }
	}
	assert.NoError(s.t, json.Unmarshal(m.Params, &p))
	assert.Equal(s.t, []any{thread1.String(), "two\nlines"}, []any{p.ThreadID, p.Input[0].Text})
	assert.NoError(s.t, uuid.Validate(p.ClientUserMessageID))
	s.send(ws, m.ID, map[string]any{"turn": map[string]string{"id": "t"}})
}

func (s *server) called() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string{}, s.calls...)
}

func (s *server) deliver(ctx context.Context, title string) error {
	d := Delivery{Processes: s, Title: func(context.Context, int) string { return title }}
	return d.Deliver(ctx, agent.Recipient{PID: s.process.PID, ProcStart: 7, Conversation: thread1}, uuid.New(), "two\nlines")
}

func TestP4_TextIsAccepted(t *testing.T) {
	s := newServer(t, thread1)
	s.start = s.accept
	require.NoError(t, s.deliver(t.Context(), ""))
	calls := s.called()
	assert.Equal(t, []string{"initialize", "initialized", "thread/loaded/list"}, calls[:3])
	assert.Equal(t, "turn/start", calls[len(calls)-1])
	assert.NotContains(t, calls, "thread/resume", "a new conversation cannot be joined")
}

// Pictures from the chat go as pictures, besides their names. Other files are only named, and so is what
// somebody else has written.
func TestPicturesAreSent(t *testing.T) {
	s := newServer(t, thread1)
	var input []map[string]string
	s.start = func(ws *websocket.Conn, m jsonrpc.Message) {
		var p struct{ Input []map[string]string }
		assert.NoError(t, json.Unmarshal(m.Params, &p))
		input = p.Input
		s.send(ws, m.ID, map[string]any{"turn": map[string]string{"id": "t"}})
	}
	text := strings.Join([]string{"what is this?", "Attached file: /w/.ccbot-inbox/photo-5.JPG", "Attached file: .ccbot-inbox/b.webp", "Attached file: /w/.ccbot-inbox/c.pdf",
		"Attached file: /etc/d.png", "> Attached file: /w/.ccbot-inbox/e.png", "see Attached file: /w/.ccbot-inbox/f.png"}, "\n")
	require.NoError(t, Delivery{Processes: s}.Deliver(t.Context(), agent.Recipient{PID: s.process.PID, ProcStart: 7, Conversation: thread1}, uuid.New(), text))
	dir := s.threads[thread1.String()]["cwd"].(string)
	assert.Equal(t, []map[string]string{{"type": "text", "text": text}, {"type": "localImage", "path": "/w/.ccbot-inbox/photo-5.JPG"},
		{"type": "localImage", "path": dir + "/.ccbot-inbox/b.webp"}}, input)
}

// The server has a call for this command. As a text the model would read it.
func TestP4_CompactIsACall(t *testing.T) {
	s := newServer(t, thread1)
	s.start = func(ws *websocket.Conn, m jsonrpc.Message) {
		assert.JSONEq(t, `{"threadId":"`+thread1.String()+`"}`, string(m.Params))
		s.send(ws, m.ID, map[string]any{})
	}
	to := agent.Recipient{PID: s.process.PID, ProcStart: 7, Conversation: thread1}
	require.NoError(t, Delivery{Processes: s}.Deliver(t.Context(), to, uuid.New(), " /compact"))
	assert.Contains(t, s.called(), "thread/compact/start")
	assert.NotContains(t, s.called(), "turn/start")

	s.status = `{"type":"active","activeFlags":[]}`
	err := Delivery{Processes: s}.Deliver(t.Context(), to, uuid.New(), "/compact")
	require.ErrorIs(t, err, agent.ErrNotDelivered, "it would interrupt the turn")
}

// A text reaches only the bound server, with the conversation that the terminal shows, and not while it works or asks. Of a word that
// ccbot does not know the terminal has decided.
func TestP7_TextIsNotDelivered(t *testing.T) {
	for _, tt := range []struct {
		name   string
		title  string
		change func(s *server)
	}{
		{"busy", "", func(s *server) { s.status = `{"type":"active","activeFlags":[]}` }},
		{"a request is open", "", func(s *server) { s.status = `{"type":"active","activeFlags":["waitingOnApproval"]}` }},
		{"not loaded", "", func(s *server) { delete(s.threads, thread1.String()) }},
		{"the terminal shows another conversation", "01a218c0-41c6-7ae1-8e15-ea4a0... | Ready", nil},
		{"one of two is shown", "", nil},
		{"the title names none", "01a218c9-41c6-7ae1-8e15-ea4a0... | Ready", nil},
		{"another process", "", func(s *server) { s.process.Start = 8 }},
		{"another process listens", "", func(s *server) { s.process.PID = 1 }},
		{"no socket", "", func(s *server) { s.process.Args[3] = "unix://" }},
		{"nothing listens", "", func(s *server) { s.process.Args[3] += "x" }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t, thread1, thread2)
			if tt.change != nil {
				delete(s.threads, thread2.String())
				tt.change(s)
			}
			require.ErrorIs(t, s.deliver(t.Context(), tt.title), agent.ErrNotDelivered)
			assert.NotContains(t, s.called(), "turn/start")
		})
	}
}

func TestP7_TitleChoosesConversation(t *testing.T) {
	s := newServer(t, thread1, thread2)
	s.start = s.accept
	require.NoError(t, s.deliver(t.Context(), "01a218bf-1ff2-7662-b877-89551... | Ready"))
}

// From the call on an error and a silence prove nothing: the text is never sent again unasked.
func TestP4_FailureAfterCallIsUnknown(t *testing.T) {
	for name, start := range map[string]func(s *server) func(ws *websocket.Conn, m jsonrpc.Message){
		"an error": func(s *server) func(ws *websocket.Conn, m jsonrpc.Message) {
			return func(ws *websocket.Conn, m jsonrpc.Message) {
				s.raw(ws, `{"id":`+string(m.ID)+`,"error":{"code":-32600,"message":"thread not found"}}`)
			}
		},
		"the server ends": func(*server) func(ws *websocket.Conn, m jsonrpc.Message) {
			return func(ws *websocket.Conn, _ jsonrpc.Message) { _ = ws.CloseNow() }
		},
		"no JSON": func(s *server) func(ws *websocket.Conn, m jsonrpc.Message) {
			return func(ws *websocket.Conn, _ jsonrpc.Message) { s.raw(ws, "{") }
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, thread1)
			s.start = start(s)
			err := s.deliver(t.Context(), "")
			require.Error(t, err)
			assert.NotErrorIs(t, err, agent.ErrNotDelivered)
		})
	}
	t.Run("silence", func(t *testing.T) {
		s := newServer(t, thread1)
		ctx, cancel := context.WithCancel(t.Context())
		s.start = func(*websocket.Conn, jsonrpc.Message) { cancel() }
		err := s.deliver(ctx, "")
		require.Error(t, err)
		assert.NotErrorIs(t, err, agent.ErrNotDelivered)
	})
}

// The messages of a real server, about turns with a permission and a change of a file.
func TestEventsOfRealServer(t *testing.T) {
	data, err := os.ReadFile("testdata/events.jsonl")
	require.NoError(t, err)
	var got []string
	var requests []Request
	for one := range strings.Lines(string(data)) {
		var m jsonrpc.Message
		require.NoError(t, json.Unmarshal([]byte(one), &m))
		e, ok := eventOf(m, Thread{ID: thread1})
		switch {
		case !ok:
		case e.Status != nil:
			got = append(got, string(e.Status.Status))
		case e.Request != nil:
			got = append(got, "asks "+e.Request.ID)
			requests = append(requests, *e.Request)
		case e.Resolved != "":
			got = append(got, "resolved "+e.Resolved)
		case e.Received != "":
			got = append(got, "received "+e.Received)
		case e.Began != "":
			got = append(got, "began")
		default:
			got = append(got, "ended "+e.Ended[:18])
		}
	}
	assert.Equal(t, realEvents, got)
	require.Len(t, requests, 2)
	assert.Equal(t, []any{AsksCommand, "/bin/bash -lc 'touch /home/me/outside'", "/home/me/proj", "scripted reason", []Choice{Accept, Cancel}},
		[]any{requests[0].Kind, requests[0].Command, requests[0].Dir, requests[0].Reason, requests[0].Choices})
	assert.Equal(t, []any{AsksChange, "call_907d9825e1e9480d914b3989"}, []any{requests[1].Kind, requests[1].Call})
}

var realEvents = []string{"busy", "began", "received 9be1aa85-acc6-4d7e-b256-5716c3681735", "idle", "ended 01a218bf-f1a0-7a31",
	"busy", "began", "received 8c62c9be-0254-40cb-8bfb-54fd3fd2798d", "waiting", "asks 0", "resolved 0", "ended 01a218bf-f2a8-79a1", "asks 3"}

// A request that is open comes again after a restart, and its answer goes to the server.
func TestP8_OpenRequestComesAgain(t *testing.T) {
	s := newServer(t, thread1)
	s.status = `{"type":"active","activeFlags":["waitingOnApproval"]}`
	s.joined = []string{`{"id":3,"method":"item/commandExecution/requestApproval","params":{"threadId":"` + thread1.String() + `","command":"ls","availableDecisions":["accept","cancel"]}}`}
	c, err := Dial(t.Context(), s, s.process.PID, 7)
	require.NoError(t, err)
	defer c.Close()
	shown, err := c.Shown(t.Context(), nil, s.process.PID)
	require.NoError(t, err)
	joined, err := c.Join(t.Context(), shown)
	require.NoError(t, err)
	assert.True(t, joined.Asks)
	e, err := c.Next(t.Context(), joined)
	require.NoError(t, err)
	require.NotNil(t, e.Request)
	require.Error(t, c.Answer(t.Context(), *e.Request, "acceptForSession"), "it would change the person's rules")
	require.NoError(t, c.Answer(t.Context(), *e.Request, Decline))
	require.NoError(t, c.call(t.Context(), "thread/loaded/list", nil, nil), "the server has read the answer")
	assert.Contains(t, s.called(), `{"decision":"decline"}`)
}
