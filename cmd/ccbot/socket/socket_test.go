package socket

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/cmd/ccbot/ccbottest"
	"ccbot/hooks"
	"ccbot/internal/control"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
	"ccbot/port/refusal"
)

// TestP9_PermittedCallers is the whole rule.
func TestP9_PermittedCallers(t *testing.T) {
	at := func(pid, tty int) process.Process {
		return process.Process{Identity: process.Identity{PID: pid}, TTY: tty}
	}
	inTerminal := control.Peer{Chain: []process.Process{at(9, 34816), at(1, 0)}, Whole: true}
	hidden := control.Peer{Chain: []process.Process{at(9, 34816)}}
	orphan := control.Peer{Chain: []process.Process{at(9, 0), at(1, 0)}, Whole: true}
	none := evidence.Above{}
	ours := evidence.Above{Found: true, Session: uuid.New()}
	nested := evidence.Above{Found: true} // such as a claude -p below an agent of ccbot
	change := "archive"
	tests := []struct {
		name  string
		verb  string
		peer  control.Peer
		above evidence.Above
		ok    bool
	}{
		{"a hook of ours", hookwire.VerbPermission, inTerminal, ours, true},
		{"a hook of ours without a terminal", hookwire.VerbPermission, orphan, ours, true},
		{"a hook of ours whose way up is hidden above the agent", hookwire.VerbPermission, hidden, ours, true},
		{"a file of ours", hookwire.VerbSend, inTerminal, ours, true},
		{"a file of ours, from the background", hookwire.VerbSend, orphan, ours, true},
		{"an agent that changes something", change, inTerminal, ours, false},
		{"a hook of an agent of nobody's", hookwire.VerbPermission, inTerminal, nested, false},
		{"a file of an agent of nobody's", hookwire.VerbSend, inTerminal, nested, false},
		{"an agent of nobody's that changes something", change, inTerminal, nested, false},
		{"a hook of nobody", hookwire.VerbPermission, inTerminal, none, false},
		{"a file of a person in a terminal", hookwire.VerbSend, inTerminal, none, false},
		{"a file of an orphan", hookwire.VerbSend, orphan, none, false},
		{"a person in a terminal", change, inTerminal, none, true},
		{"an orphan", change, orphan, none, false},
		{"nobody knows", change, hidden, none, false},
		{"nobody", change, control.Peer{}, none, false},
		{"a recovery for an agent", "recover", inTerminal, ours, false},
		{"a recovery for an orphan", "recover", orphan, none, false},
		{"a recovery for a person", "recover", inTerminal, none, true},
		{"a prompt for an agent", "prompt", inTerminal, ours, false},
		{"a prompt for a person", "prompt", inTerminal, none, true},
		{"a new session for an agent", "new", inTerminal, ours, false},
		{"a resume for an agent", "resume", inTerminal, ours, false},
		{"a resume for an agent of nobody's", "resume", inTerminal, nested, false},
		{"a resume for who cannot be seen", "resume", hidden, none, false},
		{"a resume for a person", "resume", inTerminal, none, true},
		{"a forgetting for an agent", "forget", inTerminal, ours, false},
		{"a forgetting for who cannot be seen", "forget", hidden, none, false},
		{"a forgetting for a person", "forget", inTerminal, none, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Permitted(tt.verb, tt.peer, tt.above)
			refusal := (*control.Refusal)(nil)
			if tt.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorAs(t, err, &refusal)
			assert.Equal(t, control.CodeForbidden, refusal.Code)
			assert.NotEmpty(t, refusal.Text)
		})
	}
}

// around is a socket with fakes, and records their calls.
type around struct {
	above   evidence.Above
	unknown error
	unnamed error
	hook    string // its path; hookPath without one
	wait    func(ctx context.Context, q hooks.Request) (hooks.Decision, error)
	send    func(ctx context.Context) error

	asked []hooks.Request
	sent  []string
}

func (a *around) AgentAbove(context.Context, []process.Process) (evidence.Above, error) {
	return a.above, a.unknown
}

func (a *around) Named(context.Context, evidence.Above, uuid.UUID) error { return a.unnamed }

func (a *around) Wait(ctx context.Context, _ agent.Asks, q hooks.Request) (hooks.Decision, error) {
	a.asked = append(a.asked, q)
	return a.wait(ctx, q)
}

