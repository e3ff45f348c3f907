package process

import (
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	textX = "0b5c9a1e-7d3f-4c62-9a53-1f7a5b0e9c11"
	textY = "f4f6ad1c-2e51-4a0e-8e0b-6a1d92c3d702"
)

var (
	idX = uuid.MustParse(textX)
	idY = uuid.MustParse(textY)
)

// commandLines are asked three ways: what SessionArg reads, whether it is an agent, and what Judge says about X.
var commandLines = []struct {
	name    string
	args    []string
	session bool // SessionArg gives X
	agent   bool
	writer  Answer
	silent  bool // Judge has no verdict at all
}{
	{name: "resume", args: []string{"claude", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "resume joined", args: []string{"claude", "--resume=" + textX}, session: true, agent: true, writer: Yes},
	{name: "short resume", args: []string{"claude", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "short resume joined", args: []string{"claude", "-r=" + textX}, session: true, agent: true, writer: Yes},
	{name: "session id", args: []string{"claude", "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "session id joined", args: []string{"claude", "--session-id=" + textX}, session: true, agent: true, writer: Yes},
	{name: "absolute path", args: []string{"/opt/claude code/bin/claude", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "claude.exe", args: []string{"/n/bin/claude.exe", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "our launch", args: []string{"claude", "--settings", "/s/launch.json", "--session-id", textX, "--model", "opus"}, session: true, agent: true, writer: Yes},
	{name: "print mode", args: []string{"claude", "-p", "--resume", textX, "hello"}, session: true, agent: true, writer: Yes},
	{name: "upper case", args: []string{"claude", "--resume", strings.ToUpper(textX)}, session: true, agent: true, writer: Yes},
	{name: "named twice", args: []string{"claude", "--resume", textX, "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "configured name", args: []string{"/usr/bin/my-agent", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "node script", args: []string{"node", "/x/bin/claude", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "node script after options", args: []string{"/usr/bin/node", "--max-old-space-size=8192", "--no-warnings", "/x/claude", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "bun run", args: []string{"bun", "run", "/x/claude", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "shell script named claude", args: []string{"/bin/sh", "/x/claude", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "another id after the end of options", args: []string{"claude", "--resume", textX, "--", "--resume", textY}, session: true, agent: true, writer: Yes},

	{name: "fork", args: []string{"claude", "--resume", textX, "--fork-session"}, agent: true, silent: true},
	{name: "fork first", args: []string{"claude", "--fork-session", "-r", textX}, agent: true, silent: true},
	{name: "fork with a new id", args: []string{"claude", "--resume", textY, "--fork-session", "--session-id", textX}, agent: true, silent: true},
	{name: "fork text after the end of options", args: []string{"claude", "-r", textX, "--", "--fork-session"}, session: true, agent: true, writer: Yes},
	{name: "another session", args: []string{"claude", "--resume", textY}, agent: true, silent: true},
	{name: "two sessions", args: []string{"claude", "--resume", textX, "--session-id", textY}, agent: true, writer: Maybe},
	{name: "continue", args: []string{"claude", "--continue"}, agent: true, silent: true},
	{name: "picker", args: []string{"claude", "--resume"}, agent: true, silent: true},
	{name: "picker before a flag", args: []string{"claude", "--resume", "--model", textX}, agent: true, silent: true},
	{name: "a title, not an id", args: []string{"claude", "--resume", "fix the build"}, agent: true, silent: true},
	{name: "id inside a title", args: []string{"claude", "--resume", "about " + textX}, agent: true, silent: true},
	{name: "path of a transcript", args: []string{"claude", "--resume", "/p/" + textX + ".jsonl"}, agent: true, silent: true},
	{name: "id cut short", args: []string{"claude", "--resume", textX[:35]}, agent: true, silent: true},
	{name: "id with a tail", args: []string{"claude", "--resume", textX + "0"}, agent: true, silent: true},
	{name: "id in braces", args: []string{"claude", "--resume", "{" + textX + "}"}, agent: true, silent: true},
	{name: "urn", args: []string{"claude", "--resume", "urn:uuid:" + textX}, agent: true, silent: true},
	{name: "bare digits", args: []string{"claude", "--resume", strings.ReplaceAll(textX, "-", "")}, agent: true, silent: true},
	{name: "nil id", args: []string{"claude", "--resume", uuid.Nil.String()}, agent: true, silent: true},
	{name: "positional id", args: []string{"claude", textX}, agent: true, silent: true},
	{name: "id in the prompt", args: []string{"claude", "-p", "run claude --resume " + textX}, agent: true, silent: true},
	{name: "option in one element", args: []string{"claude", "--resume " + textX}, agent: true, silent: true},
	{name: "after the end of options", args: []string{"claude", "--", "--resume", textX}, agent: true, silent: true},
	{name: "longer option", args: []string{"claude", "--resume-at", textX}, agent: true, silent: true},
	{name: "shorter option", args: []string{"claude", "--res", textX}, agent: true, silent: true},
	{name: "agent alone", args: []string{"claude"}, agent: true, silent: true},
	{name: "no arguments", args: nil, silent: true},
	{name: "empty argv0", args: []string{"", "--resume", textX}, session: true, writer: No},

	{name: "bash -c", args: []string{"bash", "-c", "cd /w && claude --resume " + textX}, silent: true},
	{name: "sh -c with words", args: []string{"/bin/sh", "-c", "claude", "--resume", textX}, session: true, writer: No},
	{name: "login shell -lc", args: []string{"zsh", "-lc", "exec claude -r " + textX}, silent: true},
	{name: "claude's own tool shell", args: []string{"/bin/bash", "-c", "source /h/.claude/shell-snapshots/s.sh && eval 'claude --resume " + textX + "' < /dev/null"}, silent: true},
	{name: "editor of the transcript", args: []string{"vim", "/h/.claude/projects/-w/" + textX + ".jsonl"}, silent: true},
	{name: "editor of a file named claude", args: []string{"vim", "claude", "-r", textX}, session: true, writer: No},
	{name: "tail", args: []string{"tail", "-F", textX + ".jsonl"}, silent: true},
	{name: "grep", args: []string{"grep", "-r", textX, "."}, session: true, writer: No},
	{name: "pgrep", args: []string{"pgrep", "-f", "claude --resume " + textX}, silent: true},
	{name: "ssh", args: []string{"ssh", "host", "claude", "--resume", textX}, session: true, writer: No},
	{name: "tmux client", args: []string{"tmux", "new-window", "claude", "--resume", textX}, session: true, writer: No},
	{name: "tmux server keeps its argv", args: []string{"tmux", "new-session", "-d", "env", "-u", "A", "claude", "--session-id", textX}, session: true, writer: No},
	{name: "env not yet exec'd", args: []string{"env", "-u", "CLAUDECODE", "claude", "--session-id", textX}, session: true, writer: No},
	{name: "sudo", args: []string{"sudo", "claude", "--resume", textX}, session: true, writer: No},
	{name: "timeout", args: []string{"timeout", "60", "claude", "--resume", textX}, session: true, writer: No},
	{name: "watch", args: []string{"watch", "claude", "--resume=" + textX}, session: true, writer: No},
	{name: "node with another script", args: []string{"node", "/x/server.js", "--session-id", textX}, session: true, writer: No},
	{name: "node -e", args: []string{"node", "-e", "claude", "--resume", textX}, session: true, writer: No},
	{name: "node with a value option", args: []string{"node", "--require", "/x/claude", "/x/app.js", "--resume", textX}, session: true, writer: No},
	{name: "longer name", args: []string{"/x/claude-monitor", "--resume", textX}, session: true, writer: No},
	{name: "folder named claude", args: []string{"/x/claude/run", "--resume", textX}, session: true, writer: No},
	{name: "other case", args: []string{"CLAUDE", "--resume", textX}, session: true, writer: No},
}

// testAgents also names interpreters, which must not turn every node and env into an agent.
var testAgents = AgentNames{Names: []string{"my-agent", "node", "env", "sudo"}, Exes: []string{"/opt/agent/real", "/usr/bin/node"}}

func TestP2_CommandLines(t *testing.T) {
	require.GreaterOrEqual(t, len(commandLines), 40)
	for _, test := range commandLines {
		t.Run(test.name, func(t *testing.T) {
			id, ok := SessionArg(test.args)
			assert.Equal(t, test.session, ok && id == idX)
			p := Process{Identity: Identity{100, 7, "boot"}, State: 'S', Args: test.args, Exe: "/usr/bin/node"}
			assert.Equal(t, test.agent, IsAgent(p, testAgents))

			verdicts := Judge(Snapshot{Processes: []Process{p}}, nil, testAgents, idX)
			if test.silent {
				assert.Empty(t, verdicts)
				return
			}
			require.Len(t, verdicts, 1)
			assert.Equal(t, test.writer, verdicts[0].Writer, verdicts[0].Why)
			assert.Equal(t, idX, verdicts[0].SessionID)
			assert.NotEmpty(t, verdicts[0].Why)
		})
	}
}

func TestIsAgent_executable(t *testing.T) {
	tests := []struct {
		name string
		p    Process
		want bool
	}{
		{"recorded", Process{Exe: "/opt/agent/real", Args: []string{"odd"}}, true},
		{"recorded, replaced by an update", Process{Exe: "/opt/agent/real (deleted)", Args: []string{"odd"}}, true},
		{"same basename elsewhere", Process{Exe: "/tmp/real", Args: []string{"odd"}}, false},
		{"recorded interpreter", Process{Exe: "/usr/bin/node", Args: []string{"node", "x.js"}}, false},
		{"zombie", Process{State: 'Z', Exe: "/opt/agent/real", Args: []string{"claude"}}, false},
		{"kernel thread named claude", Process{Comm: "claude"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, IsAgent(test.p, testAgents))
		})
	}
}

func FuzzSessionArg(f *testing.F) {
	for _, line := range commandLines {
		f.Add(strings.Join(line.args, "\x00"))
	}
	f.Fuzz(func(t *testing.T, cmdline string) {
		args := strings.Split(cmdline, "\x00")
		id, ok := SessionArg(args)
		if !ok {
			assert.Equal(t, uuid.Nil, id)
			return
		}
		assert.Contains(t, strings.ToLower(cmdline), id.String())
		assert.NotContains(t, beforeEnd(args), "--fork-session")
		IsAgent(Process{Args: args}, testAgents)
	})
}

func beforeEnd(args []string) []string {
	for i, arg := range args[1:] {
		if arg == "--" {
			return args[1 : i+1]
		}
	}
	return args[1:]
}
