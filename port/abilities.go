package port

import (
	"context"
	"slices"
	"strings"
)

// Abilities are the abilities of an agent that people use in the chat. The chat draws no button of
// an ability that is missing, and answers its commands with a sentence.
type Abilities struct {
	Modes   []Mode   // the permission modes that a person may choose; none: it cannot be switched
	Models  []string // the models that a person may choose; none: it cannot be switched
	Compact bool     // it shortens its conversation at /compact
	Bash    bool     // it runs a line after ! in its shell
	Prose   bool     // its own slash commands, but for that one, work in its terminal only: in a text of the chat they are words
}

// Switches reports whether the mode or the model can be switched.
func (a Abilities) Switches() bool { return len(a.Modes)+len(a.Models) > 0 }

// HasMode reports whether a person may choose a mode.
func (a Abilities) HasMode(m Mode) bool { return slices.Contains(a.Modes, m) }

// Model returns a model as Models has it, or "" if a person may not choose it. Case is ignored.
func (a Abilities) Model(name string) string {
	if i := slices.IndexFunc(a.Models, func(m string) bool { return strings.EqualFold(m, name) }); i >= 0 {
		return a.Models[i]
	}
	return ""
}

// DefaultAgent is the name of the agent of a session that names none.
const DefaultAgent = "claude"

// Installed is an agent whose program is installed.
type Installed struct {
	Name    string // as in Start.Agent
	Product string // its name for people
}

// Agents knows the coding agents of the machine.
type Agents interface {
	// Installed returns the agents that are installed on the machine of a folder, by name.
	Installed(ctx context.Context, dir string) ([]Installed, error)
	// Abilities returns the abilities of the agent with a name, as in Start.Agent, on the machine of a
	// folder: those of a session that does not exist yet.
	Abilities(ctx context.Context, dir, agent string) (Abilities, error)
}
