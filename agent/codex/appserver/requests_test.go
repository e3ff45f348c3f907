package appserver

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/internal/jsonrpc"
	"ccbot/internal/waittest"
	"ccbot/internal/watch"
	"ccbot/internal/watch/watchtest"
)

var _ agent.Requests = &Requests{}

type patches map[string]string

func (p patches) Patch(_ context.Context, _ uuid.UUID, call string) string { return p[call] }

// opened is a request that waits.
type opened struct {
	agent.Open
	ctx    context.Context
	answer chan json.RawMessage
}

// watched watches the server until the test ends, and returns the requests that wait.
func watched(t *testing.T, s *server, calls patches) <-chan opened {
	t.Helper()
	all := make(chan opened, 10)
	r := &Requests{Calls: calls}
	r.Connect(func(ctx context.Context, o agent.Open) (json.RawMessage, error) {
		one := opened{o, ctx, make(chan json.RawMessage)}
		all <- one
		select {
		case output := <-one.answer:
			return output, nil
		case <-ctx.Done():
			return nil, nil
		}
	})
	watchedBy(t, s, Presences{Folder: t.TempDir(), Requests: r}, func() bool { return true }, func(int) {})
	return all
}

// watchedBy lets p watch the server until the test ends, whose lock is held if isLocked says so.
func watchedBy(t *testing.T, s *server, p Presences, isLocked func() bool, changed func(pid int)) {
	t.Helper()
	p.Processes, p.Held = s, func() (map[int][]uuid.UUID, error) {
		if !isLocked() {
			return nil, nil
		}
		return map[int][]uuid.UUID{s.process.PID: {thread1}}, nil
	}
	folders := watchtest.Run(t, watch.New(slog.New(slog.DiscardHandler)))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { _ = p.Watch(ctx, folders, slog.New(slog.DiscardHandler), changed); close(done) }()
	t.Cleanup(func() { cancel(); <-done })
}

func asks(id int, kind Kind, params string) string {
	return `{"id":` + strconv.Itoa(id) + `,"method":"` + string(kind) + `","params":{"threadId":"` + thread1.String() + `",` + params + `}}`
}

func resolved(id int) string {
	return `{"method":"serverRequest/resolved","params":{"threadId":"` + thread1.String() + `","requestId":` + strconv.Itoa(id) + `}}`
}

// The terminal and the chat are asked together, and the first answer ends the wait.
func TestRequestWaitsUntilAnswered(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{asks(3, AsksCommand, `"itemId":"c1","command":"ls","cwd":"/w","reason":"why","kind":"command"`), asks(4, AsksChange, `"itemId":"c2"`),
		asks(3, AsksCommand, `"itemId":"c1","command":"ls"`)}
	all := watched(t, s, patches{"c2": "*** Begin Patch"})
	byID := map[string]opened{}
	for range 2 {
		one := <-all
		byID[one.ID] = one
	}
	first, second := byID["3"], byID["4"]
	assert.Equal(t, agent.Open{PID: s.process.PID, ProcStart: 7, ID: "3", Conversation: thread1, Dir: "/w", Tool: "Bash",
		Input: json.RawMessage(`{"call":"c1","command":"ls","reason":"why"}`)}, first.Open)
	assert.JSONEq(t, `{"call":"c2","patch":"*** Begin Patch"}`, string(second.Input))
	s.toAll(resolved(4)) // the person at the terminal
	<-second.ctx.Done()
	require.NoError(t, first.ctx.Err())
	first.answer <- json.RawMessage(`"decline"`)
	waittest.Until(t, func() bool { return assert.ObjectsAreEqual(1, count(s.called(), `{"decision":"decline"}`)) })
	assert.Empty(t, all, "each waits once")
}

