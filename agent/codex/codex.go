package codex

import (
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/codex/appserver"
	"ccbot/agent/codex/codexui"
	"ccbot/agent/codex/rollout"
	"ccbot/agent/codex/writerlock"
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
	files, locked := rollout.Files{Home: m.Home}, locks{m.Home}
	return agent.Agent{Starter: Starter{Pane: m.Pane}, Witness: Witness{Command: configured.Command}, Locks: locked,
		Presences: appserver.Presences{Processes: m.Processes, Title: m.Title, Folder: filepath.Join(m.Home, writerlock.Folder), Held: locked.Held},
		Keys:      func(string) agent.Keys { return keys{} }, Manners: agent.Manners{Ends: []string{"/quit", "/exit"}}, Reader: codexui.Reader{},
		Transcripts: files, Replies: files, Keeper: files, Proof: files, History: files, Excerpts: files, Folders: files, Usage: files,
		Delivery: appserver.Delivery{Processes: m.Processes, Title: m.Title, Receipts: files}, Launch: configured, Product: "Codex", Reachable: true}
}

// locks is the witness.Locks of Codex.
type locks struct{ home string }

func (l locks) Held() (map[int][]uuid.UUID, error) { return writerlock.Holders(l.home) }

// keys are the keys of Codex, as they are by default. Texts are delivered by calls.
type keys struct{}

func (keys) Submit() (string, error)     { return "Enter", nil }
func (keys) Cancel(bool) (string, error) { return "Escape", nil }
func (keys) Clear(bool) (string, error)  { return "C-c", nil }
func (keys) Other(string, bool) error    { return nil }
