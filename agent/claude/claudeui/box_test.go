package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

// boxed draws a prompt box with these rows between the rules, below some history, in the given
// width.
func boxed(width int, name, footer string, rows ...string) string {
	rule := strings.Repeat("─", width)
	top := rule
	if name != "" {
		top = strings.Repeat("─", width-len([]rune(name))-3) + " " + name + " ─"
	}
	return "\x1b[48;5;237m❯ \x1b[38;5;231msay one\x1b[0m\n\n● one\n\n✻ Cooked for 0s\n\n" +
		"\x1b[38;5;244m" + top + "\n\x1b[39m" + strings.Join(rows, "\n") + "\n" +
		"\x1b[0m\x1b[38;5;244m" + rule + "\n\x1b[39m" + footer
}

const (
	sign    = "❯\u00a0"
	cursor  = "\x1b[7m \x1b[0m"
	manual  = "  \x1b[38;5;246m⏸ manual mode on · ? for shortcuts\x1b[39m\n"
	running = "  ⏸ manual mode on · esc to interrupt\n"
)

func TestP7_DraftIsNotEmptyBox(t *testing.T) {
	tests := []struct {
		name  string
		rows  []string
		empty bool
		text  string
		bash  bool
	}{
		{name: "nothing", rows: []string{sign + cursor}, empty: true},
		{name: "nothing, trailing blank cut", rows: []string{sign + "\x1b[7m"}, empty: true},
		{name: "plain space after the sign", rows: []string{"❯ " + cursor}, empty: true},
		{name: "bare sign", rows: []string{"❯"}, empty: true},
		{name: "placeholder under the cursor", rows: []string{sign + "\x1b[7mT\x1b[0;2mry \"edit foo.go\"\x1b[0m"}, empty: true},
		{name: "placeholder without cursor", rows: []string{sign + "\x1b[2mTry something\x1b[22m"}, empty: true},
		{name: "draft", rows: []string{sign + "hello" + cursor}, text: "hello"},
		{name: "draft with cursor at its start", rows: []string{sign + "\x1b[7mh\x1b[27mello"}, text: "hello"},
		{name: "one character under the cursor", rows: []string{sign + "\x1b[7mh\x1b[0m"}, text: "h"},
		{name: "command with a dim completion", rows: []string{sign + "/sta\x1b[2mtus"}, text: "/status"},
		{name: "colours that contain 2 and 7", rows: []string{sign + "\x1b[38;5;2mh\x1b[48;2;7;2;2mi\x1b[39;49m"}, text: "hi"},
		{name: "colon colours", rows: []string{sign + "\x1b[38:5:2mhi\x1b[39m"}, text: "hi"},
		{name: "placeholder words typed by a person", rows: []string{sign + "Press up to edit queued messages"}, text: "Press up to edit queued messages"},
		{name: "several rows", rows: []string{sign + "one", "", "  two" + cursor}, text: "one\n\ntwo"},
		{name: "first row empty", rows: []string{sign, "  two"}, text: "two"},
		{name: "dim paste is a draft", rows: []string{sign + "\x1b[2m[Pasted text #1 +90 lines]\x1b[0m"}, text: "[Pasted text #1 +90 lines]"},
		{name: "rules and signs in the draft", rows: []string{sign + "❯ 1. Yes", "  ────────────────", "  ❯ 2. No"}, text: "❯ 1. Yes\n────────────────\n❯ 2. No"},
		{name: "wide characters", rows: []string{sign + "привет 世界 👋"}, text: "привет 世界 👋"},
		{name: "hyperlink", rows: []string{sign + "\x1b]8;;http://x/\x1b\\see\x1b]8;;\x1b\\"}, text: "see"},
		{name: "hyperlink with an Ü", rows: []string{sign + "\x1b]8;;http://x/Ü❯\x1b\\see\x1b]8;;\x1b\\"}, text: "see"},
		{name: "curly and double underlines", rows: []string{sign + "\x1b[4:3mh\x1b[4:2mi\x1b[58:2::1:2:7m!\x1b[0m"}, text: "hi!"},
		{name: "bash mode", rows: []string{"!\u00a0" + cursor}, empty: true, bash: true},
		{name: "bash mode with a command", rows: []string{"! ls -l"}, text: "ls -l", bash: true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			for _, width := range []int{40, 120, 250} {
				s := Read(boxed(width, "", manual, tc.rows...))
				require.True(t, s.Box.Present)
				assert.Equal(t, agent.Box{Present: true, Empty: tc.empty, Text: tc.text, Bash: tc.bash, Whole: !strings.Contains(tc.text, "[Pasted")}, s.Box)
				assert.Nil(t, s.Dialog)
				assert.Equal(t, tc.empty && !tc.bash, readyToType(s))
			}
		})
	}
}

