package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hookBreakers are variables that stop a hook, or take its launch from it, where they reach it.
func hookBreakers(t *testing.T) map[string]string {
	library := filepath.Join(t.TempDir(), "libc.so.6")
	require.NoError(t, os.WriteFile(library, []byte("no library"), 0o600))
	return map[string]string{
		"CCBOT_LAUNCH": "", "CCBOT_DIR": "/nowhere",
		"GOMEMLIMIT": "x", "GOGC": "x", "GODEBUG": "inittrace=1", "GOTRACEBACK": "crash", "GOMAXPROCS": "0",
		"PATH": "/nowhere:/usr/bin:/bin", "IFS": "/", "ENV": "/nowhere", "BASH_ENV": "/nowhere", "PS4": "x", "TMUX": "x", "TMUX_PANE": "%99",
		"CLAUDE_PID": "1", "OPTIND": "x", "LD_PRELOAD": library, "LD_AUDIT": library, "LD_LIBRARY_PATH": filepath.Dir(library),
		"LD_DEBUG": "help", "GLIBC_TUNABLES": "glibc.malloc.top_pad=99999999999999999", "LOCPATH": "/nowhere", "LC_ALL": "xx",
		"CLAUDE_CODE_SHELL_PREFIX": "/bin/false", "CLAUDE_CODE_SIMPLE": "1", "CLAUDE_CODE_SAFE_MODE": "1",
	}
}

// projectSets writes the settings of the world's project.
func (w *world) projectSets(settings map[string]any) {
	w.t.Helper()
	data, err := json.Marshal(settings)
	require.NoError(w.t, err)
	folder := filepath.Join(w.dir, ".claude")
	require.NoError(w.t, os.MkdirAll(folder, 0o700))
	require.NoError(w.t, os.WriteFile(filepath.Join(folder, "settings.json"), data, 0o600))
}

// projectSetsNow writes the settings while the agent runs, and waits until its commands see them.
func (w *world) projectSetsNow(env map[string]string) {
	w.t.Helper()
	mark := fmt.Sprintf("mark-%d-", w.say("/list"))
	env = maps.Clone(env)
	env["CCBOT_TEST_MARK"] = mark + "seen"
	w.projectSets(map[string]any{"env": env, "disableAllHooks": true})
	for range 20 {
		answer := w.hear(w.say("!echo "+mark+"asked $CCBOT_TEST_MARK"), mark+"asked")
		answer = w.becomes(answer, mark+"asked", false)
		if strings.Contains(answer.Text, mark+"seen") {
			return
		}
	}
	w.t.Fatal("Claude Code did not take the new settings")
}

// allowed asks for a permission that the chat must show as a request, and gives it.
func (w *world) allowed(file string) {
	w.t.Helper()
	card := w.hear(w.say("bash touch "+file), "wants to run a command")
	assert.NoFileExists(w.t, filepath.Join(w.dir, file))
	w.tap(card, "Allow")
	w.hear(card.ID, "tool result")
	assert.FileExists(w.t, filepath.Join(w.dir, file))
}

// TestRealP7_RepositoryEnvironmentStopsNoHook lets a repository set what would stop ccbot's hook,
// before the agent starts and while it runs.
func TestRealP7_RepositoryEnvironmentStopsNoHook(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	breakers := hookBreakers(t)
	w.projectSets(map[string]any{"env": breakers})
	w.start()
	w.open("work", w.dir)
	assert.False(t, w.records()[0].ReportsAt.IsZero(), "SessionStart was heard")
	w.allowed("at-start")

	w.projectSets(map[string]any{})
	w.hear(w.say("/new other "+w.dir), "other is ready")
	w.allowed("without")
	w.projectSetsNow(breakers)
	w.allowed("while-it-runs")
	w.stop()
}

// TestRealP7_DialogWithoutRequestOffersYesNo lets a repository set a variable that no launch can
// take back: then the terminal's own dialog has a warning and no option that permits more.
func TestRealP7_DialogWithoutRequestOffersYesNo(t *testing.T) {
	t.Parallel()
	w, _ := newRealWorld(t)
	w.projectSets(map[string]any{"env": map[string]string{"LD_TRACE_LOADED_OBJECTS": "1"}})
	w.start()
	w.open("work", w.dir)
	dialog := w.hear(w.say("bash touch unasked"), "Do you want to proceed?")
	assert.Contains(t, dialog.Text, "Only the terminal asks this")
	assert.Equal(t, []string{"Yes", "No", "Esc"}, labels(dialog))
	w.tap(dialog, "No")
	w.becomes(dialog, "Do you want to proceed?", true) // its end may appear before presence changes
	assert.NoFileExists(t, filepath.Join(w.dir, "unasked"))

	question := w.hear(w.say("ask"), "Which database?")
	assert.Contains(t, labels(question), "SQLite", "a question keeps its options")
	assert.NotContains(t, question.Text, "Only the terminal asks this")
	w.tap(question, "SQLite")
	assert.Contains(t, labels(w.hear(question.ID, "Which language?")), "Go", "another question has another message")
	w.stop()
}
