package reply

import (
	"context"
	"encoding/json"
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
	"ccbot/agent/jsonl"
	"ccbot/bot/inbox"
	"ccbot/internal/process"
	"ccbot/internal/prompts"
	"ccbot/internal/session"
	"ccbot/internal/watch"
	"ccbot/lifecycle/outcome"
	"ccbot/port/news"
	"ccbot/port/talk"
)

func agentsIn(config string) agent.Agents {
	return agent.Agents{agent.Default: claude.New(filepath.Join(config, "projects"), agent.Launch{}, nil)}
}

// TestOutcome is the whole rule.
func TestOutcome(t *testing.T) {
	running := session.Record{Name: "api", State: session.Running}
	asking := session.Record{Name: "api", State: session.Running, Run: session.Run{Phase: string(talk.PhaseWaitingPermission), PhaseWhat: "Bash"}}
	over := session.Record{Name: "api", State: session.Lost}
	typed := inbox.Entry{State: inbox.Typing, Typing: &talk.Mark{}}
	command := inbox.Entry{State: inbox.Typing, Typing: &talk.Mark{}, Text: "/clear", Class: talk.ClassCommand}
	said := func(over talk.Ending, texts ...string) talk.Reply {
		return talk.Reply{Ending: over, Texts: texts, Failure: talk.Failure{Text: "API Error"}}
	}
	tests := []struct {
		name string
		seen seen
		text string
		err  string // empty without a text: the wait continues
	}{
		{"it waits in the queue", seen{record: running, entry: inbox.Entry{State: inbox.Held}}, "", ""},
		{"it is typed", seen{record: running, entry: typed}, "", ""},
		{"it is delivered", seen{record: running, entry: typed, finished: true}, "", ""},
		{"the agent works", seen{record: running, entry: typed, finished: true, answer: said(jsonl.Runs, "I look.")}, "", ""},
		{"it has answered", seen{record: running, entry: typed, finished: true, answer: said(talk.EndedTurn, "a", "b")}, "a\n\nb", ""},
		{"and is over since", seen{record: over, entry: typed, finished: true, answer: said(talk.EndedTurn, "a")}, "a", ""},
		{"and asks again since", seen{record: asking, entry: typed, finished: true, answer: said(talk.EndedTurn, "a")}, "a", ""},
		{"no text", seen{record: running, entry: typed, finished: true, answer: said(talk.EndedTurn)}, "", "without a text"},
		{"stopped", seen{record: running, entry: typed, finished: true, answer: said(talk.StoppedTurn, "a")}, "", "was stopped"},
		{"failed", seen{record: running, entry: typed, finished: true, answer: said(talk.FailedTurn)}, "", "has failed: API Error"},
		{"taken back", seen{record: running, finished: true}, "", "taken out of the queue"},
		{"not proven", seen{record: running, entry: inbox.Entry{State: inbox.Unproven}}, "", "not proven"},
		{"asked about", seen{record: running, entry: inbox.Entry{State: inbox.Asked}}, "", "waits for an answer in the chat"},
		{"over before it answered", seen{record: over, entry: typed, finished: true, answer: said(jsonl.Runs, "a")}, "", "api has ended (lost)"},
		{"its agent has ended", seen{record: running, entry: typed, finished: true, gone: true}, "", "the agent of api has ended"},
		{"its agent asks", seen{record: running, entry: typed, finished: true, asks: true}, "", "api asks for something"},
		{"a command is done", seen{record: running, entry: command, finished: true, idle: outcome.Settled}, "", "api has done /clear, which prints nothing"},
		{"a command runs", seen{record: running, entry: command, finished: true}, "", ""},
		{"an idle agent whose transcript is late", seen{record: running, entry: typed, finished: true, idle: outcome.Settled}, "", ""},
		{"an agent that was stopped before its first word", seen{record: running, entry: typed, finished: true, idle: outcome.Silence}, "", "api is idle again"},
		{"it asks", seen{record: asking, entry: typed, finished: true, answer: said(jsonl.Runs)}, "", "api asks for something (Bash)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text, over, err := tt.seen.outcome()
			assert.Equal(t, tt.text, text)
			assert.Equal(t, tt.text != "" || tt.err != "", over)
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.err)
		})
	}
}

