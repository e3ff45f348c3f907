package claudeui

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

func fixture(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".ansi"))
	require.NoError(t, err)
	return string(b)
}

// readyToType reports whether text and Enter would go into the prompt box and nowhere else.
func readyToType(s agent.Screen) bool {
	return s.Box.Present && s.Box.Empty && !s.Box.Bash && s.Dialog == nil && !s.Busy
}

func permission(allow string) []string {
	return []string{"Yes", "Yes, and always allow access to " + allow + " from this project",
		"Yes, and switch to auto mode · auto mode handles these prompts for you", "No"}
}

// recordings lists the expected content of each recorded screen. box: "" none, "empty", "busy"
// (empty, turn running).
var recordings = []struct {
	name     string
	box      string
	title    string
	options  []string
	selected int
}{
	{name: "api-error", box: "empty"},
	{name: "api-retry", box: "empty"},
	{name: "ask-1", title: "Which database?", options: []string{"Postgres", "SQLite", "Redis", "Type something.", "Chat about this"}},
	{name: "ask-2", title: "Which language?", options: []string{"Go", "Python", "Type something.", "Chat about this"}},
	{name: "ask-3", title: "Review your answers", options: []string{"Submit answers", "Cancel"}},
	{name: "ask-multi", title: "Which features?", options: []string{"[ ] Logs", "[ ] Metrics", "[ ] Traces", "[ ] Type something", "Chat about this"}},
	{name: "ask-multi-2", title: "Which features?", options: []string{"[✔] Logs", "[ ] Metrics", "[✔] Traces", "[ ] Type something", "Chat about this"}},
	{name: "bad1"},
	{name: "bad2", title: "Settings Warning", options: []string{"Continue", "Fix with Claude", "Exit and fix manually"}},
	{name: "bad3", title: "Settings Warning", options: []string{"Continue", "Fix with Claude", "Exit and fix manually"}},
	{name: "bypass"},
	{name: "dlg-1", title: "Accessing workspace:", options: []string{"No, exit", "Yes, I trust this folder"}},
	{name: "dlg-2", title: "Detected a custom API key in your environment", options: []string{"Yes", "No (recommended)"}, selected: 1},
	{name: "dlg-3", box: "empty"},
	{name: "first-run-1"},
	{name: "http-hook-down", title: "Bash command", options: permission("/home/u/proj/b")},
	{name: "idle", box: "empty"},
	{name: "interrupted", box: "empty"},
	{name: "memory", title: "Memory", selected: -1},
	{name: "models", title: "Select model", selected: 4, options: []string{
		"Default (recommended)  Use the default model (currently Opus 5.5) · $4/$20 per Mtok",
		"Opus                   Opus 5.5 · Best for everyday, complex tasks · $4/$20 per Mtok",
		"Fable                  Fable 5.2 · Most capable for your hardest and longest-running tasks · $8/$40",
		"Sonnet                 Sonnet 5.5 · Efficient for routine tasks · $2/$10 per Mtok",
		"Haiku ✔                Haiku 5.5 · Fastest for quick answers · $0.10/$0.50 per Mtok ($0.50/$2.50 for"}},
	{name: "old-ask", title: "Which database?", options: []string{"Postgres", "SQLite", "Redis", "Type something.", "Chat about this"}},
	{name: "old-idle", box: "empty"},
	{name: "old-perm", title: "Bash command", options: []string{"Yes", "Yes, and always allow access to h/ from this project", "No"}},
	{name: "old-spinner", box: "busy"},
	{name: "old2-start", box: "empty"},
	{name: "old3-start"},
	{name: "old4-start", title: "Accessing workspace:", options: []string{"Yes, I trust this folder", "No, exit"}},
	{name: "paste-immediate", box: "empty"},
	{name: "perm-bash", title: "Bash command", options: permission("/home/u/proj/a")},
	{name: "perm-hook-running", title: "Bash command", options: permission("/home/u/proj/a")},
	{name: "plan", title: "Exit plan mode?", options: []string{"Yes, and switch to default (ask each time) for this session", "No"}},
	{name: "plan-after-hook", title: "Ready to code?", options: []string{"Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"}},
	{name: "plan-full", title: "Ready to code?", options: []string{"Yes, and use auto mode", "Yes, manually approve edits", "Tell Claude what to change"}},
	{name: "queued", box: "busy"},
	{name: "resume-after-kill9", box: "empty"},
	{name: "resume-second", box: "empty"},
	{name: "spinner", box: "busy"},
	{name: "start-dupid"},
	{name: "start-noid"},
	{name: "start-pick", title: "Resume session", options: []string{"say again-r2", "say after-clear", "say one"}},
	{name: "start-wcwd", box: "empty"},
	{name: "status", title: "Settings  Status   Config   Usage   Stats", selected: -1},
	{name: "streaming", box: "busy"},
	{name: "subagent-perm", title: "Bash command · from the general-purpose agent", options: permission("/home/u/proj/a")},
	{name: "suspended", title: "Claude Code is suspended. Run `fg` to bring it back.", selected: -1},
	{name: "two-dialogs", title: "Bash command", options: permission("/home/u/proj/a")},
}

func TestP7_RecordedScreens(t *testing.T) {
	for _, tc := range recordings {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(fixture(t, tc.name))
			assert.Equal(t, tc.box != "", s.Box.Present, "box present")
			assert.Equal(t, tc.box != "", s.Box.Empty, "box empty")
			assert.Equal(t, tc.box == "busy", s.Busy, "busy")
			assert.Equal(t, tc.box == "empty", readyToType(s), "ready")
			assert.Empty(t, s.Box.Text)
			assert.False(t, s.Box.Bash)
			if tc.title == "" {
				require.Nil(t, s.Dialog)
				return
			}
			require.NotNil(t, s.Dialog)
			assert.Equal(t, tc.title, s.Dialog.Title)
			assert.Equal(t, tc.options, s.Dialog.Options)
			assert.Equal(t, tc.selected, s.Dialog.Selected)
		})
	}
}

func TestAllRecordingsAreInTable(t *testing.T) {
	files, err := filepath.Glob("testdata/*.ansi")
	require.NoError(t, err)
	known := map[string]bool{}
	for _, tc := range recordings {
		known[tc.name] = true
	}
	for _, tc := range flatRecordings {
		known[tc.name] = true
	}
	for _, f := range files {
		assert.True(t, known[strings.TrimSuffix(filepath.Base(f), ".ansi")], f)
	}
	assert.Len(t, files, len(recordings)+len(flatRecordings))
}

func TestTextIsPlain(t *testing.T) {
	s := Read(fixture(t, "perm-bash"))
	assert.Contains(t, s.Text, "\n ❯ 1. Yes\n   2. Yes, and always allow")
	assert.NotContains(t, s.Text, "\x1b")
	assert.True(t, strings.HasSuffix(s.Text, "Esc to cancel · Tab to amend"), "no blank lines at the end")
}

func TestDialogShowsWhatItAsksAbout(t *testing.T) {
	d := Read(fixture(t, "perm-bash")).Dialog
	require.NotNil(t, d)
	assert.Contains(t, d.Lines, " echo hi > /home/u/proj/a/x.txt")
	assert.Contains(t, d.Lines, " ❯ 1. Yes")
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "Running Bash", "history is no part of it")
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "──")
}