func TestP7_ReadyOnlyWithALiveBox(t *testing.T) {
	empty := sign + cursor
	tests := []struct {
		name    string
		capture string
		present bool
		ready   bool
	}{
		{"named session", boxed(60, "ccbot-topic-7", manual, empty), true, true},
		{"emoji in the name", boxed(60, "👩‍💻 work", manual, empty), true, true},
		{"no footer", boxed(60, "", "", empty), true, true},
		{"status line of some rows", boxed(60, "", "  Opus · 12%\n  main\n  /home/u\n"+manual, empty), true, true},
		{"history quotes a dialog", "● Ask:\n  ❯ 1. Yes\n    2. No\n  Esc to cancel\n❯ 1. Yes\n" + boxed(60, "", manual, empty), true, true},
		{"blank rows below", boxed(60, "", manual+"\n\n\n", empty), true, true},
		{"a limit of the account", boxed(60, "", "  ⚠ Usage limit reached · limit resets 9:23pm\n    Continuing automatically at 9:23pm · Esc to cancel\n"+manual, empty), true, true},
		{"a limit that has just ended", boxed(60, "", "  ⚠ Usage limit reached · limit resets 8:28pm\n    Continuing shortly · Esc to cancel\n"+manual, empty), true, true},
		{"the help of ?", boxed(60, "", "  ! for shell mode        esc esc to clear input             ctrl+shift+_ to undo\n  / for commands          shift+tab to cycle modes           ctrl+z to suspend\n", empty), true, true},
		{"the help of ? in 2.1.128", boxed(60, "", "  ! for shell mode        double tap esc to clear input      ctrl + shift + _ to undo\n  / for commands          shift + tab to auto-accept edits   ctrl + z to suspend\n  /btw for side question  backslash (\\) + return (⏎) for     alt + o to toggle fast mode\n", empty), true, true},
		{"a page that Esc clears", boxed(60, "", "  Type to filter · Esc to clear\n", empty), false, false},
		{"a limit in words that the service sends", boxed(60, "", "  ⚠ You are out of usage · back at 9:23pm\n    Going on at 9:23pm · Esc to cancel\n"+manual, empty), true, true},
		{"a limit in the words of 2.1.332", boxed(60, "", "  ⚠ Usage limit reached · set to continue automatically 9:23pm\n    Continuing automatically at 9:23pm · Esc to cancel\n"+manual, empty), true, true},
		{"a warning with another key", boxed(60, "", "  ⚠ You are out of usage · back at 9:23pm\n    Enter to buy more · Esc to cancel\n"+manual, empty), false, false},
		{"a warning that asks something", boxed(60, "", "  ⚠ Out of usage?\n  ❯ 1. Wait\n    2. Buy\n    Going on at 9:23pm · Esc to cancel\n"+manual, empty), false, false},
		{"a limit in words that the service sends, without the box's own row", boxed(60, "", "  ⚠ You are out of usage\n    Going on at 9:23pm · Esc to cancel\n", empty), false, false},
		{"the same hint without a limit", boxed(60, "", "    Continuing automatically at 9:23pm · Esc to cancel\n"+manual, empty), false, false},
		{"a limit that asks something", boxed(60, "", "  ⚠ Usage limit reached · limit resets 9:23pm\n    Wait · Esc to cancel\n"+manual, empty), false, false},
		{"turn runs", boxed(60, "", running, empty), true, false},
		{"turn runs, footer wrapped", boxed(30, "", "  ⏸ manual mode on · esc to\n  interrupt\n", empty), true, false},
		{"turn runs, footer cut, spinner seen", "✶ Zesting… (5s · ↓ 119 tokens)\n  ⎿  Tip: x\n" +
			strings.TrimPrefix(boxed(30, "", "  ⏸ manual mode on\n", empty), history), true, false},
		{"shell below a box left by a killed agent", boxed(60, "", manual+"u@host:~$ \n", empty), false, false},
		{"dead pane", boxed(60, "", manual+"\nPane is dead (signal 9, Fri Nov 20 06:13:30 2026)\n", empty), false, false},
		{"list below an old box", boxed(60, "", "▔▔▔▔▔▔▔▔▔▔\n  Exit?\n  ❯ 1. Yes\n    2. No\n", empty), false, false},
		{"page below an old box", boxed(60, "", "  Settings\n\n  ←/→ to switch · Esc to close\n", empty), false, false},
		{"Enter goes elsewhere", boxed(60, "", "  1 shell · Enter to view tasks\n", empty), false, false},
		{"far too much below", boxed(60, "", strings.Repeat("  row\n", maxFooter+1), empty), false, false},
		{"no upper rule", strings.Repeat("● text\n", 3) + empty + "\n" + strings.Repeat("─", 60) + "\n" + manual, false, false},
		{"upper rule of another width", strings.Repeat("─", 40) + "\n" + empty + "\n" + strings.Repeat("─", 60) + "\n" + manual, false, false},
		{"box only half drawn", strings.Repeat("─", 60) + "\n" + empty + "\n", false, false},
		{"text at the left inside", boxed(60, "", manual, empty, "Which one?"), false, false},
		{"indented copy of a box", "● So:\n  " + strings.Repeat("─", 60) + "\n  ❯ \n  " + strings.Repeat("─", 60) + "\n", false, false},
		{"shell that uses the same sign", "~/proj\n❯ ", false, false},
		{"nothing", "", false, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(tc.capture)
			assert.Equal(t, tc.present, s.Box.Present)
			assert.Equal(t, tc.ready, readyToType(s))
			assert.Equal(t, strings.Contains(tc.name, "a limit ") && tc.present, s.Continues)
		})
	}
}

