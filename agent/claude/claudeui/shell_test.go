package claudeui

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

// forty is the command of most recordings.
const forty = "for i in $(seq 1 40); do echo number $i; sleep 0.3; done"

func TestRunningCommand(t *testing.T) {
	zeros := func(n int) string { return strings.Repeat("0", n) }
	for _, tc := range []struct {
		name, command string
		lines         []string
		above         int
	}{
		{"running", forty, nil, 0},
		{"lines", forty, []string{"number 1", "number 2", "number 3", "number 4"}, 0},
		{"more", forty, []string{"number 4", "number 5", "number 6", "number 7"}, 3},
		{"wide", `echo first; echo; printf 'a very long line %0300d\n' 7; printf 'progress 1\rprogress 2\r'; sleep 3; printf ` +
			`'\033[32mgreen\033[0m tail\n'; sleep 30; echo 'words words words words words words words words words words words ` +
			`words words words words words words'`,
			[]string{zeros(115), zeros(86) + "7", "progress 1", "progress 2", "green tail"}, 1},
		{"narrow", forty + "; echo a command that is longer than the pane is wide", []string{"number 4", "number 5", "number 6", "number 7"}, 3},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := Read(fixture(t, "shell/"+tc.name))
			require.NotNil(t, s.Shell)
			assert.True(t, s.Busy)
			assert.Equal(t, tc.command, s.Shell.Command)
			assert.Equal(t, tc.lines, s.Shell.Lines)
			assert.Equal(t, tc.above, s.Shell.Above)
			assert.True(t, Reader{}.Runs(s.Shell, "!"+tc.command))
			assert.False(t, Reader{}.Runs(s.Shell, "!"+tc.command+"; date"))
		})
	}
}

func TestCommandThatIsNotRunning(t *testing.T) {
	for _, name := range []string{"shell/done", "shell/interrupted", "shell/left", "idle", "spinner", "streaming", "queued", "perm-bash"} {
		assert.Nil(t, Read(fixture(t, name)).Shell, name)
	}
	busy := fixture(t, "shell/lines")
	for name, change := range map[string][2]string{
		"no clock: it has ended":        {"(1s)", ""},
		"the agent speaks behind it":    {"(1s)", "(1s)\n\n● Seen."},
		"the agent works behind it":     {"(1s)", "(1s)\n\n✶ Zesting… (1s · ↓ 4 tokens)"},
		"the turn is over":              {"esc to interrupt", "? for shortcuts"},
		"a prompt and no command":       {"! ", "❯ "},
		"nothing hangs below it":        {"⎿", " "},
		"its output ends like a clock":  {"(1s)", "(1s) and more"},
		"a sign without a blank behind": {"! ", "!!"},
	} {
		require.Contains(t, Read(busy).Text, change[0], name)
		assert.Nil(t, Read(strings.Replace(Read(busy).Text, change[0], change[1], 1)).Shell, name)
	}
}

// An interrupted command returns to the box, in bash mode.
func TestInterruptedCommandReturnsToBox(t *testing.T) {
	s := Read(fixture(t, "shell/interrupted"))
	assert.True(t, s.Box.Present && s.Box.Bash && !s.Box.Empty)
	assert.True(t, Reader{}.Holds(s.Box, Read(fixture(t, "shell/wide")).Shell.Command))
	assert.False(t, readyToType(s))
	assert.True(t, readyToType(Read(fixture(t, "shell/left"))))
}

func TestOddCommandsAreTheirOwn(t *testing.T) {
	assert.True(t, Reader{}.Runs(&agent.Shell{Command: "💥 💥"}, "!💥💥"))
	assert.False(t, Reader{}.Runs(&agent.Shell{Command: "💥"}, "!🔥"))
}
