package agent

import "github.com/google/uuid"

// Launch records how an agent is started.
type Launch struct {
	Command        string   `json:"command"` // as configured: a name on PATH or a path
	Flags          []string `json:"flags,omitempty"`
	PermissionMode string   `json:"permission_mode"` // ModeAsk or ModeBypass
}

// The permission modes of a launch.
const (
	ModeAsk    = "ask"
	ModeBypass = "bypass"
)

// Seen holds the known facts about the conversation that a launch continues.
type Seen struct {
	Mode    string            // the last permission mode of the conversation, or the chosen one
	Chosen  bool              // a person has chosen the mode for this launch
	Model   string            // the model that was last in use
	Env     map[string]string // variables of the launch: they may name a model
	Resumes bool              // the agent resumes a conversation, with its previous mode
}

// Start describes the conversation of one launch.
type Start struct {
	Conversation uuid.UUID
	Resumes      bool      // the conversation exists
	CopyOf       uuid.UUID // it begins as a copy of this conversation; uuid.Nil: it begins empty
	Settings     string    // the file of Settings, "" without
}

// Starter knows the command line of an agent.
type Starter interface {
	// Relaunch decides how an agent is started again, with no more permissions than a new session
	// would get; recorded is nil if no launch was recorded. program is the absolute path of its
	// command; the error is a refusal if it cannot be found.
	Relaunch(recorded *Launch, configured Launch, seen Seen) (l Launch, program string, err error)
	Argv(program string, l Launch, s Start) []string
	WithModel(l Launch, model string) Launch
	// Bypasses reports whether an agent of this launch that is in a permission mode may act without
	// asking.
	Bypasses(l Launch, mode string) bool
}

// Settings writes a file with settings for each launch, which have ccbot's hooks.
type Settings interface {
	// Write writes the file of a session that is launched in dir, and returns its path and the
	// process.Digest of the hook; "": unknown. inherited returns the values of variables of the
	// environment that the agent gets.
	Write(session uuid.UUID, dir string, inherited func(names []string) (map[string]string, error)) (path, hook string, err error)
	// Remove removes the file, and what the hooks of its launch have left.
	Remove(session uuid.UUID) error
}