// TestTyped: without a bot a prompt is waited for until the agent has it, and not while the agent
// is busy.
func TestTyped(t *testing.T) {
	running := session.Record{Name: "api", State: session.Running}
	tests := []struct {
		name string
		seen seen
		over bool
		err  string
	}{
		{"in the queue", seen{record: running, entry: inbox.Entry{State: inbox.Held}}, false, ""},
		{"being typed", seen{record: running, entry: inbox.Entry{State: inbox.Typing, Typing: &talk.Mark{}}}, false, ""},
		{"the agent has it", seen{record: running, entry: inbox.Entry{Typing: &talk.Mark{}, Reported: []news.Wait{news.Queued}}, finished: true}, true, ""},
		{"the agent works", seen{record: running, entry: inbox.Entry{State: inbox.Held, Reported: []news.Wait{news.Queued}}}, true, "api does not take the prompt now"},
		{"the session is over", seen{record: session.Record{Name: "api", State: session.Lost}, entry: inbox.Entry{State: inbox.Held}}, true, "api has ended (lost)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			over, err := tt.seen.typed()
			assert.Equal(t, tt.over, over)
			if tt.err == "" {
				require.NoError(t, err)
				return
			}
			assert.ErrorContains(t, err, tt.err)
		})
	}
}

// TestPresenceShowsDialogWithoutBot: the phase in the record is from the time of the
// last bot.
func TestPresenceShowsDialogWithoutBot(t *testing.T) {
	watcher := watch.New(slog.New(slog.DiscardHandler))
	go func() { _ = watcher.Run(t.Context()) }()
	for status, want := range map[string]string{"busy": "api does not take the prompt now", "waiting": "api asks for something (input needed)"} {
		dir, id, key, now := t.TempDir(), uuid.New(), talk.PromptKey(uuid.New()), time.Now().UTC()
		write(t, filepath.Join(dir, "ccbot/sessions", id.String()+".json"), session.Record{Version: session.Version, ID: id,
			AgentSessionID: id, Name: "api", Dir: "/src", State: session.Running, CreatedAt: now, UpdatedAt: now,
			Run: session.Run{Binding: &session.Binding{Agent: process.Identity{PID: 42, Start: 7}}, Phase: string(talk.PhaseWaitingPermission), PhaseWhat: "Bash"}})
		write(t, filepath.Join(dir, "ccbot/inbox", key+".json"), inbox.Entry{Version: inbox.Version, Key: key,
			State: inbox.Held, Session: id, Received: now, Text: "fix it", Reported: []news.Wait{"queued"}})
		write(t, filepath.Join(dir, "claude/sessions/42.json"),
			map[string]any{"pid": 42, "procStart": 7, "sessionId": id, "status": status, "waitingFor": "input needed"})
		w := Waiter{Dir: filepath.Join(dir, "ccbot"), Agents: agentsIn(filepath.Join(dir, "claude")), Watch: watcher,
			Ended: func(ctx context.Context, _ process.Identity) error { <-ctx.Done(); return ctx.Err() }}
		require.ErrorContains(t, w.Typed(t.Context(), id, key), want)
	}
}

func write(t *testing.T, path string, v any) {
	t.Helper()
	data, err := json.Marshal(v)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path+"~", data, 0o600))
	require.NoError(t, os.Rename(path+"~", path))
}

