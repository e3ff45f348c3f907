package codex

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// Witness is the witness.Witness and the witness.Served of Codex.
type Witness struct {
	Command string // the configured command: a name on PATH or a path
}

// paneProgram is the name of the program of a pane.
const paneProgram = "ccbot-codex"

// Names returns the names of the CLI, of ccbot-codex, and of the configured command.
func (w Witness) Names() []string {
	names := []string{"codex", paneProgram}
	if w.Command != "" { // otherwise its name would be "."
		names = append(names, filepath.Base(w.Command))
	}
	return names
}

// Conversations returns the conversation that ccbot opened a window for, while its server is not
// bound yet. The command line of Codex itself proves nothing: only the lock does.
func (Witness) Conversations(args []string) []uuid.UUID {
	if len(args) < 5 || filepath.Base(args[0]) != paneProgram || args[3] != opened {
		return nil
	}
	id, err := uuid.Parse(args[4])
	if err != nil || id.String() != args[4] {
		return nil
	}
	return []uuid.UUID{id}
}

// PrintsOnce looks for the verb exec, before which there may be flags.
func (Witness) PrintsOnce(args []string) bool {
	return len(args) > 1 && slices.ContainsFunc(args[1:], func(arg string) bool { return arg == "exec" || arg == "e" || arg == "review" })
}

// IsServer looks for a server with a socket, which the shared one is not: that has no path.
func (Witness) IsServer(args []string) bool {
	i := slices.Index(args, "--listen")
	return len(args) > 1 && args[1] == "app-server" && i > 0 && i+1 < len(args) && strings.HasPrefix(args[i+1], "unix:///")
}