const history = "\x1b[48;5;237m❯ \x1b[38;5;231msay one\x1b[0m\n\n● one\n\n✻ Cooked for 0s\n\n"

func TestP7_UnknownDialogsAreRecognisedByHints(t *testing.T) {
	rule := strings.Repeat("─", 60)
	tests := []struct {
		name     string
		capture  string
		title    string
		options  []string
		selected int
	}{
		{"nudge with the cursor on Yes", rule + "\n  Make auto mode your default permission mode?\n\n  ❯ 1. Yes\n    2. Not now\n\n  Enter to confirm · Esc to cancel\n",
			"Make auto mode your default permission mode?", []string{"Yes", "Not now"}, 0},
		{"cursor on the last option below a rule", rule + "\n←  ☐ A  ✔ Submit  →\n\nWhich?\n\n  1. Go\n  2. C\n" + rule + "\n❯ 3. Chat about this\n\nEnter to select · Esc to cancel\n",
			"Which?", []string{"Go", "C", "Chat about this"}, 2},
		{"page without options, hint wrapped", "▔▔▔▔▔▔▔▔▔▔\n  Usage\n\n  12 %\n\n  Press Esc\n  to close\n",
			"Usage", nil, -1},
		{"list without hint, upper rule seen", rule + "\n Review\n\n❯ 1. Submit\n  2. Cancel\n", "Review", []string{"Submit", "Cancel"}, 0},
		{"list below an old box", boxed(60, "", "  Exit?\n  ❯ 1. Yes\n    2. No\n", sign+cursor), "Exit?", []string{"Yes", "No"}, 0},
		{"page below an old box", boxed(60, "", "  Exit?\n  Press Enter to leave\n", sign+cursor), "Exit?", nil, -1},
		{"upper rule scrolled away", " of the plan\n ❯ 1. Yes\n   2. No\n Esc to cancel\n", "of the plan", []string{"Yes", "No"}, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(history + tc.capture)
			require.NotNil(t, s.Dialog)
			assert.False(t, readyToType(s))
			if tc.name != "upper rule scrolled away" {
				assert.Equal(t, tc.title, s.Dialog.Title)
			}
			assert.Equal(t, tc.options, s.Dialog.Options)
			assert.Equal(t, tc.selected, s.Dialog.Selected)
		})
	}
}