// The server may report that a request is over while the answer to it is still being written: the connection
// stays, and with it what the server says once only.
func TestAnswerThatIsOverKeepsConnection(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{asks(3, AsksCommand, `"itemId":"c1","command":"ls"`)}
	var joins atomic.Int32
	s.resumed = func(uuid.UUID) { joins.Add(1) }
	next := make(chan string, 10)
	r := &Requests{}
	r.Connect(func(ctx context.Context, o agent.Open) (json.RawMessage, error) {
		if o.ID == "4" {
			next <- o.ID
			return nil, nil
		}
		s.toAll(resolved(3))
		<-ctx.Done()
		return json.RawMessage(`"accept"`), nil
	})
	watchedBy(t, s, Presences{Folder: t.TempDir(), Requests: r}, func() bool { return true }, func(int) {})
	waittest.Until(t, func() bool { return count(s.called(), `{"decision":"accept"}`) == 1 })
	s.toAll(asks(4, AsksCommand, `"itemId":"c2","command":"ls"`))
	assert.Equal(t, "4", waittest.Next(t, next, "the next request"))
	assert.Equal(t, int32(1), joins.Load())
}

// begins is the start of a change of files, as the server reports it.
func begins(call, changes string) string {
	return `{"method":"item/started","params":{"threadId":"` + thread1.String() + `","item":{"type":"fileChange","id":"` + call + `","changes":[` + changes + `]}}}`
}