func (a *around) SendFile(ctx context.Context, session uuid.UUID, path, caption string) error {
	a.sent = append(a.sent, fmt.Sprintf("%s %s %s", session, path, caption))
	return a.send(ctx)
}

func (a *around) socket() Socket {
	now, log := func() time.Time { return at }, slog.New(slog.DiscardHandler)
	known := agent.Agents{agent.Default: claude.New("", agent.Launch{}, nil), "quiet": {}}
	return Socket{Agents: a, Coding: known, Relay: a, Files: a, Hook: cmp.Or(a.hook, hookPath), now: now, Log: log}
}

var (
	allowed = hooks.Decision(`{"behavior":"allow"}`)

	at   = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	hook = process.Identity{PID: 9, Start: 90, Boot: "b"}
	who  = process.Identity{PID: 5, Start: 50, Boot: "b"}
)

const hookPath = "/opt/bin/ccbot-hook"

func peerBelow() control.Peer {
	return control.Peer{PID: hook.PID, Chain: []process.Process{
		{Identity: hook, PPID: 7, Exe: hookPath}, {Identity: process.Identity{PID: 7, Start: 70, Boot: "b"}, PPID: 5, Exe: "/usr/bin/dash"},
		{Identity: who, PPID: 1, Exe: "/opt/claude"}}}
}

// TestP9_OnlyOurHookAsks: any other program below an agent could make requests up, and take all
// places of a session.
func TestP9_OnlyOurHookAsks(t *testing.T) {
	dir := t.TempDir()
	file, link, other := filepath.Join(dir, "ccbot-hook"), filepath.Join(dir, "link"), filepath.Join(dir, "python3")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	require.NoError(t, os.WriteFile(other, []byte("x"), 0o600))
	require.NoError(t, os.Symlink(file, link))
	tests := []struct {
		name string
		exes []string // upwards, below the agent
		hook string
		want bool
	}{
		{"run without a shell", []string{file}, file, true},
		{"run by the agent's shell", []string{file, "/usr/bin/dash"}, file, true},
		{"run by hand in a tool's shell", []string{file, "/bin/busybox", "/usr/bin/bash"}, file, true},
		{"upgraded while it waits", []string{"/gone/ccbot-hook (deleted)", "/bin/sh (deleted)"}, "/gone/ccbot-hook", true},
		{"known by a link", []string{file}, link, true},
		{"run as a link", []string{link}, file, true},
		{"another program", []string{other, "/usr/bin/dash"}, file, false},
		{"another program of that name", []string{"/tmp/ccbot-hook", "/usr/bin/dash"}, file, false},
		{"a shell", []string{"/usr/bin/bash"}, file, false},
		{"run by another program", []string{file, other}, file, false},
		{"run by another program's shell", []string{file, "/usr/bin/dash", other}, file, false},
		{"it cannot be seen what it is", []string{""}, file, false},
		{"nor what ours is", []string{""}, "", false},
		{"it cannot be seen what runs it", []string{file, ""}, file, false},
		{"nobody", nil, file, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var chain []process.Process
			for i, exe := range tt.exes {
				chain = append(chain, process.Process{Identity: process.Identity{PID: 100 - i, Start: 90, Boot: "b"}, Exe: exe})
			}
			above := append(chain, process.Process{Identity: who, Exe: "/opt/claude"})
			s, found := Socket{Hook: tt.hook}, evidence.Above{Agent: who}
			assert.Equal(t, tt.want, s.fromHook(above, found))
			assert.False(t, s.fromHook(chain, found), "below no agent")
		})
	}
	a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
	s, forged := a.socket(), peerBelow()
	forged.Chain[0].Exe = "/usr/bin/python3"
	_, err := s.checked(s.permission)(t.Context(), forged, permission(t, asItIs))
	refusal := (*control.Refusal)(nil)
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, control.CodeForbidden, refusal.Code)
	assert.Empty(t, a.asked)
}

