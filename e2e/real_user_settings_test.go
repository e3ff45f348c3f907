package e2e

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// settingsEnv names the file that gets the table of all settings with their outcomes. Without it
// the test runs only the rows that no other test has.
const settingsEnv = "CCBOT_SETTINGS_REPORT"

// settingsRow is a Claude Code with settings that people have.
type settingsRow struct {
	name    string
	user    map[string]any    // settings of the person
	project map[string]any    // settings of the repository
	binds   map[string]any    // of the prompt box
	env     []string          // of the agent
	files   map[string]string // of the session's folder
	size    string            // of the window, as WIDTHxHEIGHT; empty: as ccbot makes it
	flow    func(w *world)    // nil: shortFlow
	always  bool              // no other test has it
}

// shortFlow is the test of each row: texts of one and three lines, a permission from the chat, a
// stopped turn, and the next text.
func (w *world) shortFlow() {
	w.t.Helper()
	w.hear(w.say("say one"), "one")
	w.hear(w.say("say two\nthree\nfour"), "two")
	w.allowed("made")
	w.stopsTurn("afterwards", "", w.screenOf("work").Editor)
	assert.Equal(w.t, []int{1, 1, 1}, []int{w.saidTo("say one"), w.saidTo("say two"), w.saidTo("say afterwards")})
	assert.Zero(w.t, w.heard("not certain"))
	w.drained()
}

// blindFlow is shortFlow without reading the screen, whose status line has unknown rows.
func (w *world) blindFlow() {
	w.t.Helper()
	w.hear(w.say("say one"), "one")
	w.hear(w.say("say two\nthree\nfour"), "two")
	w.allowed("made")
	w.stopsMute()
	assert.Zero(w.t, w.heard("has something open"))
}

// stopsMute stops a turn before its first word.
func (w *world) stopsMute() {
	w.t.Helper()
	w.mutes()
	w.hear(w.say("/stop"), "was not carried out")
	w.hear(w.say("say afterwards"), "afterwards")
	assert.Equal(w.t, 1, w.saidTo("say afterwards"))
}

// compactFlow has Claude Code compact the conversation between the texts.
func (w *world) compactFlow() {
	w.t.Helper()
	for _, text := range []string{"one", "two", "three", "four"} {
		w.hear(w.say("say "+text+"\nand more"), text)
	}
	assert.Contains(w.t, w.transcript(w.claudeID()), "compact_boundary")
	w.stopsMute()
}

// modeFlow is shortFlow for a person's default mode: ccbot starts its sessions so that they ask.
func (w *world) modeFlow() {
	w.t.Helper()
	w.shortFlow()
	assert.Equal(w.t, "default", w.screenOf("work").Mode)
}

// unboundFlow names the file and the binding, and types nothing.
func (w *world) unboundFlow(binding string) func(w *world) {
	return func(w *world) {
		w.t.Helper()
		held := w.say("say one")
		assert.Contains(w.t, w.hear(held, "keybindings.json").Text, binding)
		assert.True(w.t, w.screenOf("work").Box.Empty)
		w.binds(map[string]any{})
		w.hear(held, "one")
	}
}

// refusedFlow has a text refused by a hook, and ccbot killed before or after it takes the text out
// of the box. If the text is still there, the next one waits, and [Send anyway] removes it.
func (w *world) refusedFlow() {
	w.t.Helper()
	w.hear(w.say("say FORBID one"), "not on a Friday")
	w.kill9()
	w.start()
	next := w.say("say next")
	w.until("it is sent, or waits", func() bool { return w.heardAfter(next, "next") || w.heardAfter(next, "holds a draft") })
	if w.heardAfter(next, "holds a draft") {
		w.tap(w.hear(next, "holds a draft"), "Send anyway")
		w.hear(next, "say FORBID one")
	}
	w.until("it is answered", func() bool { return w.saidTo("say next") == 1 })
	w.shortFlow()
	assert.Zero(w.t, w.saidTo("say FORBID"))
}

// permissionKeysFlow has other keys in the terminal's permission dialog: the chat answers by the
// hook, and presses none of them.
func (w *world) permissionKeysFlow() {
	w.t.Helper()
	w.allowed("first")
	card := w.hear(w.say("bash touch second"), "wants to run a command")
	w.endHooks()
	dialog := w.hear(card.ID, "Do you want to proceed?")
	w.tap(dialog, "Yes")
	w.hear(dialog.ID-1, "keybindings.json")
	assert.NoFileExists(w.t, filepath.Join(w.dir, "second"))
}

// adoptedFlow connects an agent that a person has started.
func (w *world) adoptedFlow() {
	w.t.Helper()
	desk, pane, _, _ := w.adopted()
	w.hear(w.say("say one"), "one")
	w.hear(w.say("say two\nthree\nfour"), "two")
	w.stopsMute()
	assert.Equal(w.t, 1, w.saidTo("say two"))
	assert.NotContains(w.t, desk.screen(pane), "command not found")
}

