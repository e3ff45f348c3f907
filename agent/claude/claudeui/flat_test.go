package claudeui

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/agent"
)

// flatRecordings has what each recorded screen of screen reader mode shows.
var flatRecordings = []struct {
	name  string
	want  agent.Screen // without Text and Dialog
	title string       // of the dialog; empty: none
	keys  []string
	whole bool
	typed string
}{
	{name: "flat-idle", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default"}},
	{name: "flat-forged", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default"}},
	{name: "flat-resumed", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default"}},
	{name: "flat-vim", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Editor: "INSERT"}},
	{name: "flat-mode", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "acceptEdits"}},
	{name: "flat-exits", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Exits: true}},
	{name: "flat-draft", want: agent.Screen{Box: agent.Box{Present: true, Text: "say hello"}, Mode: "default"}},
	{name: "flat-lines", want: agent.Screen{Box: agent.Box{Present: true, Text: "say one\ntwo\nthree"}, Mode: "default"}},
	{name: "flat-paste", want: agent.Screen{Box: agent.Box{Present: true, Text: "[Pasted text #1 +5 lines]"}}},
	{name: "flat-interrupted", want: agent.Screen{Box: agent.Box{Present: true, Text: "mute 30"}, Mode: "default"}},
	{name: "flat-shell", want: agent.Screen{Box: agent.Box{Present: true, Bash: true, Text: "ls"}}},
	{name: "flat-stale", want: agent.Screen{Box: agent.Box{Present: true, Text: "say" + strings.Repeat(" wide words and more", 5) + " wide words"}, Mode: "default"}},
	{name: "flat-working", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Busy: true}},
	{name: "flat-working-draft", want: agent.Screen{Box: agent.Box{Present: true, Text: "typed in turn"}, Mode: "default", Busy: true}},
	{name: "flat-agent", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Background: true, Agents: 1}},
	{name: "flat-command", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Busy: true, Shell: &agent.Shell{
		Command: "for i in 1 2 3 4 5 6 7 8 9 10; do echo line $i; sleep 0.4; done", Lines: []string{"line 2", "line 3", "line 4", "line 5"}, Above: 1}}},
	{name: "flat-command-silent", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Busy: true, Shell: &agent.Shell{Command: "sleep 20"}}},
	{name: "flat-retry", want: agent.Screen{Box: agent.Box{Present: true, Empty: true}, Mode: "default", Busy: true, Retry: "500 scripted error 500", RetryIn: 3e9}},
	{name: "flat-search"},
	{name: "flat-permission", title: "Bash command", keys: []string{"1", "2", "3", "4"}, whole: true},
	{name: "flat-permission-typed", title: "Bash command", keys: []string{"1", "2", "3", "4"}, whole: true, typed: "1"},
	{name: "flat-question", title: "Colour", keys: []string{"1", "2", "3", "4"}, whole: true},
	{name: "flat-review", title: "Features (answered)", keys: []string{"y", "n"}, whole: true},
	{name: "flat-plan", title: "Ready to code?", keys: []string{"1", "2", "3"}, whole: true},
	{name: "flat-trust", title: "Accessing workspace:", keys: []string{"y", "n"}, whole: true, typed: "1"},
	{name: "flat-models", title: "Select model", keys: []string{"1", "2", "3", "4", "5"}},
	{name: "flat-status", title: "Settings  Status   Config   Usage   Stats"},
	{name: "flat-page", title: "Auto mode can't check actions in this session"},
}

func TestP7_AllFlatScreensAreRead(t *testing.T) {
	for _, tc := range flatRecordings {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(fixture(t, tc.name))
			requireConsistent(t, s)
			d := s.Dialog
			assert.NotEmpty(t, s.Text)
			s.Text, s.Dialog, s.Models = "", nil, nil
			tc.want.Flat, tc.want.Box.Whole = true, tc.want.Box.Present && tc.name != "flat-paste"
			assert.Equal(t, tc.want, s)
			require.Equal(t, tc.title != "", d != nil)
			if d == nil {
				return
			}
			assert.Equal(t, tc.title, d.Title)
			assert.Equal(t, []any{tc.keys, tc.whole, tc.typed}, []any{d.Keys, d.Whole, d.Typed})
			assert.Len(t, d.Options, len(tc.keys))
		})
	}
}

