package process

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeflags"
)

const (
	textX = "0b5c9a1e-7d3f-4c62-9a53-1f7a5b0e9c11"
	textY = "f4f6ad1c-2e51-4a0e-8e0b-6a1d92c3d702"
)

var (
	idX = uuid.MustParse(textX)
	idY = uuid.MustParse(textY)
)

// commandLines are checked in three ways: the session that claudeflags reads, whether it is an
// agent, and Judge's verdict on X.
var commandLines = []struct {
	name    string
	args    []string
	session bool // sessionOf gives X
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
	{name: "short resume in one element", args: []string{"claude", "-r" + textX}, session: true, agent: true, writer: Yes},
	{name: "letters together", args: []string{"claude", "-pr", textX, "hello"}, session: true, agent: true, writer: Yes},
	{name: "letters together in one element", args: []string{"claude", "-pcr" + textX}, session: true, agent: true, writer: Yes},
	{name: "spaces around the id", args: []string{"claude", "--resume", " " + textX + " "}, session: true, agent: true, writer: Yes},
	{name: "mixed case", args: []string{"claude", "--session-id=" + strings.ToUpper(textX[:8]) + textX[8:]}, session: true, agent: true, writer: Yes},
	{name: "after the prompt", args: []string{"claude", "say hi", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "after a title that is no id", args: []string{"claude", "--resume", "title", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "after two dashes that are a value", args: []string{"claude", "--append-system-prompt", "--", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "after a joined value", args: []string{"claude", "--settings=/s.json", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "fork names its own id", args: []string{"claude", "--resume", textY, "--fork-session", "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "fork names its own id first", args: []string{"claude", "--session-id=" + textX, "--fork-session", "-r", textY}, session: true, agent: true, writer: Yes},
	{name: "fork of the last one with an id", args: []string{"claude", "--continue", "--fork-session", "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "fork text as a value", args: []string{"claude", "--name", "--fork-session", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "empty elements", args: []string{"claude", "", "--resume", textX, ""}, session: true, agent: true, writer: Yes},
	{name: "not UTF-8", args: []string{"claude", "\xff\xfe", "--resume", textX, "\xc3\x28"}, session: true, agent: true, writer: Yes},
	{name: "huge prompt", args: []string{"claude", "-p", strings.Repeat("--resume "+textY+" ", 10_000), "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "ten thousand elements", args: append(slices.Repeat([]string{"claude"}, 10_000), "--resume", textX), session: true, agent: true, writer: Yes},
	{name: "spaces in the path", args: []string{"/home/a b/my bin/claude", "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "configured path's basename", args: []string{"/opt/x y/my-agent", "-r" + textX}, session: true, agent: true, writer: Yes},
	{name: "login shell's dash", args: []string{"-claude", "--resume", textX}, session: true, agent: true, writer: Yes},
	{name: "shell script in a folder with spaces", args: []string{"/bin/bash", "/home/a b/claude", "-r", textX}, session: true, agent: true, writer: Yes},
	{name: "bun alone", args: []string{"/usr/bin/bun", "/x/claude", "--resume=" + textX}, session: true, agent: true, writer: Yes},
	{name: "deno with a flag", args: []string{"deno", "run", "-A", "/x/claude", "--session-id", textX}, session: true, agent: true, writer: Yes},
	{name: "another id after the end of options", args: []string{"claude", "--resume", textX, "--", "--resume", textY}, session: true, agent: true, writer: Yes},

	{name: "fork", args: []string{"claude", "--resume", textX, "--fork-session"}, agent: true, silent: true},
	{name: "fork first", args: []string{"claude", "--fork-session", "-r", textX}, agent: true, silent: true},
	{name: "fork with another new id", args: []string{"claude", "--resume", textX, "--fork-session", "--session-id", textY}, agent: true, silent: true},
	{name: "fork with a new id that is none", args: []string{"claude", "--resume", textX, "--fork-session", "--session-id", "new"}, agent: true, silent: true},
	{name: "fork with two new ids", args: []string{"claude", "--fork-session", "--session-id", textX, "--session-id=" + textY}, agent: true, writer: Maybe},
	{name: "fork by letters", args: []string{"claude", "-pr", textX, "--fork-session"}, agent: true, silent: true},
	{name: "two resumes", args: []string{"claude", "--resume", textX, "-r", textY}, agent: true, writer: Maybe},
	{name: "the same in two ways", args: []string{"claude", "-r" + textX, "--resume=" + textX}, session: true, agent: true, writer: Yes},
	{name: "value of another option", args: []string{"claude", "--settings", textX}, agent: true, silent: true},
	{name: "line as the value of another option", args: []string{"claude", "--append-system-prompt", "--resume " + textX}, agent: true, silent: true},
	{name: "option as the value of another option", args: []string{"claude", "--append-system-prompt", "--resume", textX}, agent: true, silent: true},
	{name: "short option as a value", args: []string{"claude", "-n", "-r", textX}, agent: true, silent: true},
	{name: "joined name", args: []string{"claude", "-n=-r", textX}, agent: true, silent: true},
	{name: "joined option as a value", args: []string{"claude", "--system-prompt", "--session-id=" + textX}, agent: true, silent: true},
	{name: "value joined to nothing", args: []string{"claude", "--resume=", textX}, agent: true, silent: true},
	{name: "letters after one with a value", args: []string{"claude", "-dr", textX}, agent: true, silent: true},
	{name: "option with a space behind it", args: []string{"claude", "--resume ", textX}, agent: true, silent: true},
	{name: "other case of the option", args: []string{"claude", "--RESUME", textX}, agent: true, silent: true},
	{name: "not UTF-8 in the id", args: []string{"claude", "--resume", textX[:35] + "\xff"}, agent: true, silent: true},
	{name: "wide digits", args: []string{"claude", "--resume", "０" + textX[1:]}, agent: true, silent: true},
	{name: "newline inside", args: []string{"claude", "--resume\n" + textX}, agent: true, silent: true},
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
	{name: "grep claude", args: []string{"grep", "claude"}, silent: true},
	{name: "pgrep as peers call it", args: []string{"pgrep", "-f", "claude.*--resume " + textX}, silent: true},
	{name: "pkill as peers call it", args: []string{"pkill", "-f", "claude --session-id=" + textX}, silent: true},
	{name: "tail of the transcript", args: []string{"tail", "-f", "/h/.claude/projects/-w/" + textX + ".jsonl"}, silent: true},
	{name: "less", args: []string{"less", textX + ".jsonl"}, silent: true},
	{name: "editor with an option", args: []string{"/usr/bin/nvim", "-R", "--resume=" + textX}, session: true, writer: No},
	{name: "emacs on a file named claude", args: []string{"emacs", "/x/claude"}, silent: true},
	{name: "ssh with one command", args: []string{"ssh", "host", "claude --resume " + textX}, silent: true},
	{name: "mosh", args: []string{"mosh-client", "-#", "host", "--", "claude", "--resume", textX}, silent: true},
	{name: "docker exec", args: []string{"docker", "exec", "-it", "box", "claude", "--resume", textX}, session: true, writer: No},
	{name: "nohup not yet exec'd", args: []string{"nohup", "claude", "--resume", textX}, session: true, writer: No},
	{name: "setsid", args: []string{"/usr/bin/setsid", "claude", "-r", textX}, session: true, writer: No},
	{name: "strace", args: []string{"strace", "-f", "claude", "--resume", textX}, session: true, writer: No},
	{name: "script", args: []string{"script", "-c", "claude --resume " + textX}, silent: true},
	{name: "tmux attach", args: []string{"tmux", "attach", "-t", "claude"}, silent: true},
	{name: "tmux with a shell command", args: []string{"tmux", "new-window", "claude --resume " + textX}, silent: true},
	{name: "a login shell", args: []string{"-bash", "-c", "claude --resume " + textX}, silent: true},
	{name: "a login shell with words", args: []string{"-bash", "-c", "claude", "--resume", textX}, session: true, writer: No},
	{name: "two dashes before the name", args: []string{"--claude", "--resume", textX}, session: true, writer: No},
	{name: "a transcript named claude in an editor", args: []string{"code", "claude", "--session-id", textX}, session: true, writer: No},
	{name: "python -m", args: []string{"python3", "-m", "claude", "--resume", textX}, session: true, writer: No},
	{name: "bash -x claude", args: []string{"bash", "-x", "/x/claude", "--resume", textX}, session: true, writer: No},
	{name: "bunx", args: []string{"bunx", "claude", "--resume", textX}, session: true, writer: No},
	{name: "npm exec", args: []string{"npm exec @anthropic-ai/claude-code", "--resume", textX}, session: true, writer: No},
	{name: "name with spaces around it", args: []string{" claude ", "--resume", textX}, session: true, writer: No},
	{name: "name with a tail", args: []string{"claude (deleted)", "--resume", textX}, session: true, writer: No},
	{name: "title rewritten", args: []string{"claude --resume " + textX}, silent: true},
	{name: "another claude.exe", args: []string{"claude.exe.bak", "--resume", textX}, session: true, writer: No},
	{name: "other case", args: []string{"CLAUDE", "--resume", textX}, session: true, writer: No},
}

// testAgents also names interpreters, which must not turn every node and env into an agent.
// claudeNames distinguishes Claude Code as its Witness does.
var claudeNames = AgentNames{Names: []string{"claude", "claude.exe"}, Conversations: claudeflags.Sessions}

var testAgents = AgentNames{Names: []string{"claude", "claude.exe", "my-agent", "node", "env", "sudo"}, Exes: []string{"/opt/agent/real", "/usr/bin/node", "/usr/bin/python3.12", "/bin/busybox"}, Conversations: claudeflags.Sessions}

// sessionOf returns the only session that a command line writes.
func sessionOf(args []string) (id uuid.UUID, ok bool) {
	ids := claudeflags.Sessions(args)
	if len(ids) == 0 || slices.ContainsFunc(ids, func(id uuid.UUID) bool { return id != ids[0] }) {
		return id, false
	}
	return ids[0], true
}

func TestP2_CommandLines(t *testing.T) {
	require.GreaterOrEqual(t, len(commandLines), 60)
	for _, test := range commandLines {
		t.Run(test.name, func(t *testing.T) {
			id, ok := sessionOf(test.args)
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
		{"recorded and replaced twice", Process{Exe: "/opt/agent/real (deleted) (deleted)", Args: []string{"odd"}}, false},
		{"recorded, without a command line", Process{Exe: "/opt/agent/real"}, false},
		{"login dash alone", Process{Args: []string{"-"}}, false},
		{"recorded interpreter", Process{Exe: "/usr/bin/node", Args: []string{"node", "x.js"}}, false},
		{"recorded interpreter with its version", Process{Exe: "/usr/bin/python3.12", Args: []string{"python3", "monitor.py", "--resume", textX}}, false},
		{"recorded program of many names", Process{Exe: "/bin/busybox", Args: []string{"timeout", "9", "claude", "--resume", textX}}, false},
		{"script of an interpreter with its version", Process{Args: []string{"python3.12", "/x/claude"}}, true},
		{"zombie", Process{State: 'Z', Exe: "/opt/agent/real", Args: []string{"claude"}}, false},
		{"kernel thread named claude", Process{Comm: "claude"}, false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			assert.Equal(t, test.want, IsAgent(test.p, testAgents))
		})
	}
}

func FuzzP2_SessionArg(f *testing.F) {
	for _, line := range commandLines {
		// a long one is all that would be tried
		if seed := strings.Join(line.args, "\x00"); len(seed) < 1000 {
			f.Add(seed)
		}
	}
	f.Fuzz(func(t *testing.T, cmdline string) {
		args := strings.Split(cmdline, "\x00")
		id, ok := sessionOf(args)
		if !ok {
			assert.Equal(t, uuid.Nil, id)
			return
		}
		assert.Contains(t, strings.ToLower(cmdline), id.String())
		assert.True(t, saysSo(args, id), "no element gives the id to an option: %q", args)
		if slices.Contains(args, "--fork-session") && !strings.Contains(cmdline, "--session-id") {
			// Then the word can only have been a value, or follow the end of the options.
			i := slices.Index(args, "--fork-session")
			assert.True(t, i == 0 || strings.HasPrefix(args[i-1], "-") || slices.Contains(args[:i], "--"), "%q", args)
		}
		IsAgent(Process{Args: args}, testAgents)
	})
}

// saysSo: an element that begins like one of the options holds the id, or stands right before one
// that is the id.
func saysSo(args []string, id uuid.UUID) bool {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		if strings.HasSuffix(strings.TrimSpace(strings.ToLower(arg)), id.String()) {
			return true
		}
		if i+1 < len(args) && strings.TrimSpace(strings.ToLower(args[i+1])) == id.String() {
			return true
		}
	}
	return false
}
