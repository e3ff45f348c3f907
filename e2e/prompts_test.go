package e2e

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/demoagent"
)

// hardTexts are texts that other bots lose, change or run. want is empty where
// the text arrives as it was sent; the others are the documented normalisation.
// real is what the real CLI hands to the model where it changes a text itself:
// a space at the end goes; a paste of four lines or 800 characters is wrapped,
// which the test looks through.
var hardTexts = []struct{ name, text, want, real string }{
	{name: "several lines", text: "first\nsecond\n\nfourth"},
	{name: "trailing semicolon", text: "a; b;"},
	{name: "trailing backslash", text: `ends with \`, want: `ends with \ `, real: `ends with \`},
	{name: "leading dash", text: "-la --help"},
	{name: "leading ! in several lines", text: "!one\ntwo", want: " !one\ntwo"},
	{name: "quotes", text: `'single' "double" \"both\"`},
	{name: "command substitution", text: "$(touch /tmp/ccbot-x) ${HOME} #{pane_pid} #(touch y)"},
	{name: "backticks", text: "`rm -rf .` ```go\nfunc main() {}\n```"},
	{name: "emoji with joiners", text: "👩‍👩‍👧‍👦 👍🏽 🏳️‍🌈"},
	{name: "CJK", text: "请检查这个函数，日本語、한국어"},
	{name: "right to left", text: "مرحبا بالعالم שלום"},
	{name: "tabs", text: "a\tb\t\tc", want: "a    b        c"}, // the box itself does that, also in the real CLI
	{name: "4096 characters", text: strings.Repeat("0123456789abcde\n", 256)[:4095] + "."},
	{name: "an embedded end of paste", text: "before\x1b[201~after", want: "before[201~after"},
	{name: "carriage returns", text: "one\r\ntwo\rthree", want: "one\ntwo\nthree"},
}

// TestP7_HardTextsArriveUnchanged sends texts that are dangerous on their way
// through Telegram, tmux, the terminal and the prompt box.
func TestP7_HardTextsArriveUnchanged(t *testing.T) {
	inShortRun(t, "the paste through tmux")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	for i, tt := range hardTexts {
		w.inject(tt.text)
		w.until("the agent got: "+tt.name, func() bool { return len(w.received()) > i })
		assert.Equal(t, cmp.Or(tt.want, tt.text), w.received()[i], tt.name)
	}
	w.inject(" \n\t ")
	w.hear(0, "no text to send")
	w.hear(w.say("say the end"), "the end")
	assert.Len(t, w.received(), len(hardTexts)+1)
	assert.NoFileExists(t, "/tmp/ccbot-x")
	w.stop()
}

// inject delivers a text as it stands. Telegram's own clients would turn tabs
// into spaces and drop control characters; nothing may depend on that.
func (w *world) inject(text string) {
	w.t.Helper()
	update, err := json.Marshal(map[string]any{"message": map[string]any{
		"message_id": 100_000 + len(w.api.Calls()), "date": time.Now().Unix(), "text": text,
		"from": map[string]any{"id": w.person.ID(), "first_name": "You"},
		"chat": map[string]any{"id": w.chat(), "type": "private", "first_name": "You"},
	}})
	require.NoError(w.t, err)
	_, err = w.api.Inject(update)
	require.NoError(w.t, err)
}

// TestP5_LongAnswerArrivesWhole asks for 20,000 characters with code fences.
func TestP5_LongAnswerArrivesWhole(t *testing.T) {
	t.Parallel()
	const size = 20_000
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	id := w.say("long 20000")
	lines := strings.Split(strings.TrimSpace(demoagent.Long(size)), "\n")
	w.hear(id, lines[len(lines)-2])
	var got strings.Builder
	for _, m := range w.api.Messages(w.chat()) {
		if m.FromBot && m.ID > id && len(m.Keyboard) == 0 { // the card of the turn has buttons
			got.WriteString(m.Text + "\n")
		}
	}
	fences := strings.NewReplacer("```go", "", "```", "")
	assert.Equal(t, strings.Fields(fences.Replace(demoagent.Long(size))), strings.Fields(got.String()))
	w.stop()
}

// TestP7_DialogBeforeEnterStopsEnter opens a permission dialog after the last check of the screen:
// Enter would approve it. The prompt waits and is typed once the dialog is answered.
func TestP7_DialogBeforeEnterStopsEnter(t *testing.T) {
	inShortRun(t, "typing with proof")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	armed := w.say("dialog-on-paste")
	w.until("the agent has the word", func() bool { return len(w.received()) == 1 })
	id := w.say("say must never approve anything")
	asked := w.hear(armed, "wants to run a command")
	assert.Len(t, w.received(), 1, "nothing was submitted into the dialog")

	w.tap(asked, "Deny")
	w.hear(id, "must never approve anything")
	assert.Equal(t, []string{"dialog-on-paste", "say must never approve anything"}, w.received())
	w.stop()
}

// TestDialogIsShownStopIsRefused opens a permission dialog without a hook: the chat shows the
// terminal, a text waits, and /stop names the question.
func TestDialogIsShownStopIsRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t, "DEMOAGENT_NO_HOOKS=1")
	w.start()
	w.open("work", w.dir)
	id := w.say("bash rm -rf build")
	dialog := w.hear(id, "is waiting for an answer")
	assert.Contains(t, dialog.Text, "rm -rf build")
	assert.Contains(t, dialog.Text, "tmux -L "+w.socket+" attach")

	held := w.say("say after the dialog")
	w.hear(held, "1 message waits.")
	assert.Len(t, w.received(), 1)
	w.hear(w.say("/stop"), "work is waiting for your answer")
	assert.Len(t, w.received(), 1)
	w.escape()
	w.hear(held, "after the dialog")
	assert.Equal(t, 1, w.heard("is waiting for an answer:"), "a dialog is told once")
	w.stop()
}

// TestP7_DirectoryNameRunsNothing opens a directory whose name is a command
// to tmux's formats.
func TestP7_DirectoryNameRunsNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start()
	dir := filepath.Join(w.dir, "a#(touch x)b")
	require.NoError(t, os.Mkdir(dir, 0o755))
	w.hear(w.say("/new "+dir), "is ready")
	w.hear(w.say("say inside"), "inside")
	assert.Equal(t, dir, w.tmux("list-panes", "-s", "-t", "=ccbot:", "-f", "#{!=:#{window_name},__main__}", "-F", "#{pane_current_path}"))
	for _, where := range []string{w.dir, dir, filepath.Dir(w.dir), "."} {
		assert.NoFileExists(t, filepath.Join(where, "x"))
	}
	w.stop()
}

// TestAgentCommands passes slash commands on to the agent, //x as its own /x.
func TestAgentCommands(t *testing.T) {
	inShortRun(t, "the agent's own commands")
	t.Parallel()
	w := newWorld(t)
	w.start()
	w.open("work", w.dir)
	w.say("/clear")
	w.until("the agent got /clear", func() bool { return len(w.received()) == 1 })
	w.hear(w.say("say after clear"), "after clear")
	w.say("//help")
	w.until("the agent got its own /help", func() bool { return len(w.received()) == 3 })
	assert.Equal(t, []string{"/clear", "say after clear", "/help"}, w.received())
	w.stop()
}
