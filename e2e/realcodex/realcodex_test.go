//go:build linux

package realcodex

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/codex/appserver"
	"ccbot/agent/codex/rollout"
	"ccbot/agent/codex/writerlock"
	"ccbot/e2e/responsesapi"
	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
	"ccbot/port/talk"
)

// realCodex is a real Codex: its server, and a terminal that shows a conversation of it.
type realCodex struct {
	t      *testing.T
	files  rollout.Files
	table  *process.Table
	server process.Process
	tmux   string // the name of the private server
}

func newRealCodex(t *testing.T) *realCodex {
	t.Helper()
	codex := Require(t)
	programtest.Require(t, "tmux")
	l, err := responsesapi.Listen(t.Context())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	api := &responsesapi.Server{}
	done := make(chan struct{})
	go func() { _ = api.Run(ctx, l); close(done) }()
	t.Cleanup(func() { cancel(); <-done })

	home, err := os.MkdirTemp("", "ccbot-codex-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(home) }) // it may still be written
	dir := filepath.Join(home, "work")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(home, "config.toml"), Config(l.Addr().String(), InCodeMode, dir), 0o600))
	env := []string{"HOME=" + home, "CODEX_HOME=" + home, "SCRIPTED_KEY=dummy", NoNetwork, "PATH=" + os.Getenv("PATH"), "TERM=tmux-256color", "LANG=C.UTF-8", "SHELL=/bin/sh"}

	socket := "unix://" + filepath.Join(home, "s")
	server := exec.Command(codex, "app-server", "--listen", socket)
	server.Dir, server.Env = dir, env
	processtest.Start(t, server)
	r := &realCodex{t: t, files: rollout.New(home), tmux: fmt.Sprintf("ccbot-test-codex-%d", os.Getpid())}
	r.until("the server listens", func() bool { _, err := os.Stat(filepath.Join(home, "s")); return err == nil })
	r.table, err = process.NewTable()
	require.NoError(t, err)
	r.server, err = r.table.Inspect(server.Process.Pid)
	require.NoError(t, err)

	terminal := exec.Command("tmux", "-L", r.tmux, "-f", "/dev/null", "new-session", "-d", "-s", "x", "-x", "110", "-y", "40", "-c", dir,
		codex, "--remote", socket, "-c", `tui.terminal_title=["thread-id","run-state"]`)
	terminal.Env = env
	out, err := terminal.CombinedOutput()
	require.NoError(t, err, string(out))
	t.Cleanup(func() {
		_ = exec.Command("tmux", "-L", r.tmux, "kill-server").Run()
		_ = os.Remove(fmt.Sprintf("/tmp/tmux-%d/%s", os.Getuid(), r.tmux))
	})
	return r
}

// until waits for a condition.
func (r *realCodex) until(what string, is func() bool) {
	r.t.Helper()
	waittest.Until(r.t, is, what)
}

// title returns the title of the terminal.
func (r *realCodex) title(context.Context, int) string {
	out, err := exec.Command("tmux", "-L", r.tmux, "display-message", "-p", "-t", "x", "#{pane_title}").Output()
	require.NoError(r.t, err)
	return strings.TrimSpace(string(out))
}

// screen returns the screen of the terminal.
func (r *realCodex) screen() string {
	out, err := exec.Command("tmux", "-L", r.tmux, "capture-pane", "-p", "-t", "x").Output()
	require.NoError(r.t, err)
	return string(out)
}

func (r *realCodex) keys(keys ...string) {
	r.t.Helper()
	require.NoError(r.t, exec.Command("tmux", append([]string{"-L", r.tmux, "send-keys", "-t", "x"}, keys...)...).Run())
}

// shown returns the conversation that the terminal shows.
func (r *realCodex) shown() (t appserver.Thread) {
	r.until("a conversation is shown", func() bool {
		c, err := appserver.Dial(r.t.Context(), r.table, r.server.PID, r.server.Start)
		if err != nil {
			return false
		}
		defer c.Close()
		t, err = c.Shown(r.t.Context(), r.title, 0)
		return err == nil && strings.HasPrefix(r.title(r.t.Context(), 0), t.ID.String()[:20])
	})
	return t
}

// deliver delivers a text and returns its id. After the end of a turn Codex is busy for a moment.
func (r *realCodex) deliver(to appserver.Thread, text string) uuid.UUID {
	r.t.Helper()
	d := appserver.Delivery{Processes: r.table, Receipts: r.files, Title: r.title}
	id := uuid.New()
	recipient := agent.Recipient{PID: r.server.PID, ProcStart: r.server.Start, Conversation: to.ID}
	r.until("the text is delivered", func() bool {
		err := d.Deliver(r.t.Context(), recipient, id, text)
		if !errors.Is(err, agent.ErrNotDelivered) {
			require.NoError(r.t, err)
		}
		return err == nil
	})
	r.until("the receipt", func() bool { has, err := d.HasReceipt(to.ID, agent.Sent{ID: id, Text: text}); return has && err == nil })
	return id
}