func TestHolds(t *testing.T) {
	long := strings.Repeat("a line of text\n", 90)
	tests := []struct {
		name string
		box  agent.Box
		text string
		want bool
	}{
		{"same", agent.Box{Present: true, Text: "hello world"}, "hello world", true},
		{"wrapped at a word", agent.Box{Present: true, Text: "hello\nworld"}, "hello world", true},
		{"wrapped inside a word", agent.Box{Present: true, Text: "hel\nlo world"}, "hello world", true},
		{"tab shown as spaces", agent.Box{Present: true, Text: "a    b"}, "a\tb", true},
		{"inside a person's draft", agent.Box{Present: true, Text: "look at this"}, "ok", false},
		{"after a draft", agent.Box{Present: true, Text: "draft hello"}, "hello", false},
		{"a paste beside a draft", agent.Box{Present: true, Text: "see [Pasted text #1 +89 lines]"}, long, false},
		{"letters are composed", agent.Box{Present: true, Text: "caf\u00e9 K"}, "cafe\u0301 \u212a", true},
		{"other text", agent.Box{Present: true, Text: "good bye"}, "hello", false},
		{"cut", agent.Box{Present: true, Text: "hello wor"}, "hello world", false},
		{"blank text proves nothing", agent.Box{Present: true, Text: "x"}, " \n", false},
		{"empty box", agent.Box{Present: true, Empty: true}, "x", false},
		{"absent box", agent.Box{Text: "x"}, "x", false},
		{"collapsed paste, breaks counted", agent.Box{Present: true, Text: "[Pasted text #1 +89 lines]"}, long, true},
		{"collapsed paste, lines counted", agent.Box{Present: true, Text: "[Pasted text #1 +90 lines]"}, long, true},
		{"collapsed paste wrapped", agent.Box{Present: true, Text: "[Pasted text\n#1 +90 lines]"}, long, true},
		{"a foreign paste", agent.Box{Present: true, Text: "[Pasted text #1 +12 lines]"}, long, false},
		{"a single line is not in a paste of several", agent.Box{Present: true, Text: "[Pasted text #1 +1 lines]"}, "hello", false},
		{"one long line", agent.Box{Present: true, Text: "[Pasted text #2]"}, strings.Repeat("x", 1000), true},
		{"one short line", agent.Box{Present: true, Text: "[Pasted text #2]"}, "hello", false},
		{"an image is no text", agent.Box{Present: true, Text: "[Image #1]"}, strings.Repeat("x", 1000), false},
		{"middle cut out", agent.Box{Present: true, Text: strings.Repeat("ab ", 50) + "[...Truncated text #1 +80 lines...]" + strings.Repeat("yz ", 50)},
			strings.Repeat("ab ", 50) + long + strings.Repeat("yz ", 50), true},
		{"another text with its middle cut out", agent.Box{Present: true, Text: strings.Repeat("ab ", 50) + "[...Truncated text #1 +80 lines...]" + strings.Repeat("qq ", 50)},
			strings.Repeat("ab ", 50) + long + strings.Repeat("yz ", 50), false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			assert.Equal(t, tc.want, Reader{}.Holds(tc.box, tc.text))
		})
	}
}
