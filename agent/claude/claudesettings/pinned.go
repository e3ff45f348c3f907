package claudesettings

import (
	"cmp"
	"maps"
	"slices"
)

// pinned are variables that a repository could set in its own settings. The comment of each names
// what ccbot would lose.
var pinned = map[string]string{
	"CLAUDE_CODE_SHELL_PREFIX":        "",  // no hook and no status line is run
	"CLAUDE_CODE_CHILD_SESSION":       "0", // no transcript and no presence file
	"CLAUDE_CODE_SKIP_PROMPT_HISTORY": "0", // no transcript
	"CLAUDE_CODE_SIMPLE":              "0", // no hooks
	"CLAUDE_CODE_SAFE_MODE":           "0", // no hooks and no status line
}

// unset are the variables that act on a hook's command line before env -i can drop them, each with
// the value that means the same as no value. A launch pins them to what the agent was started with,
// because a person may need them. The dynamic linker reads all but OPTIND, for the shell and for
// env. Debian's shell exits with 2 unless OPTIND is a number, and Claude Code takes that code for a
// refusal.
//
// docs/security.md lists the variables that cannot be pinned, because they have no neutral value.
var unset = map[string]string{
	"LD_PRELOAD": "", "LD_AUDIT": "", "LD_LIBRARY_PATH": "", "LD_ORIGIN_PATH": "",
	"LD_DEBUG": "", "LD_DEBUG_OUTPUT": "", "LD_PROFILE": "", "LD_PROFILE_OUTPUT": "",
	"LD_BIND_NOW": "", "LD_BIND_NOT": "", "GLIBC_TUNABLES": "", "LOCPATH": "",
	"OPTIND": "1",
}

// Inherited returns the names of the variables that a launch pins to the values with which the
// agent is started.
func Inherited() []string { return slices.Sorted(maps.Keys(unset)) }

// pins returns the environment that a launch sets. started holds the variables with which the agent
// is started; others than those of Inherited do not count.
func pins(started map[string]string) map[string]string {
	env := maps.Clone(pinned)
	for name, none := range unset {
		env[name] = cmp.Or(started[name], none)
	}
	return env
}
