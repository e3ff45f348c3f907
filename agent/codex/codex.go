package codex

import (
	"path/filepath"

	"ccbot/agent"
	"ccbot/agent/codex/appserver"
	"ccbot/agent/codex/codexui"
	"ccbot/agent/codex/rollout"
	"ccbot/agent/codex/writerlock"
	"ccbot/port"
)

// Machine has the parts of the machine that Codex needs.
type Machine struct {
	Home      string // CODEX_HOME
	Pane      string // the absolute path of ccbot-codex
	Processes appserver.Processes
	Title     appserver.Title
}

// New returns the parts of Codex.
func New(m Machine, configured agent.Launch) agent.Agent {
	starter := Starter{Pane: m.Pane, Home: m.Home, launched: make(chan struct{}, 1)}
	if !filepath.IsAbs(m.Home) { // Starter refuses that
		m.Home = "/nonexistent"
	}
	files, locked := rollout.New(m.Home), writerlock.Home(m.Home)
	requests := &appserver.Requests{Calls: files}
	return agent.Agent{Starter: starter, Witness: Witness{Command: configured.Command}, Locks: locked,
		Presences: appserver.Presences{Processes: m.Processes, Title: m.Title, Folder: filepath.Join(m.Home, writerlock.Folder), Held: locked.Held, Launched: starter.launched, Requests: requests},
		Asks:      appserver.Asks{}, Requests: requests,
		Keys: func(string) agent.Keys { return agent.PlainKeys{Empties: "C-c"} }, Manners: agent.Manners{Ends: []string{"/quit", "/exit"}}, Reader: codexui.Reader{},
		Transcripts: files, Replies: files, Keeper: files, Proof: files, History: files, Excerpts: files, Folders: files, Usage: files,
		Delivery: appserver.Delivery{Processes: m.Processes, Title: m.Title, Receipts: files}, Launch: configured, Product: product, Reachable: true,
		Abilities: port.Abilities{Compact: true, Prose: true}}
}