// A script's call has no line in the rollout: the server has its changes. What cannot be shown is left
// to the terminal.
func TestRequestHasChangesOfScript(t *testing.T) {
	for name, tt := range map[string]struct{ changes, patch string }{
		"a new file":      {`{"path":"/w/a","kind":{"type":"add"},"diff":"one\ntwo\n"}`, "*** Add File: /w/a\n+one\n+two\n"},
		"a deleted file":  {`{"path":"/w/a","kind":{"type":"delete"},"diff":"one"}`, "*** Delete File: /w/a\n-one\n"},
		"a changed file":  {`{"path":"/w/a","kind":{"type":"update","move_path":null},"diff":"@@ -1 +1 @@\n-one\n+two\n"}`, "*** Update File: /w/a\n@@ -1 +1 @@\n-one\n+two\n"},
		"a moved file":    {`{"path":"/w/a","kind":{"type":"update","move_path":"/w/b"},"diff":""}`, "*** Update File: /w/a\n*** Move to: /w/b\n"},
		"an unknown kind": {`{"path":"/w/a","kind":{"type":"add"},"diff":""},{"path":"/w/b","kind":{"type":"link"},"diff":"x"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, thread1)
			s.joined = []string{begins("exec-1", tt.changes), begins("exec-2", ""), asks(4, AsksChange, `"itemId":"exec-1"`), asks(5, AsksCommand, `"itemId":"c2","command":"ls"`)}
			all := watched(t, s, nil)
			byID := map[string]opened{}
			for len(byID) < 1 || tt.patch != "" && len(byID) < 2 {
				one := <-all
				byID[one.ID] = one
			}
			assert.Contains(t, byID, "5")
			if tt.patch == "" {
				assert.Empty(t, all)
				return
			}
			var in Input
			require.NoError(t, json.Unmarshal(byID["4"].Input, &in))
			assert.Equal(t, Input{Call: "exec-1", Patch: tt.patch}, in)
		})
	}
}

// A conversation that is joined while a script's patch waits for its permission gets no event of its start.
func TestRequestOfPatchThatBeganBefore(t *testing.T) {
	s := newServer(t, thread1)
	s.items = `{"type":"userMessage","id":"u"},{"type":"fileChange","id":"exec-1","changes":[{"path":"/w/a","kind":{"type":"add"},"diff":"one\n"}]}`
	s.joined = []string{asks(4, AsksChange, `"itemId":"exec-1"`)}
	all := watched(t, s, nil)
	var in Input
	require.NoError(t, json.Unmarshal(waittest.Next(t, all, "the request has a card").Input, &in))
	assert.Equal(t, Input{Call: "exec-1", Patch: "*** Add File: /w/a\n+one\n"}, in)
	assert.Empty(t, all, "it waits once, although the server repeats it")
}

// A subagent's request has no card: its dialog closes only by keys. It makes ccbot look at the screen, and
// so does a request to the API that is repeated.
func TestScreenIsLookedAt(t *testing.T) {
	for name, tt := range map[string]struct {
		line string
		seen bool
	}{
		"a request":       {`{"id":3,"method":"item/commandExecution/requestApproval","params":{"threadId":"` + thread2.String() + `","itemId":"c1","command":"ls"}}`, true},
		"a question":      {`{"id":3,"method":"item/tool/requestUserInput","params":{"threadId":"` + thread2.String() + `","itemId":"c1"}}`, true},
		"it was answered": {`{"method":"serverRequest/resolved","params":{"threadId":"` + thread2.String() + `","requestId":3}}`, true},
		"its own error":   {`{"method":"error","params":{"threadId":"` + thread1.String() + `","willRetry":true,"error":{"message":"Reconnecting... 2/4"}}}`, true},
		"what it does":    {`{"method":"turn/started","params":{"threadId":"` + thread2.String() + `","turn":{"id":"x"}}}`, false},
	} {
		var m jsonrpc.Message
		require.NoError(t, json.Unmarshal([]byte(tt.line), &m))
		e, seen := eventOf(m, Thread{ID: thread1})
		assert.Equal(t, tt.seen, seen, name)
		assert.Zero(t, e, name)
	}
}

// A request that survives a lost connection comes again with its id.
func TestP8_RequestComesAgainWithItsID(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{asks(3, AsksCommand, `"itemId":"c1","command":"ls"`)}
	all := watched(t, s, nil)
	first := <-all
	s.dropAll()
	<-first.ctx.Done()
	assert.Equal(t, first.Open, (<-all).Open)
}

// The terminal may show another conversation while the one before is being joined.
func TestShownConversationIsJoinedLast(t *testing.T) {
	s := newServer(t, thread1, thread2)
	var mu sync.Mutex
	asked, shown := 0, thread1
	moved := make(chan struct{}, 10)
	dir := t.TempDir()
	title := func(context.Context, int) string {
		mu.Lock()
		defer mu.Unlock()
		if asked++; asked == 2 {
			defer func() { moved <- struct{}{} }()
		}
		return shown.String() + " | Ready"
	}
	var joined []uuid.UUID
	s.resumed = func(id uuid.UUID) {
		mu.Lock()
		joined = append(joined, id)
		first := len(joined) == 1
		if first {
			shown = thread2
		}
		mu.Unlock()
		if first {
			assert.NoError(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
			<-moved
			time.Sleep(100 * time.Millisecond) // the answer of the check is on its way
		}
	}
	watchedBy(t, s, Presences{Folder: dir, Title: title, Requests: &Requests{}}, func() bool { return true }, func(int) {})
	waittest.Until(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(joined) > 1 && joined[len(joined)-1] == thread2
	})
}

// A server that stays silent while its conversation is joined is asked again: otherwise the card
// of a request that opens later would be missing.
func TestSilentServerIsJoinedAgain(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{asks(3, AsksCommand, `"itemId":"c1","command":"ls"`)}
	all := make(chan agent.Open, 10)
	r := &Requests{}
	r.Connect(func(_ context.Context, o agent.Open) (json.RawMessage, error) { all <- o; return nil, nil })
	ctx, cancel := context.WithCancel(t.Context())
	var asked atomic.Bool
	s.resumed = func(uuid.UUID) {
		if !asked.Swap(true) {
			<-ctx.Done()
		}
	}
	t.Cleanup(cancel) // before the server ends
	f := &follower{Presences: Presences{Processes: s, Requests: r}, pid: s.process.PID, log: slog.New(slog.DiscardHandler), changed: func() {},
		again: make(chan struct{}, 1), leave: func() {}, timeout: 3 * time.Second, lost: lostAfter}
	f.again <- struct{}{} // no pause
	done := make(chan struct{})
	go func() { f.run(ctx); close(done) }()
	assert.Equal(t, "3", waittest.Next(t, all, "the server is asked again").ID)
	cancel()
	<-done
}

// A request that began while its conversation was being joined may come to nobody. The conversation is
// joined once more, and not again if it asks something that nobody else gets.
func TestLostRequestComesToNextConnection(t *testing.T) {
	s := newServer(t, thread1)
	s.status = `{"type":"active","activeFlags":["waitingOnApproval"]}`
	all := make(chan agent.Open, 10)
	r := &Requests{}
	r.Connect(func(_ context.Context, o agent.Open) (json.RawMessage, error) { all <- o; return nil, nil })
	var joins atomic.Int32
	s.resumed = func(uuid.UUID) {
		if joins.Add(1) == 3 {
			s.joined = []string{asks(3, AsksCommand, `"itemId":"c1","command":"ls"`)}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	f := &follower{Presences: Presences{Processes: s, Requests: r}, pid: s.process.PID, log: slog.New(slog.DiscardHandler), changed: func() {},
		again: make(chan struct{}, 1), leave: func() {}, timeout: joinTimeout, lost: time.Millisecond}
	require.ErrorIs(t, f.joined(ctx), errLost)
	second := make(chan error, 1)
	go func() { second <- f.joined(ctx) }() // it stays
	waittest.Until(t, func() bool { return joins.Load() == 2 })
	time.Sleep(50 * time.Millisecond)
	assert.Empty(t, second)
	s.toAll(`{"method":"thread/status/changed","params":{"threadId":"` + thread1.String() + `","status":{"type":"idle"}}}`)
	s.toAll(`{"method":"thread/status/changed","params":{"threadId":"` + thread1.String() + `","status":{"type":"active","activeFlags":["waitingOnApproval"]}}}`)
	require.ErrorIs(t, waittest.Next(t, second, "another request is lost"), errLost)
	f.rejoined = false
	third := make(chan error, 1)
	f.lost = time.Hour
	go func() { third <- f.joined(ctx) }()
	assert.Equal(t, "3", waittest.Next(t, all, "the request comes").ID)
	cancel()
	<-third
}

// The status that says that the agent asks may be as lost as the request: it changes while the server
// answers. The conversation is joined once more all the same.
func TestRequestLostWithItsStatus(t *testing.T) {
	s := newServer(t, thread1)
	s.status = `{"type":"active","activeFlags":[]}`
	s.resumed = func(uuid.UUID) { s.status = `{"type":"active","activeFlags":["waitingOnApproval"]}` } // after the answer was made
	f := &follower{Presences: Presences{Processes: s}, pid: s.process.PID, log: slog.New(slog.DiscardHandler), changed: func() {},
		again: make(chan struct{}, 1), leave: func() {}, timeout: joinTimeout, lost: time.Millisecond}
	require.ErrorIs(t, f.joined(t.Context()), errLost)
}

// A request that permits more than the chat would show is left to the terminal.
func TestP7_RequestBeyondCommandIsLeft(t *testing.T) {
	s := newServer(t, thread1)
	s.joined = []string{
		asks(1, AsksCommand, `"command":"ls","additionalPermissions":{"network":{}}`), asks(2, AsksCommand, `"command":"ls","networkApprovalContext":{"host":"h"}`),
		asks(3, AsksCommand, `"command":"ls","kind":"network"`), asks(4, AsksCommand, `"command":"ls","approvalId":"a"`), asks(5, AsksCommand, `"command":null`),
		asks(6, AsksChange, `"itemId":"c","grantRoot":"/"`), asks(7, AsksChange, `"itemId":"not written"`), asks(8, AsksCommand, `"command":"last","approvalId":null,"additionalPermissions":null`),
	}
	all := watched(t, s, patches{"c": "*** Begin Patch"})
	assert.Equal(t, "8", (<-all).ID)
	assert.Empty(t, all)
}
