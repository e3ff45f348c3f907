package demoagent

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude/claudeui"
	"ccbot/internal/waittest"
)

// The screens must read like the real ones: ccbot has one reader for both.
func TestScreensReadAsTheRealOnes(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, _ := s.idle()

	read := func() coding.Screen { return claudeui.Read(w.Colours()) }
	w.WaitFor("? for shortcuts")
	idle := read()
	assert.True(t, idle.Box.Present && idle.Box.Empty && !idle.Busy && idle.Dialog == nil, "%+v", idle)

	w.Paste("a draft\nin two lines")
	w.WaitFor("in two lines")
	draft := read()
	assert.True(t, draft.Box.Present && !draft.Box.Empty)
	assert.True(t, claudeui.Reader{}.Holds(draft.Box, "a draft\nin two lines"), "%q", draft.Box.Text)
	w.Press("Escape", "Escape")
	w.WaitFor("─\n❯\u00a0\n─")

	w.Type("!ls")
	w.WaitFor("! for shell mode")
	assert.True(t, read().Box.Bash)
	w.Press("C-u", "C-u")

	tests := []struct {
		name, prompt, wait string
		options            []string
	}{
		{"permission", "bash echo hi", "4. No", []string{"Yes", "No"}},
		{"questions", "ask", "☐ Database", []string{"Postgres", "SQLite", "Redis"}},
		{"plan", "plan", "Ready to code?", []string{"Yes, and use auto mode", "Yes, manually approve edits"}},
		{"status page", "/status", "Esc to close", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s.waitStatus(w, "idle")
			w.Submit(tt.prompt)
			w.WaitFor(tt.wait)
			dialog := read().Dialog
			require.NotNil(t, dialog)
			for _, option := range tt.options {
				assert.Contains(t, dialog.Options, option)
			}
			w.Press("Escape")
		})
	}
	s.waitStatus(w, "idle")
	w.Submit("slow 30")
	w.WaitFor("slow word slow", "esc to interrupt")
	assert.True(t, read().Busy)
	w.Submit("say queued")
	w.WaitFor("Press up to edit queued messages")
	queued := read()
	assert.True(t, queued.Box.Present && queued.Box.Empty && queued.Busy, "%+v", queued.Box)
}

// A slow command of bash mode shows its output while it runs, writes nothing before it has ended,
// and returns to the box when it is interrupted.
func TestSlowCommandIsDrawn(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, p := s.idle()
	const command = "for i in 1 2 3 4 5 6 7 8; do echo row $i; while [ $i = 4 ] && [ ! -e go ]; do sleep 0.1; done; done" // it waits to be seen
	w.Submit("!" + command)
	running := func(lines int) func() bool {
		return func() bool {
			screen := claudeui.Read(w.Colours())
			return screen.Busy && claudeui.Reader{}.Runs(screen.Shell, command) && len(screen.Shell.Lines) >= lines
		}
	}
	waittest.Until(t, running(0))
	waittest.Until(t, running(4))
	assert.NoFileExists(t, transcriptPath(s.config, s.cwd, p.SessionID))
	require.NoError(t, os.WriteFile(filepath.Join(s.cwd, "go"), nil, 0o600))
	w.WaitFor("⎿ \u00a0row 1", "     row 8", "Seen:")
	s.waitStatus(w, "idle")
	assert.Nil(t, claudeui.Read(w.Colours()).Shell)
	assert.Contains(t, s.shape(p.SessionID), "user <bash-input>"+command+"</bash-input>\nuser <bash-stdout>row 1\nrow 2")
	before := s.shape(p.SessionID)

	w.Submit("!while :; do echo again; sleep 0.2; done")
	w.WaitFor("     again", "lines (")
	w.Press("Escape")
	s.waitStatus(w, "idle")
	waittest.Until(t, func() bool {
		box := claudeui.Read(w.Colours()).Box
		return box.Bash && claudeui.Reader{}.Holds(box, "while :; do echo again; sleep 0.2; done")
	})
	assert.Equal(t, before, s.shape(p.SessionID))
}

func TestFailedCommandHasErrorsOnly(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	w, p := s.idle()
	w.Submit("!echo out; echo err >&2; exit 3")
	w.WaitFor("Seen:")
	s.waitStatus(w, "idle")
	assert.Contains(t, s.shape(p.SessionID), "user <bash-stdout></bash-stdout><bash-stderr>out\nerr</bash-stderr>")
	w.Submit("!true")
	w.WaitFor("(Bash completed with no output)", "Seen: `true`")
}
