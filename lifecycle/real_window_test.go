package lifecycle

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
	"ccbot/port"
	"ccbot/tmux"
	"ccbot/try/demoagent"
)

// byDesk runs a tmux command as a person in the terminal does.
func (w *terminalWorld) byDesk(args ...string) string {
	w.t.Helper()
	server, err := w.tmux.Server(w.t.Context())
	require.NoError(w.t, err)
	cmd := exec.CommandContext(w.t.Context(), "tmux", append([]string{"-S", server.Socket}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "LANG=C.UTF-8"}
	out, err := cmd.CombinedOutput()
	require.NoError(w.t, err, string(out))
	return strings.TrimSpace(string(out))
}

// orphan waits until a window that a person has opened shows its agent.
func (w *terminalWorld) orphan(id string) (found evidence.Window) {
	w.t.Helper()
	w.until("the agent is there", func() bool {
		all, err := w.tmux.Panes(w.t.Context())
		if err != nil {
			return false
		}
		for _, p := range all {
			if p.ID.String() == id {
				windows, err := w.Evidence.Windows(w.t.Context(), []tmux.Pane{p})
				if err == nil && len(windows) == 1 && windows[0].Agent != nil && windows[0].Agent.Source == process.SourcePresence {
					found = windows[0]
				}
			}
		}
		return found.Agent != nil
	})
	return found
}

// Windows of real processes: in the first the shell stays, the second is left by an earlier run of
// this ccbot.
func TestP2_RealOrphanWindowIsAdopted(t *testing.T) {
	base := t.TempDir()
	command, err := demoagent.Link(base)
	require.NoError(t, err)
	dir, config := filepath.Join(base, "src"), filepath.Join(base, "config")
	require.NoError(t, os.Mkdir(dir, 0o700))
	env := []string{"-e", "CLAUDE_CONFIG_DIR=" + config, "-e", "HOME=" + base}
	tests := []struct {
		name  string
		shell bool
		tag   bool
	}{
		{"in a shell", true, true},
		{"the pane's own process, of nobody", false, false},
		{"the pane's own process, of an earlier session", false, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			w := newterminalWorld(t, command, dir, config, map[string]string{"CLAUDE_CONFIG_DIR": config, "HOME": base})
			ctx, id := t.Context(), uuid.New()
			require.NoError(t, w.tmux.Ensure(ctx))
			args := append([]string{"new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=ccbot:", "-n", "by hand", "-c", dir}, env...)
			line := []string{command, "--session-id", id.String()}
			if tc.shell {
				args = append(args, "bash", "--norc", "--noprofile", "-i")
			} else {
				args = append(args, line...)
			}
			pane := w.byDesk(args...)
			if tc.shell {
				w.byDesk("send-keys", "-t", pane, strings.Join(line, " "), "Enter")
			}
			w.byDesk("set-option", "-w", "-t", pane, "remain-on-exit", "on")
			if tc.tag {
				w.byDesk("set-option", "-w", "-t", pane, "@ccbot_session", "test/"+uuid.NewString())
			}
			found := w.orphan(pane)
			assert.Equal(t, id, found.Agent.AgentSessionID)
			assert.True(t, found.Agent.Adoptable(), "%+v", found.Agent)
			assert.Equal(t, tc.shell, len(found.Others) == 1, "%+v", found.Others)
			r, err := w.Adopt(ctx, AdoptRequest{Agent: found.Agent.Identity, AgentSessionID: id, Confirmed: true, Owner: 7,
				Conversation: session.Conversation{ChatID: 7}, Rule: "chat.adopt", Why: "asked for by 7"})
			require.NoError(t, err)
			assert.Equal(t, "by hand", r.Name)
			assert.Equal(t, process.Alive, w.Evidence.AgentAlive(*r.Binding))
			w.typed(r, "k", "hello")
			w.until("it was typed", func() bool { now, _ := w.Store.Get(r.ID); return len(now.Prompts) == 0 })
			require.NoError(t, w.Archive(ctx, r.ID, session.Archived, port.Cause{Why: "asked"}))
			assert.Equal(t, process.Gone, w.Processes.Liveness(found.Agent.Identity))
			left := strings.Contains(w.byDesk("list-panes", "-a", "-F", "#{pane_id}"), pane)
			assert.Equal(t, tc.shell || !tc.tag, left)
		})
	}
}
