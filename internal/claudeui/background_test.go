package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestAgentsInTheBackgroundAreSeen reads the row of an agent that only waits for its own (2.1.328).
func TestAgentsInTheBackgroundAreSeen(t *testing.T) {
	const row = "✻ Waiting for 1 background agent to finish"
	tests := []struct {
		name, above, footer string
		want                bool
	}{
		{"one works", row, "? for shortcuts · ← for agents · ↓ to manage\n  ● main\n  ◯ general-purpose  scripted agent   3s", true},
		{"two work", "✻ Waiting for 2 background agents to finish\n\n                    ◐ medium · /effort", "? for shortcuts", true},
		{"one has finished", row + "\n\n● Agent \"scripted agent\" finished · 6s", "? for shortcuts", false},
		{"a turn runs", row, "esc to interrupt", false},
		{"a spinner", row + "\n\n❯ hello\n\n✽ Zesting… (5s)", "? for short", false},
		{"the agent says so", "● " + row + "\n  " + row, "? for shortcuts", false},
		{"nothing is said", "", "? for shortcuts", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rule := strings.Repeat("─", 60)
			s := Read(tt.above + "\n\n" + rule + "\n❯\u00a0\n" + rule + "\n  ⏸ manual mode on · " + tt.footer + "\n")
			assert.True(t, s.Box.Present)
			assert.Equal(t, tt.want, s.Background)
		})
	}
}
