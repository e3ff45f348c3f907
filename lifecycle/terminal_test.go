package lifecycle

import (
	coding "ccbot/agent"
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude"
	"ccbot/agent/claude/claudekeys"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
	"ccbot/internal/session"
	"ccbot/internal/waittest"
	"ccbot/lifecycle/dialog"
	"ccbot/lifecycle/ending"
	"ccbot/lifecycle/evidence"
	"ccbot/lifecycle/typing"
	"ccbot/lifecycle/view"
	"ccbot/port"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/try/demoagent"
)

func TestMain(m *testing.M) {
	if demoagent.Called(os.Args[0]) {
		os.Exit(demoagent.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// terminalWorld is a Service with a separate tmux server, and an agent that is a real process.
type terminalWorld struct {
	*Service
	Queues
	*core   // of the Service
	t       *testing.T
	news    *heardNews
	tmux    *tmux.Client
	relays  *relays
	dir     string
	prompts *promptStore
}

// newTerminal opens it for a command that is started with these variables.
func newterminalWorld(t *testing.T, command, dir, config string, env map[string]string) *terminalWorld {
	t.Helper()
	programtest.Require(t, "tmux")
	log := slog.New(slog.DiscardHandler)
	table, err := process.NewTable()
	require.NoError(t, err)
	base := t.TempDir()
	own := "ccbot-test-" + uuid.NewString()[:8]
	processtest.EndAfterFailure(t, base) // HOME of the tmux server
	processtest.EndAfterFailure(t, own)  // TMUX of what runs in a window names it
	c := tmux.Config{Socket: own, Session: "ccbot", Instance: own, Log: log,
		Env: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + base, "LANG=C.UTF-8"},
		Start: func(pid int) (uint64, error) {
			p, err := table.Inspect(pid)
			return p.Start, err
		}}
	client, err := tmux.New(c)
	require.NoError(t, err)
	store, err := session.Open(filepath.Join(base, "sessions"), filepath.Join(base, "quarantine"), time.Now, log, nil)
	require.NoError(t, err)
	order := &order{}
	w := &terminalWorld{t: t, news: &heardNews{order: order, last: map[uuid.UUID]int64{}}, tmux: client, relays: &relays{}, dir: dir,
		prompts: &promptStore{all: map[string]typing.Prompt{}, order: order}}
	agents := coding.Agents{coding.Default: claude.New(filepath.Join(config, "projects"), coding.Launch{Command: command}, claudekeys.Source{}.Box)}
	by := agents.Of("")
	by.Settings = launches{base}
	agents[coding.Default] = by
	seen := &evidence.Sources{Instance: "test", Agents: agents, Records: store, Processes: table,
		Bindings: func() ([]hookwire.Binding, []error) { return nil, nil }, Panes: client.Panes, Log: log}
	observer := &view.Observer{Panes: client, Screens: client, Processes: table, Relays: w.relays,
		Agents: agents, Now: time.Now, Log: log}
	w.Service = New(Config{Host: "here", StateDir: base, Env: env},
		Deps{Store: store, News: w.news, Windows: client,
			Typist: typing.New(observer, client, w.prompts, launches{base}.HasPendingEvents),
			Ender:  &ending.Ender{Processes: table, Panes: client, Evidence: seen, KillGrace: 5 * time.Second, Log: log}})
	w.core, w.Queues = w.Service.core, w.Service.Queues()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{}, 2)
	go func() { _ = client.Run(ctx); done <- struct{}{} }()
	go func() { _ = w.Run(ctx); done <- struct{}{} }()
	t.Cleanup(func() {
		for _, r := range store.List() {
			if r.State.Live() {
				assert.NoError(t, w.Archive(ctx, r.ID, session.Archived, port.Cause{Why: "the test is over"}))
			}
		}
		server, err := client.Server(ctx)
		require.NoError(t, err)
		cancel()
		<-done
		<-done
		kill := exec.Command("tmux", "-L", c.Socket, "kill-server")
		kill.Env = c.Env
		assert.NoError(t, kill.Run())
		assert.NoError(t, table.Wait(waittest.Context(t), process.Identity{PID: server.PID, Start: server.Start, Boot: table.Self().Boot}))
		assert.NoError(t, os.RemoveAll(server.Socket))
	})
	return w
}

// until waits for something that others do.
func (w *terminalWorld) until(what string, ok func() bool) {
	w.t.Helper()
	waittest.Until(w.t, ok, "%s", what)
}

// dialog waits for a dialog that shows a text.
func (w *terminalWorld) dialog(id uuid.UUID, text string) (d port.Dialog) {
	w.t.Helper()
	var err error
	w.until(text, func() bool {
		d, err = w.Dialog(w.t.Context(), id)
		return err == nil && d.Open && strings.Contains(strings.Join(d.Lines, "\n"), text)
	})
	return d
}

func optionOf(d port.Dialog, label string) int {
	for i, o := range d.Options {
		if strings.HasPrefix(o, label) {
			return i
		}
	}
	return -1
}

// atDesk presses keys as a person in the terminal does.
func (w *terminalWorld) atDesk(r session.Record, keys ...tmux.Key) {
	w.t.Helper()
	pane, err := tmux.ParsePaneID(r.Binding.Pane)
	require.NoError(w.t, err)
	for _, k := range keys {
		require.NoError(w.t, w.tmux.Press(w.t.Context(), tmux.Guard{Pane: pane, PID: r.Binding.PanePID()}, k))
	}
}

func TestP7_RunningProcesssDialogsAreAnswered(t *testing.T) {
	base := t.TempDir()
	command, err := demoagent.Link(base)
	require.NoError(t, err)
	dir, config := filepath.Join(base, "src"), filepath.Join(base, "config")
	require.NoError(t, os.Mkdir(dir, 0o700))
	w := newterminalWorld(t, command, dir, config, map[string]string{"CLAUDE_CONFIG_DIR": config, "HOME": base, "DEMOAGENT_TRUST": "1"})
	w.answerDialogs()
}

// answerDialogs takes an agent through a trust question, a permission and a page.
func (w *terminalWorld) answerDialogs() {
	t, ctx := w.t, w.t.Context()
	r, err := w.Start(ctx, port.Start{Dir: w.dir, Owner: 7, Conversation: session.Conversation{ChatID: 7}})
	require.NoError(t, err)
	d := w.dialog(r.ID, "Accessing workspace:")
	_, err = w.Choose(ctx, r.ID, d.Fingerprint, optionOf(d, "Yes, I trust"))
	require.NoError(t, err)
	w.until("it runs", func() bool {
		now, ok := w.Store.Get(r.ID)
		r = now
		return ok && now.State == session.Running
	})

	w.typed(r, "one", "bash touch x")
	d = w.dialog(r.ID, "Do you want to proceed?")
	w.atDesk(r, tmux.KeyDown) // a person moves the cursor: the button is of before
	w.until("the cursor moves", func() bool {
		now, err := w.Dialog(ctx, r.ID)
		return err == nil && now.Selected == 1
	})
	_, err = w.Choose(ctx, r.ID, d.Fingerprint, 0)
	require.ErrorIs(t, err, dialog.ErrChanged)
	d = w.dialog(r.ID, "Do you want to proceed?")
	_, err = w.Choose(ctx, r.ID, d.Fingerprint, optionOf(d, "No"))
	require.NoError(t, err)
	closed := func() bool { now, err := w.Dialog(ctx, r.ID); return err == nil && !now.Open }
	w.until("the dialog is closed", closed)
	w.until("it is idle", func() bool { return w.Observer.Inspector(ctx)(r).Phase == talk.PhaseIdle })
	_, err = os.Stat(filepath.Join(w.dir, "x"))
	require.ErrorIs(t, err, os.ErrNotExist)
	_, err = w.Press(ctx, r.ID, d.Fingerprint, "enter")
	require.ErrorIs(t, err, dialog.ErrNoDialog)

	w.typed(r, "two", "/status")
	d = w.dialog(r.ID, "Esc to")
	assert.Empty(t, d.Options)
	_, err = w.Press(ctx, r.ID, d.Fingerprint, "esc")
	require.NoError(t, err)
	w.until("the page is closed", closed)
}

// typed types a prompt.
func (w *terminalWorld) typed(r session.Record, key, text string) {
	w.t.Helper()
	typed, class, ok := talk.Normalise(text)
	require.True(w.t, ok)
	require.NoError(w.t, w.prompts.SavePrompt(typing.Prompt{Key: key, Text: typed, Class: class, State: typing.Held}))
	require.NoError(w.t, w.Queue(w.t.Context(), r.ID, talk.Offer{Key: key}))
}