// ends waits for the end of the turn of a text, and returns the answer.
func (r *realCodex) ends(in appserver.Thread, text string) (reply talk.Reply) {
	r.t.Helper()
	path, err := r.files.Find(in.ID)
	require.NoError(r.t, err)
	read := r.files.Reply(talk.Cursor{Path: path}, time.Time{}, text)
	r.until("the answer to "+text, func() bool {
		now, err := read()
		reply = now
		return err == nil && now.Ending != ""
	})
	return reply
}

// join joins a conversation.
func (r *realCodex) join(in appserver.Thread) *appserver.Conn {
	r.t.Helper()
	c, err := appserver.Dial(r.t.Context(), r.table, r.server.PID, r.server.Start)
	require.NoError(r.t, err)
	r.t.Cleanup(func() { _ = c.Close() })
	_, err = c.Join(r.t.Context(), in)
	require.NoError(r.t, err)
	return c
}

// next waits for an event.
func (r *realCodex) next(c *appserver.Conn, in appserver.Thread, is func(appserver.Event) bool) appserver.Event {
	r.t.Helper()
	ctx := waittest.Context(r.t)
	for {
		e, err := c.Next(ctx, in)
		require.NoError(r.t, err)
		if is(e) {
			return e
		}
	}
}

// TestRealP4_Codex delivers texts to the real Codex, answers a permission after a second
// connection, and follows the terminal to a new conversation.
func TestRealP4_Codex(t *testing.T) {
	t.Parallel()
	r := newRealCodex(t)
	first := r.shown()
	r.deliver(first, "say hello\n\nfrom `ccbot` !")
	assert.Equal(t, []string{"hello\n\nfrom `ccbot` !"}, r.ends(first, "say hello\n\nfrom `ccbot` !").Texts)

	held, err := writerlock.Home(r.files.Home).Held()
	require.NoError(t, err)
	assert.Equal(t, map[int][]uuid.UUID{r.server.PID: {first.ID}}, held, "P1: the server alone is the writer")

	marker := filepath.Join(t.TempDir(), "marker")
	r.deliver(first, "esc touch "+marker)
	c := r.join(first)
	asked := r.next(c, first, func(e appserver.Event) bool { return e.Request != nil }).Request
	require.NoError(t, c.Close())
	c = r.join(first) // as after a restart
	again := r.next(c, first, func(e appserver.Event) bool { return e.Request != nil }).Request
	assert.Equal(t, asked, again)
	assert.Contains(t, again.Command, "touch "+marker)
	require.NoError(t, c.Answer(t.Context(), *again, appserver.Accept))
	r.next(c, first, func(e appserver.Event) bool { return e.Resolved == again.ID })
	r.ends(first, "esc touch "+marker)
	assert.FileExists(t, marker)

	r.deliver(first, "slow 600")
	turn := r.next(c, first, func(e appserver.Event) bool { return e.Began != "" }).Began
	require.NoError(t, c.Interrupt(t.Context(), first, turn))
	assert.Equal(t, talk.StoppedTurn, r.ends(first, "slow 600").Ending)
	require.NoError(t, c.Close())

	r.keys("-l", "/new")
	refused := 0
	r.until("the terminal shows another conversation", func() bool {
		// The file shows the end of a turn a moment before the terminal, which refuses /new until then.
		if n := strings.Count(r.screen(), "'/new' is disabled"); n > refused {
			refused = n
			r.keys("-l", "/new")
			return false
		}
		r.keys("Enter") // one that follows a letter at once is a new line
		return !strings.HasPrefix(r.title(t.Context(), 0), first.ID.String()[:20])
	})
	second := r.shown()
	assert.NotEqual(t, first.ID, second.ID)
	d := appserver.Delivery{Processes: r.table, Receipts: r.files, Title: r.title}
	require.ErrorIs(t, d.Deliver(t.Context(), agent.Recipient{PID: r.server.PID, ProcStart: r.server.Start, Conversation: first.ID}, uuid.New(), "say no"),
		agent.ErrNotDelivered, "P7: the terminal shows another one")
	r.deliver(second, "say in the second")
	assert.Equal(t, []string{"in the second"}, r.ends(second, "say in the second").Texts)
	r.deliver(second, "limit")
	limited := r.ends(second, "limit").Failure
	assert.Equal(t, talk.FailedLimit, limited.Kind)
	assert.True(t, limited.Until.After(time.Now()), "it has the time of the account's window")
}