// TestWait: what comes late is noticed, and the end of the context ends it.
func TestWait(t *testing.T) {
	dir, id, claude := t.TempDir(), uuid.New(), uuid.New()
	key := talk.PromptKey(uuid.New())
	now := time.Now().UTC()
	r := session.Record{Version: session.Version, ID: id, Name: "api", Dir: "/src", State: session.Running, AgentSessionID: claude, CreatedAt: now, UpdatedAt: now}
	e := inbox.Entry{Version: inbox.Version, Key: key, State: inbox.Held, Session: id, Received: now, Text: "fix it"}
	write(t, filepath.Join(dir, "sessions", id.String()+".json"), r)
	write(t, filepath.Join(dir, "inbox", key+".json"), e)

	watcher := watch.New(slog.New(slog.DiscardHandler))
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	go func() { _ = watcher.Run(ctx) }()
	w := Waiter{Dir: dir, Agents: agentsIn(dir), Watch: watcher}
	gone, leave := context.WithCancel(ctx)
	leave()
	_, err := w.Wait(gone, id, key)
	require.ErrorIs(t, err, context.Canceled)

	answered := make(chan string, 1)
	go func() { text, err := w.Wait(ctx, id, key); assert.NoError(t, err); answered <- text }()
	e.State, e.Typing = inbox.Typing, &talk.Mark{At: now.Add(-time.Second), AgentSessionID: claude}
	write(t, filepath.Join(dir, "inbox", key+".json"), e)
	path := filepath.Join(dir, "projects", "-src", claude.String()+".jsonl")
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	at := now.Format(time.RFC3339)
	lines := `{"type":"user","uuid":"u1","timestamp":"` + at + `","message":{"role":"user","content":"fix it"}}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	require.NoError(t, os.Rename(filepath.Join(dir, "inbox", key+".json"), filepath.Join(dir, "inbox", key+".done")))
	lines = `{"type":"assistant","uuid":"a1","timestamp":"` + at + `","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Done."}]}}` + "\n" +
		`{"type":"system","subtype":"turn_duration","uuid":"s1","timestamp":"` + at + `","durationMs":1}` + "\n"
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(lines)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	assert.Equal(t, "Done.", <-answered)
}

// TestP6_UnreadableAgentIsNotIdle: the time in which nothing is known of the agent is not idle
// time.
func TestP6_UnreadableAgentIsNotIdle(t *testing.T) {
	dir := t.TempDir()
	agent := process.Identity{PID: 4711, Start: 12}
	file := filepath.Join(dir, "sessions", "4711.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
	l := &looking{Waiter: Waiter{Agents: agentsIn(dir)}, agent: agent, changed: make(chan struct{}, 1)}
	look := func(text string) time.Duration {
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		now := seen{finished: true, record: session.Record{Run: session.Run{Binding: &session.Binding{Agent: agent}}}}
		l.readAgent(t.Context(), nil, &now)
		return now.idle
	}
	const idle = `{"pid":4711,"sessionId":"1d7f7a04-6ba1-4a50-a3ae-2c0c2e3e5a11","procStart":"12","status":"idle"}`
	look(idle)
	require.False(t, l.idle.IsZero())
	l.idle = l.idle.Add(-time.Hour)
	assert.GreaterOrEqual(t, look(idle), time.Hour)
	look("torn")
	assert.Less(t, look(idle), time.Hour)
}

// TestP4_WaitForDiscardedPrompt: a prompt that a stop has brought back, and that a person has
// discarded, was taken out, although it was typed once.
func TestP4_WaitForDiscardedPrompt(t *testing.T) {
	dir, key := t.TempDir(), talk.PromptKey(uuid.New())
	write(t, filepath.Join(dir, "inbox", key+".done"), inbox.Entry{Version: inbox.Version, Key: key, State: inbox.Asked, Received: time.Now().UTC(), Text: "fix it"})
	write(t, filepath.Join(dir, "prompts", key+".delivered"), prompts.Prompt{Version: prompts.Version, Key: key, Number: 1, State: prompts.Typing, Mark: &talk.Mark{}})
	e, finished, err := (&looking{Waiter: Waiter{Dir: dir}, key: key}).entry()
	require.NoError(t, err)
	assert.True(t, finished)
	assert.Nil(t, e.Typing)
}
