package demoagent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
	"ccbot/try/demoagent/agenttest"
	"ccbot/try/demoagent/brain"
)

func TestSuspendInAShell(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	id := uuid.New()
	w := agenttest.Start(t, agenttest.Spec{Argv: []string{"/bin/bash", "--norc", "--noprofile"}, Env: append(s.env, "PS1=shell> "), Dir: s.cwd})
	w.WaitFor("shell>")
	w.Type("'" + s.link + "' --session-id " + id.String())
	w.Press("Enter")
	s.waitAny("idle")

	w.Press("C-z")
	w.WaitFor("Claude Code is suspended.", "Stopped")
	assert.Equal(t, "bash", w.Format("#{pane_current_command}"))
	w.Type("echo $((6*7)) by the shell")
	w.Press("Enter")
	w.WaitFor("42 by the shell")

	w.Type("fg")
	w.Press("Enter")
	w.WaitFor("manual mode on")
	assert.Equal(t, "claude", w.Format("#{pane_current_command}"))
	w.Submit("say back")
	w.WaitFor("● back")
	assert.Equal(t, []string{"say back"}, s.submitted())

	w.Submit("/exit")
	w.WaitFor("--resume " + id.String())
}

// waitAny waits until the only session there is has that status.
func (s *stage) waitAny(status string) {
	s.t.Helper()
	waittest.Until(s.t, func() bool {
		files, err := filepath.Glob(filepath.Join(s.config, "sessions", "*.json"))
		if err != nil || len(files) != 1 {
			return false
		}
		data, err := os.ReadFile(files[0])
		var p presence
		return err == nil && json.Unmarshal(data, &p) == nil && p.Status == status
	}, "waiting for presence %q", status)
}

func TestSuspendWithoutAShell(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, _ := s.idle()
	w.Press("C-z")
	w.WaitFor("Claude Code is suspended.")
	w.Submit("say nothing")
	// Only after that is it sure that the line does not come after SIGCONT.
	waittest.Until(t, func() bool { return slices.Contains(s.logged(brain.Dropped), "say nothing\n") }, "the agent drops the line")
	require.NoError(t, syscall.Kill(w.PID(), syscall.SIGCONT))
	w.WaitFor("manual mode on")
	w.Submit("say back")
	w.WaitFor("● back")
	assert.Equal(t, []string{"say back"}, s.submitted())
}

func TestResumeInside(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	old, now := uuid.New(), uuid.New()
	first, _ := s.idle("--session-id", old.String())
	first.Submit("say first")
	first.WaitFor("● first")
	s.waitStatus(first, "idle")

	other := *s
	other.t = t
	w, _ := other.idle("--session-id", now.String())
	w.Submit("/resume " + uuid.NewString())
	w.WaitFor("No conversation found")
	w.Submit("/resume " + old.String())
	w.WaitFor("❯ say first", "● first")
	s.waitEvent("SessionEnd/resume")
	assert.Equal(t, old.String(), s.waitEvent("SessionStart/resume")["session_id"])
	assert.Equal(t, old, s.waitStatus(w, "idle").SessionID)
	w.Submit("say second")
	w.WaitFor("● second")
	assert.Contains(t, s.shape(old), "user say second")
}
