//go:build !failpoints

package offline

import (
	"ccbot/agent"
	"ccbot/cmd/ccbot/config"
)

// standIn does nothing: this ccbot knows no agents of tests.
func standIn(config.Config, agent.Agents) {}