// adoptedBlindFlow connects an agent whose status line looks like a question: nothing is typed
// until ccbot itself has started the agent.
func (w *world) adoptedBlindFlow() {
	w.t.Helper()
	desk, pane, _, _ := w.adopted()
	assert.Positive(w.t, w.heard("a status line that looks like a question holds your messages"))
	w.until("the agent shows its status line", func() bool { return strings.Contains(desk.screen(pane), "press esc to cancel") })
	w.hear(w.say("say one"), "is waiting for an answer")
	assert.Zero(w.t, w.saidTo("say one"))
	w.end("work")
	w.hear(w.say("/resume work"), "is ready")
	w.hear(w.say("say two"), "two")
	assert.LessOrEqual(w.t, w.saidTo("say one"), 1)
}

func promptHook(command string) map[string]any {
	return map[string]any{"hooks": map[string]any{"UserPromptSubmit": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": command}}}}}}
}

func statusLine(rows string) map[string]any {
	return map[string]any{"statusLine": map[string]any{"type": "command", "command": "printf '" + rows + "'"}}
}

const forbids = "grep -q FORBID && { echo not on a Friday >&2; exit 2; } || exit 0"

func settingsRows(w *world) []settingsRow {
	set := func(key string, value any) map[string]any { return map[string]any{key: value} }
	vim, reader := set("editorMode", "vim"), set("axScreenReader", true)
	both := map[string]any{"editorMode": "vim", "axScreenReader": true}
	mode := func(name string) map[string]any { return set("permissions", map[string]any{"defaultMode": name}) }
	slow := map[string]any{"hooks": map[string]any{"SessionStart": []any{map[string]any{"hooks": []any{map[string]any{"type": "command", "command": "sleep 10"}}}}}}
	return []settingsRow{
		{name: "none", flow: (*world).fullFlow},
		{name: "vim", user: vim},
		{name: "vim, Esc before", user: vim, flow: func(w *world) { w.tmux("send-keys", "-t", "=ccbot:=work", "Escape"); w.shortFlow() }},
		{name: "vim of the project", project: vim, always: true},
		{name: "vim, adopted", user: vim, flow: (*world).adoptedFlow, always: true},
		{name: "screen reader", user: reader, flow: (*world).fullFlow},
		{name: "screen reader of the project", project: reader, always: true},
		{name: "screen reader by variable", env: []string{"AGENT_ENV_CLAUDE_AX_SCREEN_READER=1"}},
		{name: "screen reader and vim", user: both},
		{name: "screen reader, adopted", user: reader, flow: (*world).adoptedFlow, always: true},
		{name: "screen reader with a status line", user: merged(reader, statusLine(`❯ ~/proj main\n$ 0.12\nmanual mode on\n`)), always: true},
		{name: "screen reader, 30 columns", user: reader, size: "30x24", always: true},
		{name: "status line like a dialog", user: statusLine(`❯ ~/proj main\n1. Yes\npress esc to cancel\n───\n`), flow: (*world).blindFlow},
		{name: "status line like a dialog, of the project", project: statusLine(`❯ ~/proj main\n1. Yes\npress esc to cancel\n───\n`), flow: (*world).blindFlow, always: true},
		{name: "status line like a dialog, adopted", user: statusLine(`❯ ~/proj main\n1. Yes\npress esc to cancel\n───\n`), flow: (*world).adoptedBlindFlow, always: true},
		{name: "status line, 3 coloured rows", user: statusLine(`\\033[31mred\n\\033[32mgreen\n\\033[34mblue\n`)},
		{name: "status line, 6 rows", user: statusLine(`one\ntwo\nthree\nfour\nfive\nsix\n`)},
		{name: "a hook refuses a text, then a restart", user: promptHook(forbids), flow: (*world).refusedFlow, always: true},
		{name: "a hook of the project refuses a text", project: promptHook(forbids), flow: (*world).refusedFlow, always: true},
		{name: "a hook adds context", user: promptHook("echo more context")},
		{name: "a hook takes 6 s", user: promptHook("sleep 6")},
		{name: "SessionStart takes 10 s", user: slow},
		{name: "disableAllHooks", user: set("disableAllHooks", true)},
		{name: "escape is unbound", binds: map[string]any{"escape": nil}},
		{name: "enter is a new line", binds: map[string]any{"enter": "chat:newline"}, flow: w.unboundFlow("Chat: enter → chat:newline")},
		{name: "enter is a new line, ctrl+s submits", binds: map[string]any{"enter": "chat:newline", "ctrl+s": "chat:submit"}},
		{name: "enter is a new line, ctrl+s submits, adopted", binds: map[string]any{"enter": "chat:newline", "ctrl+s": "chat:submit"}, flow: (*world).adoptedFlow, always: true},
		{name: "enter has two names, the later one submits", binds: map[string]any{"enter": "chat:newline", "return": "chat:submit"}},
		{name: "the bytes of enter and escape", binds: map[string]any{"ctrl+m": "chat:newline", "ctrl+[": "chat:newline"}},
		{name: "ctrl+u opens an editor", binds: map[string]any{"ctrl+u": "chat:externalEditor"}},
		{name: "other keys in the permission dialog", flow: (*world).permissionKeysFlow, always: true},
		{name: "tui fullscreen", user: set("tui", "fullscreen")},
		{name: "no flicker", env: []string{"AGENT_ENV_CLAUDE_CODE_NO_FLICKER=1"}},
		{name: "prompt suggestions", user: set("promptSuggestionEnabled", true)},
		{name: "60x40", size: "60x40"},
		{name: "40x20", size: "40x20"},
		{name: "30x24", size: "30x24", always: true},
		{name: "20x24", size: "20x24", always: true},
		{name: "200x50", size: "200x50"},
		{name: "verbose", user: set("verbose", true)},
		{name: "output style", user: set("outputStyle", "Explanatory")},
		{name: "theme light", user: set("theme", "light")},
		{name: "theme light-daltonized", user: set("theme", "light-daltonized")},
		{name: "theme dark-ansi", user: set("theme", "dark-ansi")},
		{name: "Japanese", user: set("language", "japanese")},
		{name: "no colour", env: []string{"AGENT_ENV_NO_COLOR=1"}},
		{name: "accessibility", env: []string{"AGENT_ENV_CLAUDE_CODE_ACCESSIBILITY=1"}},
		{name: "reduced motion", user: set("prefersReducedMotion", true)},
		{name: "spinner verbs and tips", user: map[string]any{"spinnerVerbs": map[string]any{"mode": "replace", "verbs": []string{"❯ 1. Yes 2. No"}},
			"spinnerTipsOverride": map[string]any{"excludeDefault": true, "tips": []string{"❯ 1. Yes", "1. Yes 2. No"}}}},
		{name: "CLAUDE.md of 54 KB", files: map[string]string{"CLAUDE.md": strings.Repeat("Be brief and kind, and test all that you change.\n", 1100)}},
		{name: "two broken MCP servers", files: map[string]string{".mcp.json": `{"mcpServers": {"a": {"command": "/nonexistent"}, "b": {"command": "false"}}}`},
			user: set("enableAllProjectMcpServers", true)},
		{name: "defaultMode acceptEdits", user: mode("acceptEdits"), flow: (*world).modeFlow},
		{name: "defaultMode plan", user: mode("plan"), flow: (*world).modeFlow},
		{name: "defaultMode bypassPermissions", user: mode("bypassPermissions"), flow: (*world).modeFlow},
		{name: "autoCompact off", user: set("autoCompactEnabled", false), always: true},
		{name: "autoCompact early", env: []string{"AGENT_ENV_CLAUDE_AUTOCOMPACT_PCT_OVERRIDE=1"}, flow: (*world).compactFlow, always: true},
	}
}

func merged(all ...map[string]any) map[string]any {
	m := map[string]any{}
	for _, one := range all {
		for key, value := range one {
			m[key] = value
		}
	}
	return m
}

// TestRealP7_SettingsOfPeople runs the real CLI with settings that people have, a world for each.
func TestRealP7_SettingsOfPeople(t *testing.T) {
	report := os.Getenv(settingsEnv)
	for i, row := range settingsRows(nil) {
		if report == "" && !row.always {
			continue
		}
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			w, _ := newRealWorld(t)
			if report != "" {
				t.Cleanup(func() { noteOutcome(t, report, i, row.name, time.Since(began)) })
			}
			row.run(w)
		})
	}
}

