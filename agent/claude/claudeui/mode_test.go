package claudeui

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

func readFile(t *testing.T, name string) agent.Screen {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", name+".ansi"))
	require.NoError(t, err)
	return Read(string(data))
}

func TestModeIsWhatTheFooterNames(t *testing.T) {
	for name, want := range map[string]string{
		"idle": "default", "spinner": "default", "dlg-3": "auto", "api-retry": "default",
		"old-idle": "", "perm-bash": "", "models": "", "bad1": "",
	} {
		assert.Equal(t, want, readFile(t, name).Mode, name)
	}
	box := "──────────\n❯ \n──────────\n"
	for footer, want := range map[string]string{
		"  ⏵⏵ accept edits on (shift+tab to cycle)":                "acceptEdits",
		"  ⏸ plan mode on (shift+tab to cycle) · esc to interrupt": "plan",
		"  ⏵⏵ bypass permissions on (shift+tab to cycle)":          "bypassPermissions",
		"  ⏵⏵ don't ask on (shift+tab to cycle) · ← for agents":    "dontAsk",
		"  42% of context\n  ⏵⏵ accept edits on · 1 shell":         "acceptEdits",
		"  ⏸ plan mo…":                        "",
		"  ⏵⏵ night mode on":                  "",
		"  Press Ctrl-C again to exit":        "",
		"  ⏸ plan mode on\n  ⏵⏵ auto mode on": "",
		"  they said ⏸ plan mode on":          "",
	} {
		s := Read(box + footer + "\n")
		require.True(t, s.Box.Present, footer)
		assert.Equal(t, want, s.Mode, footer)
	}
}

func TestModelsReadsTheList(t *testing.T) {
	s := readFile(t, "models")
	d := s.Dialog
	require.NotNil(t, d)
	assert.True(t, d.Whole)
	assert.Equal(t, &agent.Models{Names: []string{"Default (recommended)", "Opus", "Fable", "Sonnet", "Haiku"}, Current: 4}, s.Models)
	assert.Equal(t, 4, d.Selected)

	for _, other := range []string{"perm-bash", "ask-1", "plan-full", "start-pick"} {
		assert.Nil(t, readFile(t, other).Models, other)
	}
	always := *d
	always.Lines = []string{"Select model", "Enter to save"}
	assert.Nil(t, modelsOf(&always), "it would become the default of all sessions")
}

// TestP7_NarrowFooterIsNoDialog cuts the hint of the footer at the width of the pane; next to such
// a row a dialog's own hint still counts.
func TestP7_NarrowFooterIsNoDialog(t *testing.T) {
	s := Read(boxed(30, "", "  ⏸ manual mode on · esc to…", sign))
	assert.Nil(t, s.Dialog)
	assert.True(t, readyToType(s))
	assert.Equal(t, "default", s.Mode)
	for _, footer := range []string{"  Esc to…", "  ⏸ manual mode on · esc to…\n  Enter to select · Esc to…", "  ⏸ manual mode on\n  ❯ 1. Yes\n    2. No"} {
		assert.False(t, readyToType(Read(boxed(30, "", footer, sign))), footer)
	}
}
