package demoagent

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/claudeui"
)

// The screens must read like the real ones: ccbot has one reader for both.
func TestScreensReadAsTheRealOnes(t *testing.T) {
	s := newStage(t)
	w, _ := s.idle()

	read := func() claudeui.Screen { return claudeui.Read(w.Colours()) }
	w.WaitFor("? for shortcuts")
	idle := read()
	assert.True(t, idle.Box.Present && idle.Box.Empty && !idle.Busy && idle.Dialog == nil, "%+v", idle)

	w.Paste("a draft\nin two lines")
	w.WaitFor("in two lines")
	draft := read()
	assert.True(t, draft.Box.Present && !draft.Box.Empty)
	assert.True(t, draft.Box.Holds("a draft\nin two lines"), "%q", draft.Box.Text)
	w.Press("Escape")
	w.Press("Escape")
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