// A request dated in the far future would never end.
func TestP9_RequestTimeIsLimited(t *testing.T) {
	for name, tt := range map[string]struct{ says, is time.Duration }{
		"now": {0, 0}, "a little ago": {-time.Minute, -time.Minute}, "a redial": {-14 * time.Minute, -14 * time.Minute},
		"in a second": {time.Second, 0}, "in 290 years": {290 * 365 * 24 * time.Hour, 0}, "long ago": {-24 * time.Hour, -oldestAsk},
	} {
		t.Run(name, func(t *testing.T) {
			a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
			a.wait = func(context.Context, hooks.Request) (hooks.Decision, error) {
				return nil, nil
			}
			s := a.socket()
			_, err := s.checked(s.permission)(t.Context(), peerBelow(), permission(t, func(_ *hookwire.Call, a *hookwire.Ask) {
				a.Received = at.Add(tt.says)
			}))
			require.NoError(t, err)
			require.Len(t, a.asked, 1)
			assert.Equal(t, at.Add(tt.is), a.asked[0].RequestedAt)
		})
	}
}

// permission is a good call of a hook. It says that it is of another session, which counts for
// nothing.
func permission(t *testing.T, change func(c *hookwire.Call, a *hookwire.Ask)) hookwire.Call {
	t.Helper()
	a := hookwire.Ask{Received: time.Now(), Launch: uuid.NewString(), AgentPID: 4711, AgentStart: 1, Boot: "b",
		SessionID: uuid.NewString(), Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}
	c := hookwire.Call{Version: hookwire.WireVersion, Verb: hookwire.VerbPermission, ID: hookwire.NewRequestID()}
	change(&c, &a)
	if c.Body == nil {
		body, err := json.Marshal(a)
		require.NoError(t, err)
		c.Body = body
	}
	return c
}

func asItIs(*hookwire.Call, *hookwire.Ask) {}

