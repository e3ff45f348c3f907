package realclaude_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/e2e/messagesapi"
	"ccbot/e2e/realclaude"
	"ccbot/internal/waittest"
	"ccbot/try/demoagent/agenttest"
)

// sandbox is a folder, a home and an API for sessions of the real CLI.
type sandbox struct {
	t      *testing.T
	claude string
	cwd    string
	dirs   realclaude.Dirs
	api    *messagesapi.Server
	url    string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	r := &sandbox{t: t, claude: realclaude.Require(t), api: messagesapi.New(slog.New(slog.DiscardHandler))}
	cwd, err := os.MkdirTemp("", "ccbot-cwd-")
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, os.RemoveAll(cwd)) })
	r.cwd, r.dirs = cwd, realclaude.Home(t, cwd)

	l, err := messagesapi.Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- r.api.Run(ctx, l) }()
	t.Cleanup(func() {
		cancel()
		assert.NoError(t, <-done)
	})
	r.url = "http://" + l.Addr().String()
	return r
}

// start opens a session and waits until it is idle.
func (r *sandbox) start(args ...string) *agenttest.Terminal {
	r.t.Helper()
	w := agenttest.Start(r.t, agenttest.Spec{Argv: append([]string{r.claude}, args...), Env: r.dirs.Env(r.url), Dir: r.cwd})
	r.waitStatus(w, "idle")
	return w
}

func (r *sandbox) waitStatus(w *agenttest.Terminal, want string) {
	r.t.Helper()
	path := filepath.Join(r.dirs.Config, "sessions", strconv.Itoa(w.PID())+".json")
	waittest.Until(r.t, func() bool {
		data, err := os.ReadFile(path)
		var p struct{ Status string }
		return err == nil && json.Unmarshal(data, &p) == nil && p.Status == want
	}, "waiting for presence %q; the screen:\n%s", want, w.Screen())
}

func TestRealClaudeAgainstTheStandIn(t *testing.T) {
	r := newSandbox(t)
	id := uuid.NewString()
	w := r.start("--session-id", id)
	w.WaitFor("Claude Code v2.", "⏸ manual mode on", "\n❯\u00a0")

	w.Submit("say hi")
	w.WaitFor("❯ say hi", "● hi")
	r.waitStatus(w, "idle")

	// A command that changes files needs a permission; the CLI runs "echo hi" alone without asking.
	w.Submit("bash echo hi > made.txt; echo done")
	w.WaitFor("Do you want to proceed?")
	r.waitStatus(w, "waiting")
	w.Answer([]string{"Enter"}, "❯ 1. Yes", "No")
	w.WaitFor("● tool result: done")
	made, err := os.ReadFile(filepath.Join(r.cwd, "made.txt"))
	require.NoError(t, err)
	assert.Equal(t, "hi\n", string(made))
	r.waitStatus(w, "idle")

	w.Submit("ask")
	w.Answer([]string{"2"}, "☐ Database", "❯ 1. Postgres")
	w.Answer([]string{"1"}, "☒ Database", "❯ 1. Go")
	w.Answer([]string{"1"}, "Review your answers")
	w.WaitFor(`"Which database?"="SQLite"`)
	r.waitStatus(w, "idle")

	long := ""
	for i := range 90 {
		long += "\nline " + strconv.Itoa(i) + " of a pasted text"
	}
	w.Submit("say long" + long)
	waittest.Until(t, func() bool { _, ok := r.api.Asked("say long" + long); return ok })
	r.waitStatus(w, "idle")

	w.Submit("/exit")
	assert.Equal(t, "0", w.WaitDead())
	assert.Contains(t, w.History(), "--resume "+id)

	again := r.start("--resume", id)
	again.WaitFor("line 89 of a pasted text")
	again.Submit("say again")
	again.WaitFor("● again")
	request, ok := r.api.Asked("say again")
	require.True(t, ok)
	assert.True(t, request.Says("say hi"), "a resumed conversation carries the earlier turns")
}

func TestRealClaudeReportsErrors(t *testing.T) {
	r := newSandbox(t)
	w := r.start()
	w.Submit("error 400")
	w.WaitFor("API Error: 400 scripted error 400")
	r.waitStatus(w, "idle")
	w.Submit("slow 60")
	w.WaitFor("slow word slow word", "esc to interrupt")
	w.Press("Escape")
	w.WaitFor("Interrupted · What should Claude do instead?")
	r.waitStatus(w, "idle")
}
