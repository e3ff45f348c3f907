package dialog

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeui"
)

func TestP7_SameQuestionIgnoresOnlyItsCursor(t *testing.T) {
	recorded, err := os.ReadFile("../../agent/claude/claudeui/testdata/perm-bash.ansi")
	require.NoError(t, err)
	text := claudeui.Read(string(recorded)).Text
	first := claudeui.Read(text).Dialog
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
			d := claudeui.Read(changed).Dialog
			require.NotNil(t, d)
			assert.Equal(t, tc.same, sameQuestion(first, d))
			assert.Equal(t, tc.same, sameQuestion(d, first))
		})
	}
	assert.False(t, sameQuestion(first, nil))
	assert.False(t, sameQuestion(nil, first))
}