func TestPermissionIsAnsweredByTheRelay(t *testing.T) {
	tests := []struct {
		name string
		d    hooks.Decision
		want string
	}{
		{"allowed", allowed, `{"decision":{"behavior":"allow"}}`},
		{"denied", hooks.Decision(`{"behavior":"deny","message":"no"}`), `{"decision":{"behavior":"deny","message":"no"}}`},
		{"left to the terminal", nil, `{}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
			a.wait = func(context.Context, hooks.Request) (hooks.Decision, error) { return tt.d, nil }
			s := a.socket()
			c := permission(t, asItIs)
			body, err := s.checked(s.permission)(t.Context(), peerBelow(), c)
			require.NoError(t, err)
			assert.JSONEq(t, tt.want, string(body))
			require.Len(t, a.asked, 1)
			assert.Equal(t, c.ID, a.asked[0].ID)
			assert.Equal(t, a.above.Session, a.asked[0].Session)
			assert.Equal(t, who.Text(), a.asked[0].Agent)
			assert.Equal(t, hook.Text(), a.asked[0].Hook)
		})
	}
}

// TestP9_RequestNamesItsTranscriptOnly: the bot reads that file later.
func TestP9_RequestNamesItsTranscriptOnly(t *testing.T) {
	projects, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	conversation := uuid.New()
	own := filepath.Join(projects, "-src", conversation.String()+".jsonl")
	for path, want := range map[string]string{
		own: own, "/etc/passwd": "", filepath.Join(projects, "-src", uuid.NewString()+".jsonl"): "", "": "",
		filepath.Join(projects, "..", "-src", conversation.String()+".jsonl"): "",
	} {
		t.Run(path, func(t *testing.T) {
			a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
			a.wait = func(context.Context, hooks.Request) (hooks.Decision, error) {
				return nil, nil
			}
			s := a.socket()
			s.Coding = agent.Agents{agent.Default: claude.New(projects, agent.Launch{}, nil)}
			_, err := s.checked(s.permission)(t.Context(), peerBelow(), permission(t, func(_ *hookwire.Call, a *hookwire.Ask) {
				a.SessionID, a.TranscriptPath = conversation.String(), path
			}))
			require.NoError(t, err)
			require.Len(t, a.asked, 1)
			assert.Equal(t, want, a.asked[0].Transcript)
		})
	}
}

// TestP9_RequestOfOtherConversationIsRefused: its outcome would be read in another session's
// transcript.
func TestP9_RequestOfOtherConversationIsRefused(t *testing.T) {
	for _, why := range []error{hooks.ErrContradicted, hooks.ErrNotNamed} {
		a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}, unnamed: why}
		s := a.socket()
		_, err := s.checked(s.permission)(t.Context(), peerBelow(), permission(t, asItIs))
		refusal := (*control.Refusal)(nil)
		require.ErrorAs(t, err, &refusal)
		assert.Equal(t, control.CodeForbidden, refusal.Code)
		assert.Empty(t, a.asked)
	}
}

// TestP9_InvalidPermissionRequestIsRefused: neither the relay nor the chat.
func TestP9_InvalidPermissionRequestIsRefused(t *testing.T) {
	ours := evidence.Above{Found: true, Session: uuid.New(), Agent: who}
	tests := []struct {
		name    string
		above   evidence.Above
		unknown error
		change  func(c *hookwire.Call, a *hookwire.Ask)
		code    string // empty: not for the client
	}{
		{"nobody above", evidence.Above{}, nil, asItIs, control.CodeForbidden},
		{"of an agent that asks only in its terminal", evidence.Above{Found: true, Session: ours.Session, AgentName: "quiet", Agent: who}, nil, asItIs, control.CodeForbidden},
		{"of a nested agent", evidence.Above{Found: true, Agent: who}, nil, asItIs, control.CodeForbidden},
		{"nobody knows who is above", ours, errors.New("unreadable"), asItIs, ""},
		{"no id", ours, nil, func(c *hookwire.Call, _ *hookwire.Ask) { c.ID = "" }, control.CodeMalformed},
		{"an id that is a path", ours, nil, func(c *hookwire.Call, _ *hookwire.Ask) { c.ID = "../../../../../../etc/x" }, control.CodeMalformed},
		{"an id that is too long", ours, nil, func(c *hookwire.Call, _ *hookwire.Ask) { c.ID += "A" }, control.CodeMalformed},
		{"no body", ours, nil, func(c *hookwire.Call, _ *hookwire.Ask) { c.Body = json.RawMessage(`null`) }, control.CodeMalformed},
		{"no session", ours, nil, func(_ *hookwire.Call, a *hookwire.Ask) { a.SessionID = "" }, control.CodeMalformed},
		{"no tool", ours, nil, func(_ *hookwire.Call, a *hookwire.Ask) { a.Tool = "" }, control.CodeMalformed},
		{"an input that is a list", ours, nil, func(_ *hookwire.Call, a *hookwire.Ask) { a.Input = json.RawMessage(`[]`) }, control.CodeMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &around{above: tt.above, unknown: tt.unknown}
			s := a.socket()
			_, err := s.checked(s.permission)(t.Context(), peerBelow(), permission(t, tt.change))
			require.Error(t, err)
			refusal := (*control.Refusal)(nil)
			if errors.As(err, &refusal) {
				assert.Equal(t, tt.code, refusal.Code)
			} else {
				assert.Empty(t, tt.code)
			}
			assert.Empty(t, a.asked)
		})
	}
}

// TestP10_BrokenConnectionGetsNoAnswer: the hook must not take the end of this program
// for one.
func TestP10_BrokenConnectionGetsNoAnswer(t *testing.T) {
	a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
	ctx, cancel := context.WithCancelCause(t.Context())
	a.wait = func(ctx context.Context, _ hooks.Request) (hooks.Decision, error) {
		cancel(control.ErrGone)
		<-ctx.Done()
		return nil, nil
	}
	s := a.socket()
	_, err := s.checked(s.permission)(ctx, peerBelow(), permission(t, asItIs))
	require.ErrorIs(t, err, control.ErrGone)
	a.wait = func(context.Context, hooks.Request) (hooks.Decision, error) {
		return allowed, nil
	}
	_, err = s.checked(s.permission)(ctx, peerBelow(), permission(t, asItIs))
	require.NoError(t, err, "a decision that was made is told, if anybody still listens")
}

// TestP10_HookWaitSurvivesRestart: the hook's own client against the socket. It asks the next
// ccbot the same, and no end of a ccbot is an answer.
func TestP10_HookWaitSurvivesRestart(t *testing.T) {
	dir := ccbottest.SocketDir(t)
	waiting := make(chan hooks.Request, 1)
	// This program is the hook, and its parent is the agent.
	me, err := os.Executable()
	require.NoError(t, err)
	table, err := process.NewTable()
	require.NoError(t, err)
	parent, err := table.Identify(os.Getppid())
	require.NoError(t, err)
	first := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: parent}, hook: me}
	first.wait = func(ctx context.Context, q hooks.Request) (hooks.Decision, error) {
		waiting <- q
		<-ctx.Done()
		return nil, nil
	}
	second := &around{above: first.above, hook: me}
	second.wait = func(_ context.Context, q hooks.Request) (hooks.Decision, error) {
		waiting <- q
		return allowed, nil
	}
	stop := serving(t, first, dir)
	answered := make(chan string, 1)
	go func() {
		answer, err := hookwire.Relay(t.Context(), dir, hookwire.Ask{Received: time.Now(), SessionID: uuid.NewString(), Tool: "Bash",
			Input: json.RawMessage(`{"command":"ls"}`)})
		answered <- fmt.Sprint(string(answer.Decision), err)
	}()
	before := <-waiting
	stop()
	serving(t, second, dir)
	after := <-waiting
	assert.Equal(t, before.ID, after.ID)
	assert.Equal(t, before.Hook, after.Hook)
	assert.Regexp(t, fmt.Sprintf(`^%d\.`, os.Getpid()), after.Hook)
	assert.Equal(t, `{"behavior":"allow"}<nil>`, <-answered)
}

// TestP9_ForeignClientIsRefused: this one, below its agent, with the hook's own
// client.
func TestP9_ForeignClientIsRefused(t *testing.T) {
	table, err := process.NewTable()
	require.NoError(t, err)
	parent, err := table.Identify(os.Getppid())
	require.NoError(t, err)
	a, dir := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: parent}}, ccbottest.SocketDir(t)
	stop := serving(t, a, dir)
	_, err = hookwire.Relay(t.Context(), dir, hookwire.Ask{Received: time.Now(), SessionID: uuid.NewString(), Tool: "Bash",
		Input: json.RawMessage(`{"command":"ls"}`)})
	require.ErrorIs(t, err, hookwire.ErrRefused)
	stop()
	assert.Empty(t, a.asked)
}

func TestRequestRefusedByRelay(t *testing.T) {
	a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
	a.wait = func(context.Context, hooks.Request) (hooks.Decision, error) {
		return nil, fmt.Errorf("too many: %w", hooks.ErrRefused)
	}
	s := a.socket()
	_, err := s.checked(s.permission)(t.Context(), peerBelow(), permission(t, asItIs))
	refusal := (*control.Refusal)(nil)
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, control.CodeRefused, refusal.Code)
}

func TestSendThroughTheSocket(t *testing.T) {
	tests := []struct {
		name string
		body string
		err  error
		want string
		code string
	}{
		{"sent", `{"path":"/a b","caption":"c","session":"another"}`, nil, `{}`, ""},
		{"refused", `{"path":"/a b","caption":"c"}`, &refusal.Error{Code: refusal.FileEmpty}, "", "it is empty"},
		{"missing", `{"path":"/a b","caption":"c"}`, &refusal.Error{Code: refusal.FileMissing, Reason: "no such file or directory"}, "", "there is no such file"},
		{"not readable", `{"path":"/a b","caption":"c"}`, &refusal.Error{Code: refusal.FileUnreadable, Reason: "permission denied"}, "", "it cannot be read: permission denied"},
		{"failed", `{"path":"/a b","caption":"c"}`, errors.New("disk"), "", ""},
		{"failed in a way that is none of a file's", `{"path":"/a b","caption":"c"}`, &refusal.Error{Code: refusal.NoTmux}, "", ""},
		{"malformed", `[]`, nil, "", control.CodeMalformed},
		{"no body", ``, nil, "", control.CodeMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := &around{above: evidence.Above{Found: true, Session: uuid.New(), Agent: who}}
			a.send = func(context.Context) error { return tt.err }
			s := a.socket()
			body, err := s.checked(s.send)(t.Context(), peerBelow(), hookwire.Call{Verb: hookwire.VerbSend, Body: json.RawMessage(tt.body)})
			refusal := (*control.Refusal)(nil)
			if errors.As(err, &refusal) {
				assert.Contains(t, []string{tt.code + ": " + refusal.Text, control.CodeRefused + ": " + tt.code}, refusal.Error())
			}
			assert.Equal(t, tt.want == "", err != nil)
			assert.Equal(t, tt.want, string(body))
			if tt.code != control.CodeMalformed {
				assert.Equal(t, []string{a.above.Session.String() + " /a b c"}, a.sent, "the session is the one above")
			} else {
				assert.Empty(t, a.sent)
			}
		})
	}
}

// serving runs a socket in a folder until stop, or the end of the test.
func serving(t *testing.T, a *around, dir string) (stop func()) {
	t.Helper()
	table, err := process.NewTable()
	require.NoError(t, err)
	return ccbottest.Serve(t, a.socket().server(dir, table, nil), dir)
}
