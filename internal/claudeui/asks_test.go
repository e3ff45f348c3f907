package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// In a question with several answers the cursor can be on [Submit], which is not an option: the
// whole question is read, not only the part below the rule in its list.
func TestQuestionWithCursorOnSubmit(t *testing.T) {
	text := Read(fixture(t, "ask-multi-2")).Text
	moved := strings.NewReplacer("❯ 1. [✔] Logs", "  1. [✔] Logs", "     Submit", "❯    Submit").Replace(text)
	require.NotEqual(t, text, moved)
	d := Read(moved).Dialog
	require.NotNil(t, d)
	assert.Equal(t, "Which features?", d.Title)
	assert.Contains(t, d.Lines, "  1. [✔] Logs")
	assert.Contains(t, d.Lines, "❯    Submit")
	assert.Empty(t, d.Options)
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "Brewed", "history is no part of it")
}

func TestP7_AsksDistinguishesQuestions(t *testing.T) {
	text := Read(fixture(t, "perm-bash")).Text
	first := Read(text).Dialog
	require.NotNil(t, first)
	tests := []struct {
		name     string
		old, new string
		same     bool
	}{
		{"itself", "", "", true},
		{"the cursor", " ❯ 1. Yes\n   2. Yes", "   1. Yes\n ❯ 2. Yes", true},
		{"the keys at the foot", "Esc to cancel · Tab to amend", "Esc to cancel", true},
		{"the command", "\n echo hi > ", "\n rm -rf ", false},
		{"a label", "4. No", "4. No, and tell Claude what to do differently", false},
		{"an option less", "\n   4. No", "", false},
		{"who asks", " Bash command", " Bash command · from the general-purpose agent", false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(text, tc.old, tc.new, 1)
			require.Equal(t, tc.name == "itself", changed == text)
			d := Read(changed).Dialog
			require.NotNil(t, d)
			assert.Equal(t, tc.same, first.Asks(d))
			assert.Equal(t, tc.same, d.Asks(first))
		})
	}
	assert.False(t, first.Asks(nil))
	assert.False(t, (*Dialog)(nil).Asks(first))
}

// Each recording is its own question, options or none.
func TestAsksOfTheRecordings(t *testing.T) {
	for _, one := range recordings {
		d := Read(fixture(t, one.name)).Dialog
		if d == nil {
			continue
		}
		assert.True(t, d.Asks(Read(fixture(t, one.name)).Dialog), one.name)
		if len(d.Options) == 0 {
			assert.Len(t, d.Lines, d.head, one.name)
			continue
		}
		require.Less(t, d.head, len(d.Lines), one.name)
		assert.Contains(t, d.Lines[d.head], strings.Fields(d.Options[0])[0], "%s: the first option stands below its head", one.name)
	}
}

// A dialog that no rule divides from a running turn.
func TestDialogExcludesSpinner(t *testing.T) {
	text := "● Running.\n✶ Zesting… (5s · ↓ 119 tokens)\n Pick one\n ❯ 1. Yes\n   2. No\n\n Esc to cancel"
	d := Read(text).Dialog
	require.NotNil(t, d)
	assert.Equal(t, "Pick one", d.Title)
	assert.NotContains(t, strings.Join(d.Lines, "\n"), "Zesting")
	assert.True(t, d.Asks(Read(strings.Replace(text, "✶ Zesting… (5s", "✻ Baking… (6s", 1)).Dialog))
}

func TestSteadyLeavesOutWhatMoves(t *testing.T) {
	one := Screen{Text: "● Running Bash.\n\n✶ Zesting… (5s · ↓ 119 tokens)\nWhat?\n● Done"}
	two := Screen{Text: "  Running Bash.\n✻ Baking… (6s)\n\nWhat?\n● Done"}
	assert.Equal(t, "  Running Bash.\nWhat?\n  Done", one.Steady())
	assert.Equal(t, one.Steady(), two.Steady())
	assert.Empty(t, Screen{}.Steady())
}

// TestP9_RowKeepsLastBlank reads a command that ends with a blank other than U+0020.
func TestP9_RowKeepsLastBlank(t *testing.T) {
	text := Read(fixture(t, "perm-bash")).Text
	d := Read(strings.Replace(text, "\n echo hi > ", "\n ./deploy\u00a0   \n > ", 1)).Dialog
	require.NotNil(t, d)
	assert.Contains(t, d.Lines, " ./deploy\u00a0")
}
