package process

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// AgentNames distinguishes the processes of agents from all others.
type AgentNames struct {
	// Names are basenames, of argv[0] or of the script, that count as agents. An interpreter among
	// them is ignored, because a configured command may be "node …" or "env …".
	Names []string
	// Exes are paths of executables recorded when ccbot started agents. An interpreter among them
	// is ignored, because it can run any program.
	Exes []string
	// Untrusted reports whether the command line of a process must be ignored, because any other
	// user could have written it. If nil, all are trusted.
	Untrusted func(Process) bool
	// Conversations returns the conversations that a command line names. If nil, there are none.
	Conversations func(args []string) []uuid.UUID
}

func (a AgentNames) conversations(p Process) []uuid.UUID {
	if a.Conversations == nil {
		return nil
	}
	return a.Conversations(p.Args)
}

// StartedFor reports whether the command line of a process names the conversation, and no other.
func (a AgentNames) StartedFor(p Process, conversation uuid.UUID) bool {
	named := a.conversations(p)
	return len(named) > 0 && !slices.ContainsFunc(named, func(id uuid.UUID) bool { return id != conversation })
}

// IsAgent reports whether the process is an agent by what it runs: the basename of argv[0], the
// basename of the script when argv[0] is an interpreter (node /x/agent), or the executable. A shell
// with -c, an editor that edits a file named like the agent, and an "env … AGENT" that has not yet
// executed the agent are not agents.
func IsAgent(p Process, agents AgentNames) bool {
	if p.Gone() || len(p.Args) == 0 {
		return false
	}
	return agents.has(program(p.Args)) || agents.has(script(p.Args)) || agents.hasExe(p.Exe)
}

// program is the basename of argv[0], without the dash that marks a login shell (or "exec -l");
// empty when there is no argv[0].
func program(args []string) string {
	if len(args) == 0 || args[0] == "" {
		return ""
	}
	return filepath.Base(strings.TrimPrefix(args[0], "-"))
}

// IsNamed reports whether a terminal's list of processes shows this one under a name: that of its program, or the kernel's.
func (p Process) IsNamed(name string) bool {
	if name == "" || len(p.Args) == 0 {
		return false
	}
	called, _, _ := strings.Cut(p.Args[0], " ")
	return name == program([]string{called}) || name == p.Comm
}

func (a AgentNames) has(path string) bool {
	if path == "" {
		return false
	}
	name := filepath.Base(path)
	return slices.Contains(a.Names, name) && scriptPlace(name) == ""
}

func (a AgentNames) hasExe(exe string) bool {
	// The kernel appends this suffix when the file was replaced, which an update of the agent does
	// while the agent runs.
	exe = strings.TrimSuffix(exe, " (deleted)")
	return exe != "" && scriptPlace(filepath.Base(exe)) == "" && slices.Contains(a.Exes, exe)
}

// interpreters run a script or another program that their arguments name; the name of an
// interpreter does not describe its work. The value is the position of the script: for most
// interpreters it is the first argument (after an option it may be a command string); a JavaScript
// runtime may have options before it; a launcher of programs has no script.
var interpreters = map[string]string{
	"sh": scriptFirst, "bash": scriptFirst, "dash": scriptFirst, "zsh": scriptFirst, "ksh": scriptFirst,
	"python": scriptFirst, "perl": scriptFirst, "ruby": scriptFirst,
	"node": scriptAfterOptions, "nodejs": scriptAfterOptions, "bun": scriptAfterOptions, "deno": scriptAfterOptions,
	"env": noScript, "sudo": noScript, "nohup": noScript, "setsid": noScript, "timeout": noScript, "tmux": noScript,
	"busybox": noScript, "coreutils": noScript,
}

// scriptPlace returns the position of an interpreter's script, or "" for any other program. The
// version that a name ends with, as in python3.12, is ignored.
func scriptPlace(name string) string { return interpreters[strings.TrimRight(name, "0123456789.-")] }

const (
	scriptFirst        = "first"
	scriptAfterOptions = "after options"
	noScript           = "none"
)

// script is the path of the script that an interpreter runs, empty when the command line does not
// show it for certain.
func script(args []string) string {
	switch scriptPlace(program(args)) {
	case scriptFirst:
		return firstArg(args[1:])
	case scriptAfterOptions:
		return jsScript(args[1:])
	}
	return ""
}

func firstArg(args []string) string {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return ""
	}
	return args[0]
}

// jsScript skips options of the form --name=value, and the few options without a value that
// launchers really use. Any other option could take the next element as its value (-e CODE,
// --require MODULE), so the script after it is not certain.
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

// ArgvHash returns a fingerprint of a command line: the SHA-256 of its arguments, each followed by
// a NUL as in the kernel, in hex. A record holds the fingerprint instead of the arguments, because
// these are private. It is "" for an empty command line, such as a zombie's.
func ArgvHash(args []string) string {
	if len(args) == 0 {
		return ""
	}
	sum := sha256.Sum256([]byte(strings.Join(args, "\x00") + "\x00"))
	return hex.EncodeToString(sum[:])
}
