package claude

import (
	"ccbot/agent"
	"ccbot/port/talk"
)

// Manners returns the agent.Manners of Claude Code. All slash commands but /compact run a turn.
func Manners() agent.Manners {
	return agent.Manners{Ends: append(talk.Leaves(), "/exit", "/quit"), Lineless: []string{"!", "/compact"},
		NextMode: "BTab", OpenModels: "M-p", ThisSession: "s"}
}
