package claude

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"ccbot/agent/claude/claudeflags"
)

// Witness is the witness.Witness of Claude Code.
type Witness struct {
	Command string // the configured command: a name on PATH or a path
}

// Names returns the names of the CLI, which may be a script of a JavaScript runtime, and of the
// configured command.
func (w Witness) Names() []string {
	names := []string{"claude", "claude.exe"}
	if w.Command != "" { // otherwise its name would be "."
		names = append(names, filepath.Base(w.Command))
	}
	return names
}

// Conversations reads --resume, --session-id and --fork-session.
func (Witness) Conversations(args []string) []uuid.UUID { return claudeflags.Sessions(args) }

// PrintsOnce looks for --print and -p. The value of another option may look like -p: then it
// wrongly returns true.
func (Witness) PrintsOnce(args []string) bool {
	return slices.ContainsFunc(args, func(arg string) bool {
		letters := strings.TrimPrefix(arg, "-")
		flags := letters[:len(letters)-len(strings.TrimLeft(letters, "pc"))]
		return arg == "--print" || letters != arg && strings.Contains(flags, "p")
	})
}
