package process

import (
	"path/filepath"
	"slices"
	"strings"
)

// AgentNames tells an agent's process from any other.
type AgentNames struct {
	// Names are basenames counted as agents, of argv[0] or of the script; "claude" and "claude.exe" always count.
	Names []string
	// Exes are paths of executables recorded at our own starts. An interpreter among them is ignored: it runs anything.
	Exes []string
}

// IsAgent says whether the process is an agent by what it runs: the basename of argv[0], the basename of the script when
// argv[0] is an interpreter (node /x/claude), or the executable. A shell with -c, an editor of a file named claude, or an
// "env … claude" that has not become claude yet is none.
func IsAgent(p Process, agents AgentNames) bool {
	if p.Gone() || len(p.Args) == 0 {
		return false
	}
	return agents.has(program(p.Args)) || agents.has(script(p.Args)) || agents.hasExe(p.Exe)
}

// program is the basename of argv[0], without the dash by which a login (or "exec -l") marks it; empty for none.
func program(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	return filepath.Base(strings.TrimPrefix(args[0], "-"))
}

func (a AgentNames) has(path string) bool {
	if path == "" {
		return false
	}
	name := filepath.Base(path)
	// CLAUDE_COMMAND may be "node …" or "env …"; that does not make every node an agent.
	return name == "claude" || name == "claude.exe" || slices.Contains(a.Names, name) && interpreters[name] == ""
}

func (a AgentNames) hasExe(exe string) bool {
	// The kernel appends this when the file was replaced, as an update of the agent does while it runs.
	exe = strings.TrimSuffix(exe, " (deleted)")
	return exe != "" && interpreters[filepath.Base(exe)] == "" && slices.Contains(a.Exes, exe)
}

// interpreters run a script, or another program, that their arguments name; what they are called says nothing about
// what they do. The value says where the script stands: for most it is the first argument (with an option before it, it
// may be a command string), for a JavaScript runtime options may come first, for a launcher of programs there is none.
var interpreters = map[string]string{
	"sh": scriptFirst, "bash": scriptFirst, "dash": scriptFirst, "zsh": scriptFirst, "ksh": scriptFirst,
	"python": scriptFirst, "python3": scriptFirst, "perl": scriptFirst, "ruby": scriptFirst,
	"node": scriptAfterOptions, "nodejs": scriptAfterOptions, "bun": scriptAfterOptions, "deno": scriptAfterOptions,
	"env": noScript, "sudo": noScript, "nohup": noScript, "setsid": noScript, "timeout": noScript, "tmux": noScript,
}

const (
	scriptFirst        = "first"
	scriptAfterOptions = "after options"
	noScript           = "none"
)

// script is the path of the script that an interpreter runs, empty when the command line shows none for certain.
func script(args []string) string {
	switch interpreters[program(args)] {
	case scriptFirst:
		return firstArg(args[1:])
	case scriptAfterOptions:
		return jsScript(args[1:])
	default:
		return ""
	}
}

func firstArg(args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return ""
	}
	return args[0]
}

// jsScript passes over options of the form --name=value, and the few without a value that launchers really use. Any other
// option could take the next element as its value (-e CODE, --require MODULE), so nothing certain follows it.
func jsScript(args []string) string {
	for i, arg := range args {
		switch {
		case strings.HasPrefix(arg, "--") && strings.Contains(arg, "="):
		case slices.Contains(jsFlags, arg):
		case arg == "run" && i == 0:
		default:
			return firstArg(args[i:])
		}
	}
	return ""
}

var jsFlags = []string{"--no-warnings", "--enable-source-maps", "--expose-gc", "-A", "--allow-all"}