func (row settingsRow) run(w *world) {
	w.t.Helper()
	w.userSets(row.user)
	if row.project != nil {
		w.projectSets(row.project)
	}
	if row.binds != nil {
		w.binds(row.binds)
	}
	if strings.Contains(row.name, "permission dialog") {
		data, err := json.Marshal(map[string]any{"bindings": []any{map[string]any{"context": "Confirmation",
			"bindings": map[string]any{"enter": "confirm:no", "ctrl+y": "confirm:yes"}}}})
		require.NoError(w.t, err)
		require.NoError(w.t, os.WriteFile(filepath.Join(w.claude, "keybindings.json"), data, 0o600))
	}
	for name, content := range row.files {
		require.NoError(w.t, os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600))
	}
	w.start(row.env...)
	flow := row.flow
	if flow == nil {
		flow = (*world).shortFlow
	}
	if !strings.Contains(row.name, "adopted") {
		w.open("work", w.dir)
	}
	if width, height, ok := strings.Cut(row.size, "x"); ok {
		w.tmux("resize-window", "-t", "=ccbot:=work", "-x", width, "-y", height)
	}
	flow(w)
	w.picture("settings-" + strings.ReplaceAll(row.name, " ", "-"))
	w.stop()
}

// noteOutcome appends a row to the report.
func noteOutcome(t *testing.T, report string, i int, name string, took time.Duration) {
	outcome := "passes"
	if t.Failed() {
		outcome = "fails"
	}
	f, err := os.OpenFile(report, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	require.NoError(t, err)
	_, err = fmt.Fprintf(f, "| %2d | %s | %s | %.0f s |\n", i+1, name, outcome, took.Seconds())
	require.NoError(t, err)
	require.NoError(t, f.Close())
}
