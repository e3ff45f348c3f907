//go:build failpoints

package offline

import (
	"path/filepath"

	"ccbot/agent"
	"ccbot/agent/toy"
	"ccbot/cmd/ccbot/config"
)

// standIn makes the toy of the conformance suite the default agent, if its program is configured.
func standIn(c config.Config, all agent.Agents) {
	if filepath.Base(c.ClaudeCommand()) == toy.Program {
		all[agent.Default] = toy.New(c.ClaudeDir, all[agent.Default].Launch)
	}
}
