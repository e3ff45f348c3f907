package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAgentsInTheBackgroundAreSeen reads the row of an agent that only waits for its own (2.1.328).
func TestAgentsInTheBackgroundAreSeen(t *testing.T) {
	const row = "✻ Waiting for 1 background agent to finish"
	const panel = "\n\n  ● main\n  ◯ general-purpose  scripted agent         3s · ↑ 7.1k tokens"
	const stopped = "\n\n❯ slow\n\n● word\n  word\n  ⎿ \u00a0Interrupted · What should Claude do instead?\n          ◐ medium · /effort"
	tests := []struct {
		name, above, footer string
		want                bool
		agents              int
	}{
		{"one works", row, "? for shortcuts · ← for agents · ↓ to manage" + panel, true, 1},
		{"two work", "✻ Waiting for 2 background agents to finish\n\n                    ◐ medium · /effort", "? for shortcuts", true, 2},
		{"a workflow works", "✻ Waiting for 1 dynamic workflow to finish", "? for shortcuts", true, 1},
		{"both work", "✻ Waiting for 3 background agents and 1 dynamic workflow to finish", "? for shortcuts", true, 4},
		{"one works, in focus view", row + " · 2 messages hidden (/focus to show)", "? for shortcuts", true, 1},
		{"one works, and turns show no duration", "❯ agent say x\n\n● Running Agent.", "? for shortcuts · ↓ to manage" + panel, true, 1},
		{"a list of commands hides the row", "● Running Agent.\n\n  /compact   Clear the history", "↓ to manage" + panel, true, 1},
		{"a shell is left (2.1.128)", "✻ Cooked for 0s · 1 shell still running", "1 shell", true, 0},
		{"a turn has ended", "✻ Crunched for 3s · done 8:17 PM", "? for shortcuts", false, 0},
		{"one has finished", row + "\n\n● Agent \"scripted agent\" finished · 6s", "? for shortcuts", false, 0},
		{"a turn runs", row, "esc to interrupt", false, 1},
		{"a turn runs beside it", row + "\n\n❯ hello\n\n● well", "esc to interrupt" + panel, false, 1},
		{"a spinner", row + "\n\n❯ hello\n\n✽ Zesting… (5s)", "? for short", false, 0},
		{"the turn beside it was interrupted", row + stopped, "? for shortcuts · ↓ to manage" + panel, true, 1},
		{"a turn was interrupted", stopped, "? for shortcuts", false, 0},
		{"it was stopped, too", stopped, "? for shortcuts" + strings.Replace(panel, "3s", "stopped · 3s", 1), false, 0},
		{"a text follows the interrupted one", row + stopped + "\n\n❯ hello", "? for short" + panel, false, 1},
		{"a command was answered", row + "\n\n❯ /context\n  ⎿ \u00a0Context usage\n     ⛀ 14.1k tokens", "↓ to manage" + panel, true, 1},
		{"a text of two lines follows", row + "\n\n❯ hello\n  you", "↓ to manage" + panel, false, 1},
		{"a status line looks like it", stopped, "? for shortcuts\n  ◯ general-purpose  scripted agent   3s", false, 0},
		{"the agent says so", "● " + row + "\n  " + row, "? for shortcuts", false, 0},
		{"nothing is said", "", "? for shortcuts", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rule := strings.Repeat("─", 60)
			s := Read(tt.above + "\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on · " + tt.footer + "\n")
			assert.True(t, s.Box.Present)
			assert.Equal(t, tt.want, s.Background)
			assert.Equal(t, tt.agents, s.Agents)
		})
	}
}
