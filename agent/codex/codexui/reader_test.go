package codexui

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

var _ agent.Reader = Reader{}

// read reads a screen of the real Codex.
func read(t *testing.T, name string) agent.Screen {
	t.Helper()
	data, err := os.ReadFile("testdata/codex-" + name + ".ansi")
	require.NoError(t, err)
	return Reader{}.Read(string(data))
}

func TestBox(t *testing.T) {
	for _, name := range []string{"busy", "h"} {
		s := read(t, name)
		assert.Equal(t, agent.Box{Present: true, Empty: true, Whole: true}, s.Box, name)
		assert.Nil(t, s.Dialog)
		assert.False(t, s.Busy)
	}
	dead := read(t, "k")
	assert.False(t, dead.Box.Present, "tmux has written the last row")
}

func TestP7_DialogTakesKeys(t *testing.T) {
	s := read(t, "approval")
	assert.False(t, s.Box.Present)
	require.NotNil(t, s.Dialog)
	assert.Equal(t, []string{"Yes, proceed (y)", "Yes, and don't ask again for commands that start with `sleep 4` (p)",
		"No, and tell Codex what to do differently (esc)"}, s.Dialog.Options)
	assert.Zero(t, s.Dialog.Selected)
	assert.Equal(t, "Would you like to run the following command?", s.Dialog.Title)
	assert.Contains(t, s.Dialog.Head, "  $ sleep 4; touch DIR/outside1")
	assert.True(t, s.Dialog.Whole)
	assert.True(t, s.Dialog.Permits)

	second := strings.Replace(s.Text, "  3. No", "› 3. No", 1)
	require.NotEqual(t, s.Text, second)
	assert.False(t, Reader{}.Read(second).Dialog.Whole, "which row is selected?")
	assert.True(t, Reader{}.Read(s.Text).Dialog.Whole)

	s = read(t, "u2")
	require.NotNil(t, s.Dialog)
	assert.Len(t, s.Dialog.Options, 4)
	assert.Equal(t, "Working directory · resume", s.Dialog.Title)
	assert.False(t, s.Dialog.Permits)
}

// Codex asks before its first prompt: for a login, and whether it may run hooks that are new.
func TestP7_FirstDialogsTakeKeys(t *testing.T) {
	for name, want := range map[string]agent.Dialog{
		"login": {Title: "Welcome to Codex, OpenAI's command-line coding agent",
			Options: []string{"Sign in with ChatGPT", "Sign in with Device Code", "Sign in another way"}, Whole: true, FromTop: true},
		"hooks": {Title: "Hooks need review",
			Options: []string{"Review hooks", "Trust all and continue", "Continue without trusting (hooks won't run)"}, Whole: true, FromTop: true},
		"model": {Title: "Meet GPT-6 Sol", Options: []string{"Try new model", "Use existing model"}, Whole: true, FromTop: true},
	} {
		s := read(t, name)
		assert.False(t, s.Box.Present, name)
		require.NotNil(t, s.Dialog, name)
		assert.Equal(t, want, agent.Dialog{Title: s.Dialog.Title, Options: s.Dialog.Options, Selected: s.Dialog.Selected, Whole: s.Dialog.Whole, FromTop: s.Dialog.FromTop}, name)
	}
}

// The lists of a question and of a form are indented.
func TestP7_QuestionsTakeKeys(t *testing.T) {
	s := read(t, "ask")
	assert.False(t, s.Box.Present)
	require.NotNil(t, s.Dialog)
	assert.Equal(t, []string{"Red", "Blue", "None of the above"}, s.Dialog.Options)
	assert.Contains(t, s.Dialog.Head, "  Which colour shall it have?")
	assert.True(t, s.Dialog.Whole)
	assert.False(t, s.Dialog.FromTop || s.Dialog.Permits)

	s = read(t, "mcp")
	require.NotNil(t, s.Dialog)
	assert.Equal(t, []string{"Allow", "Allow for this session", "Always allow", "Cancel"}, s.Dialog.Options)
	assert.Contains(t, s.Dialog.Head, `  Allow the tst MCP server to run tool "hello"?`)
	assert.True(t, s.Dialog.Whole)
	assert.True(t, s.Dialog.Permits)

	moved := Reader{}.Read(strings.NewReplacer("Field 1/1", "Field 1/1 (1 required unanswered)", "  › 1.", "    1.", "    2.", "  › 2.").Replace(s.Text)).Dialog
	require.NotNil(t, moved)
	assert.Equal(t, 1, moved.Selected)
	assert.Equal(t, s.Dialog.Head, moved.Head, "it is the same question")
	assert.Equal(t, s.Dialog.Title, moved.Title)
}

// The line of a turn says that its request has failed and is repeated, with the reason or the count.
func TestRepeatedRequest(t *testing.T) {
	s := read(t, "retry")
	assert.Equal(t, []any{"Reconnecting... waiting for network", true, true}, []any{s.Retry, s.Busy, s.Box.Present})
	assert.Equal(t, "Reconnecting... 2/4", Reader{}.Read("• Reconnecting... 2/4 (4s • esc to interrupt)\n\n\x1b[1m›\x1b[0m \x1b[2mAsk\n").Retry)
	assert.Empty(t, Reader{}.Read("• Working (2s • esc to interrupt)\n\n\x1b[1m›\x1b[0m \x1b[2mAsk\n").Retry)
	assert.Empty(t, Reader{}.Read("• Reconnecting the cable is what I would do\n\n\x1b[1m›\x1b[0m \x1b[2mAsk\n").Retry)
}

func TestDraft(t *testing.T) {
	draft := Reader{}.Read("• said\n\n\x1b[1m›\x1b[0m !ls\n  second row\n\n  mock · DIR\n")
	assert.Equal(t, agent.Box{Present: true, Whole: true, Text: "!ls\nsecond row", Bash: true}, draft.Box)
	assert.True(t, Reader{}.Holds(draft.Box, "!ls second row"))
	assert.False(t, Reader{}.Holds(draft.Box, "!ls"))
	assert.Zero(t, Reader{}.Read("\x1b[1;2m› \x1b[0mearlier\n\n").Box)
	list := Reader{}.Read("\x1b[1m›\x1b[0m 1. a draft that is no list\n\n  mock · DIR\n")
	assert.Nil(t, list.Dialog)
	assert.True(t, list.Box.Present)
	running := Reader{}.Read("◦ Working (2s • esc to interrupt)\n\n\x1b[1m›\x1b[0m \x1b[2mAsk\n")
	assert.True(t, running.Busy)
	assert.Empty(t, Reader{}.Steady("◦ Working (2s • esc to interrupt)"))
	assert.True(t, Reader{}.Hides("    + 15 lines (^t to expand)"))
}

func FuzzRead(f *testing.F) {
	f.Add("› 1. a\n  2. b")
	f.Add("\x1b[1m›")
	f.Fuzz(func(_ *testing.T, text string) { Reader{}.Read(text) })
}