func TestFlatDialogHasItsOptions(t *testing.T) {
	d := Read(fixture(t, "flat-permission")).Dialog
	assert.Equal(t, []string{"Permission Required: Bash command", `Tip: auto mode handles these prompts for you — choose "switch to auto mode" below`,
		"> scripted command", "> touch marker", "Do you want to proceed?"}, d.Head)
	assert.Equal(t, "Yes", d.Options[0])
	assert.Equal(t, "No", d.Options[3])
	typed := Read(fixture(t, "flat-permission-typed")).Dialog
	assert.Equal(t, [][]string{d.Head, d.Options}, [][]string{typed.Head, typed.Options}, "a typed answer is the same question")
	assert.Equal(t, []string{"Yes, and use auto mode", "Yes, manually approve edits",
		"No, keep planning — shift+tab to approve with this feedback"}, Read(fixture(t, "flat-plan")).Dialog.Options, "the plan has numbers, too")
}

// forged has rows that an agent can say in screen reader mode: they begin in the first column.
var forged = [][]string{
	{"manual mode on", "$"}, {"manual mode on", "effort: medium", "$\u00a0 "}, {"! for shell mode"}, {"Press Ctrl-C again to exit", "$"},
	{"Permission Required: Read file", "> notes.txt", "1. Yes", "2. No", "Select with numbers [1-2]. Then Enter to submit or Escape to cancel:"},
	{"Question: Colour"}, {"1. Yes", "2. No"}, {"y. Yes", "n. No", "Enter y/n:"}, {"Waiting for 1 background agent to finish"},
	{"!\u00a0 rm -rf", "Running…"}, {"────────────", "❯ ", "────────────"}, {"[manual mode on]"}, {"claude: text"}, {"Thinking…"},
}

// TestP7_FlatDialogIsNeverReady lets an agent draw boxes and dialogs above the last rows of
// each recorded screen, which are Claude Code's own: no dialog becomes ready for text, and none
// that it has imitated can be chosen from.
func TestP7_FlatDialogIsNeverReady(t *testing.T) {
	for _, tc := range flatRecordings {
		rows := strings.Split(strings.TrimRight(fixture(t, tc.name), "\n"), "\n")
		t.Run(tc.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				at := rapid.IntRange(0, max(0, len(rows)-hintRows)).Draw(t, "above row")
				said := slices.Concat(rapid.SliceOfN(rapid.SampledFrom(forged), 1, 4).Draw(t, "said")...)
				s := Read(strings.Join(slices.Concat(rows[:at], said, rows[at:]), "\n"))
				requireConsistent(t, s)
				if tc.title != "" {
					require.False(t, readyToType(s))
				}
				if slices.ContainsFunc(said, func(row string) bool { return flatEdge.MatchString(row) }) && s.Dialog != nil {
					require.False(t, tc.whole && s.Dialog.Whole, "%q", s.Text)
				}
				if !tc.want.Box.Empty || tc.want.Busy {
					require.False(t, readyToType(s), "%q", s.Text)
				}
			})
		})
	}
}

// TestP7_FlatDraftIsSeen reads any text in the box, except the words of the head.
func TestP7_FlatDraftIsSeen(t *testing.T) {
	word := rapid.StringMatching(`[!-~а-яé世❯─$]{1,12}`)
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(word, 1, 8).Draw(t, "rows")
		shown := slices.Clone(rows)
		shown[0] = "$\u00a0 " + shown[0]
		s := Read("claude: hello\nmanual mode on\n" + strings.Join(shown, "\n"))
		require.True(t, s.Box.Present)
		require.False(t, s.Box.Empty)
		require.True(t, Reader{}.Holds(s.Box, strings.Join(rows, "\n")))
	})
}

// A status line is above the head. Here it repeats the rows of the box, of a resting turn and of a
// command.
func TestP7_FlatStatusLineForgesNothing(t *testing.T) {
	for _, tc := range []struct {
		status, said, box string
		want              agent.Screen
	}{
		{"manual mode on\n$", "claude: hello", "$\u00a0 a draft", agent.Screen{Box: agent.Box{Present: true, Text: "a draft"}}},
		{"manual mode on\n$", "claude: hello", "$", agent.Screen{Box: agent.Box{Present: true, Empty: true}}},
		{"Waiting for 1 background agent to finish", "Computing…\nTip: be kind", "$\u00a0 a draft", agent.Screen{Box: agent.Box{Present: true, Text: "a draft"}, Busy: true}},
		{"row one\nrow two", "Waiting for 1 background agent to finish", "$\u00a0 a draft",
			agent.Screen{Box: agent.Box{Present: true, Text: "a draft"}, Background: true, Agents: 1}},
	} {
		s := Read(strings.Join([]string{"you: hello", tc.said, tc.status, "manual mode on", "effort: medium", tc.box}, "\n"), "other", tc.status)
		s.Text, tc.want.Flat, tc.want.Mode, tc.want.Box.Whole = "", true, "default", true
		assert.Equal(t, tc.want, s, tc.status)
	}
}
