package tmux_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
)

// sessions are the names of the server's sessions; none if there is no server.
func (r real) sessions() []string {
	cmd := exec.Command("tmux", "-L", r.name, "-N", "list-sessions", "-F", "#{session_name}")
	cmd.Env = r.config().Env
	out, _ := cmd.Output()
	return strings.Fields(string(out))
}

// leaves runs one more client of the same server, which leaves when it ends.
func (r real) leaves(t *testing.T) {
	t.Helper()
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	panes, err := client.Panes(ctx)
	require.NoError(t, err)
	for _, p := range panes {
		if p.Session == r.config().Session && tmux.IsSleeper(p, []string{"sleep", "2147483647"}) {
			require.NoError(t, client.ClosePane(ctx, tmux.Guard{Pane: p.ID, PID: p.PID}))
		}
	}
	require.NoError(t, client.Leave(ctx))
	cancel()
	require.NoError(t, <-done)
}

// unwatched is a server whose own client has ended, as after a stop of the bot.
func unwatched(t *testing.T) real {
	t.Helper()
	r := private(t)
	client, err := tmux.New(r.config())
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Run(ctx) }()
	require.NoError(t, client.Ensure(ctx))
	cancel()
	require.NoError(t, <-done)
	return r
}

// TestP2_LeaveEndsOnlyOwnSessions: with them ends a server that has no other session; a window that
// a person has made keeps its session, whichever it is.
func TestP2_LeaveEndsOnlyOwnSessions(t *testing.T) {
	t.Run("nothing of a person", func(t *testing.T) {
		r := unwatched(t)
		r.leaves(t)
		eventually(t, func() bool { return len(r.sessions()) == 0 })
	})
	for name, target := range map[string]string{"in the session of windows": "=ccbot:", "in the control session": "=ccbot-ctl-%:"} {
		t.Run(name, func(t *testing.T) {
			r := unwatched(t)
			target := strings.ReplaceAll(target, "%", r.name)
			r.tmux(t, "new-window", "-d", "-t", target, "-n", "mine", "sleep", "1000")
			r.leaves(t)
			kept := strings.Trim(target, "=:")
			eventually(t, func() bool { return len(r.sessions()) == 1 })
			assert.Equal(t, []string{kept}, r.sessions())
			assert.Contains(t, r.tmux(t, "list-windows", "-t", target, "-F", "#{window_name}"), "mine")
		})
	}
}

func TestControlledBy(t *testing.T) {
	for session, want := range map[string]string{"ccbot-ctl-0123abcd": "0123abcd", "ccbot": "", "ccbot-ctl-": "", "": "", "x-ccbot-ctl-1": ""} {
		assert.Equal(t, want, tmux.ControlledBy(session))
	}
}
