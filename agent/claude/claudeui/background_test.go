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
		{"a workflow works, and turns show no duration", "● Running Workflow.", "(shift+tab to cycle)\n  ◯ w     ▱▱▱▱▱▱▱▱▱▱  0/1 · 1m 13s", true, 1},
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

// TestAgentsInTheBackgroundAreSeenInScreenReaderMode has the rows that 2.1.332 draws there.
func TestAgentsInTheBackgroundAreSeenInScreenReaderMode(t *testing.T) {
	const said, row = "you: agent slow 600\nclaude: Running Agent.", "\nWaiting for 1 background agent to finish"
	const panel, flow = "\n● main\n◯  general-purpose scripted agent running", "\n◯  w 0%  0/1 · 1m45s"
	const stopped = "\nyou: slow\nslow word\nInterrupted · What should Claude do instead?"
	tests := []struct {
		name, above, hint, below, box string
		want                          bool
		agents                        int
	}{
		{"one works", said + row, "  ·  ↓ to manage", panel, "", true, 1},
		{"a workflow works", said + "\nWaiting for 1 dynamic workflow to finish", "", flow, "", true, 1},
		{"both work", said + "\nWaiting for 1 background agent and 1 dynamic workflow to finish", "", panel + flow, "", true, 2},
		{"one works, and turns show no duration", said, "  ·  ↓ to manage", panel, "", true, 1},
		{"a workflow works, and turns show no duration", said, "", flow, "", true, 1},
		{"a draft is left", said, "", panel, "  later", true, 1},
		{"a command was answered", said + row + "\nyou: /context\nContext usage\n14.3k/1m tokens", "", panel, "", true, 1},
		{"the conversation was compacted", "Conversation compacted\nyou: /compact\nCompacted\nTask \"scripted agent\" still running in background", "", panel, "", true, 1},
		{"a shell command was answered", said + row + "\n!  echo hi\nhi\nclaude: echo: hi", "", panel, "", true, 1},
		{"the turn beside it was interrupted", said + row + stopped, "", panel, "", true, 1},
		{"a text follows", said + row + "\nyou: hello", "", panel, "", false, 1},
		{"a text of two lines follows", said + row + "\nyou: hello\nworld", "", panel, "", false, 1},
		{"a command follows", said + row + "\nyou: /init", "", panel, "", false, 1},
		{"a turn runs beside it", said + row + "\nyou: hello\nConsidering…\nTip: be kind", "  ·  esc to interrupt · ↓ to manage", panel, "", false, 1},
		{"a turn runs beside it, and a draft is left", said + row + "\nyou: hello\nConsidering…", "", panel, "  later", false, 1},
		{"a command with words follows", said + row + "\nyou: /review all of\nit", "", panel, "", false, 1},
		{"a command and a blank row follow", said + row + "\nyou: /init\n", "", panel, "", false, 1},
		{"a turn tries again beside it, and a draft is left", said + "\n529 Overloaded · retrying in 3s · attempt 3/10", "", panel, "  later", false, 1},
		{"a turn compacts beside it, and a draft is left", said + "\nCompacting conversation…", "", panel, "  later", false, 1},
		{"a text ends like the row", said + row + "\nyou: hello\nWaiting for CI to finish", "", panel, "", false, 1},
		{"a turn has ended", said + "\nWorked for 1s · done 9:30 AM", "", "", "", false, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := Read(tt.above + "\nmanual mode on" + tt.hint + tt.below + "\n$\u00a0" + tt.box + "\n")
			assert.True(t, s.Flat && s.Box.Present)
			assert.Equal(t, tt.want, s.Background)
			assert.Equal(t, tt.agents, s.Agents)
		})
	}
}

// TestCommandIsReadInScreenReaderMode: the list of commands takes the place of the head and of the agents (2.1.332).
func TestCommandIsReadInScreenReaderMode(t *testing.T) {
	const list = "\n/context                      Show what fills the context\n/doctor                       Health-check your setup: installation, unused\n" +
		"                              extensions, slow hooks\n\n\n"
	for _, tc := range []struct {
		name, screen     string
		draft            string
		background, busy bool
	}{
		{"beside a subagent", "claude: Running Agent.\nWaiting for 1 background agent to finish" + list + "$\u00a0 /context", "/context", true, false},
		{"nothing else", "claude: hello\nWorked for 1s · done 9:30 AM" + list + "$\u00a0 /con", "/con", false, false},
		{"in a turn", "you: hello\nConsidering…\nTip: be kind" + list + "$\u00a0 /context", "/context", false, true},
		{"no list", "claude: hello\n$\u00a0 /context", "", false, false},
		{"another draft", "claude: hello" + list + "$\u00a0 context", "", false, false},
		{"only the rest of a row", "claude: hello\n      extensions\n$\u00a0 /context", "", false, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(tc.screen + "\n")
			assert.True(t, s.Flat)
			assert.Equal(t, tc.draft, s.Box.Text)
			assert.Equal(t, tc.draft != "", s.Box.Present)
			assert.Equal(t, []bool{tc.background, tc.busy}, []bool{s.Background, s.Busy})
		})
	}
}
