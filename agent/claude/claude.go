package claude

import (
	"path/filepath"

	"ccbot/agent"
	"ccbot/agent/claude/claudeask"
	"ccbot/agent/claude/claudekeys"
	"ccbot/agent/claude/claudesettings"
	"ccbot/agent/claude/claudeui"
	"ccbot/agent/claude/presence"
)

// New returns the parts of Claude Code. projects is the folder <config>/projects, and configured
// starts new sessions.
func New(projects string, configured agent.Launch, keys func(dir string) agent.Keys) agent.Agent {
	files := NewTranscripts(projects)
	return agent.Agent{Starter: Starter{}, Witness: Witness{Command: configured.Command}, Presences: presence.Dir{Path: filepath.Join(filepath.Dir(projects), "sessions")}, Asks: claudeask.Asks{},
		Keys: keys, Manners: Manners(), Reader: claudeui.Reader{},
		Transcripts: files, Replies: files, Keeper: files, History: files, Excerpts: files,
		Folders: files, Usage: files, Proof: files, Abilities: abilities, Answerers: claudesettings.ProjectAnswerers, HooksShut: func() bool { return claudesettings.HooksShutBy(claudekeys.ManagedSettings) != "" }, Launch: configured}
}
