package tmux_test

import (
	"fmt"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

func (p person) OpenShell(t *testing.T) tmux.PaneID {
	t.Helper()
	id, err := tmux.ParsePaneID(p.tmux(t, "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=ccbot:", "/bin/sh", "-i"))
	require.NoError(t, err)
	// Its prompt, because before the shell runs tmux may name it, then itself, then it again.
	eventually(t, func() bool { return strings.TrimSpace(p.tmux(t, "capture-pane", "-p", "-t", id.String())) != "" })
	return id
}

func (p person) RunInFront(t *testing.T, shell tmux.PaneID, argv ...string) {
	t.Helper()
	for i, arg := range argv {
		argv[i] = "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
	}
	p.tmux(t, "send-keys", "-t", shell.String(), "-l", strings.Join(argv, " "))
	p.tmux(t, "send-keys", "-t", shell.String(), "Enter")
}

// EndInFront ends the leader of the terminal's foreground group, which is the program itself.
func (p person) EndInFront(t *testing.T, shell tmux.PaneID) {
	t.Helper()
	pane, err := p.Pane(t.Context(), shell)
	require.NoError(t, err)
	table, err := process.NewTable()
	require.NoError(t, err)
	sh, err := table.Inspect(pane.PID)
	require.NoError(t, err)
	require.Greater(t, sh.Foreground, 1)
	require.NotEqual(t, pane.PID, sh.Foreground, "the shell is in front")
	require.NoError(t, syscall.Kill(sh.Foreground, syscall.SIGTERM))
}

// Attach takes a pane in the control client's session for a terminal: a pty that ends with the
// server at the latest.
func (p person) Attach(t *testing.T, w tmux.WindowID, how tmuxtest.Terminal) string {
	t.Helper()
	var argv []string
	switch {
	case how.Control:
		return p.attachControl(t, w)
	case how.Grouped:
		group := fmt.Sprintf("ccbot-%d", servers.Add(1))
		// Several arguments make no shell, but a ";" as an argument would end new-window.
		argv = []string{"new-session", "-s", group, "-t", "=ccbot", `\;`, "select-window", "-t", "=" + group + ":" + w.String()}
		t.Cleanup(func() { p.tmux(t, "kill-session", "-t", "="+group) })
	case how.ReadOnly:
		argv = []string{"attach-session", "-r", "-t", w.String()}
	default:
		argv = []string{"attach-session", "-t", w.String()}
	}
	window := []string{"new-window", "-d", "-P", "-F", "#{pane_tty}", "-t", p.control() + ":", "--", "env", "-u", "TMUX", "tmux", "-L", p.name}
	tty := p.tmux(t, append(window, argv...)...)
	t.Cleanup(func() { p.Detach(t, tty) })
	eventually(t, func() bool { return p.client(t, tty, "#{window_id}") == w.String() })
	return tty
}

// attachControl has pipes: in a pane, tmux 3.2 does not end while such a client is attached.
func (p person) attachControl(t *testing.T, w tmux.WindowID) (name string) {
	t.Helper()
	cmd := exec.Command("tmux", "-L", p.name, "-C", "attach-session", "-t", w.String())
	cmd.Env = p.config().Env
	stdin, err := cmd.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	name = fmt.Sprintf("client-%d", cmd.Process.Pid)
	t.Cleanup(func() {
		stdin.Close()
		_ = cmd.Wait()
		eventually(t, func() bool { return p.client(t, name, "there") == "" })
	})
	eventually(t, func() bool { return p.client(t, name, "#{window_id}") == w.String() })
	return name
}

// client expands a format for the client of a name (its terminal, if it has one); "" if there is no
// such client.
func (p person) client(t *testing.T, name, format string) string {
	t.Helper()
	for line := range strings.Lines(p.tmux(t, "list-clients", "-F", "#{client_name} "+format)) {
		if is, text, _ := strings.Cut(strings.TrimSpace(line), " "); is == name {
			return text
		}
	}
	return ""
}

func (p person) Show(t *testing.T, tty string, w tmux.WindowID) {
	t.Helper()
	p.tmux(t, "select-window", "-t", "="+p.client(t, tty, "#{client_session}")+":"+w.String())
}

func (p person) Press(t *testing.T, tty string) {
	t.Helper()
	p.tmux(t, "send-keys", "-t", p.terminal(t, tty), "x")
}

func (p person) Detach(t *testing.T, tty string) {
	t.Helper()
	pane := p.terminal(t, tty)
	if pane == "" {
		return
	}
	p.tmux(t, "kill-pane", "-t", pane)
	eventually(t, func() bool { return p.client(t, tty, "there") == "" })
}

// terminal is the pane that stands for a terminal, empty when it is gone.
func (p person) terminal(t *testing.T, tty string) string {
	t.Helper()
	return p.tmux(t, "list-panes", "-a", "-f", "#{==:#{pane_tty},"+tty+"}", "-F", "#{pane_id}")
}

func TestSuspendedTerminalIsNoViewer(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", "exec sleep 1000")
	tty := person{r}.Attach(t, pane.Window, tmuxtest.Terminal{})
	before, err := r.Viewers(t.Context())
	require.NoError(t, err)
	require.Len(t, before, 1)
	r.tmux(t, "suspend-client", "-t", tty)
	after, err := r.Viewers(t.Context())
	require.NoError(t, err)
	require.Empty(t, after)
	p, err := r.Pane(t.Context(), pane.ID)
	require.NoError(t, err)
	require.Equal(t, 0, p.Attached, "tmux does not count it either")
}
