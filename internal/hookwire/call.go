package hookwire

import (
	"encoding/json"
	"time"
)

// SocketName is the control socket in $CCBOT_DIR.
const SocketName = "ccbot.sock"

// WireVersion is the version of the lines on the control socket.
const WireVersion = 1

// Limits of one line on the control socket, its line break included, in bytes.
const (
	MaxCall  = 8 << 20
	MaxReply = 8 << 20
)

// The verbs that processes below an agent call.
const (
	VerbPermission = "permission" // body Ask, reply Answer; waits for a person
	VerbSend       = "send"       // a file for the chat
)

// Call is the one line that a client writes after it has connected.
type Call struct {
	Version int    `json:"v"`
	Verb    string `json:"verb"`
	// ID is random, chosen by the client; the same after a redial.
	ID   string          `json:"id,omitempty"`
	Body json.RawMessage `json:"body,omitempty"`
}

// Reply is the one line that answers a Call. Error is a sentence for a person, Code a word for a
// program; both are empty when the call succeeded.
type Reply struct {
	Version int             `json:"v"`
	Error   string          `json:"error,omitempty"`
	Code    string          `json:"code,omitempty"`
	Body    json.RawMessage `json:"body,omitempty"`
}

// Ask is the question that a PermissionRequest hook puts to the bot. The process fields are only a
// hint: the bot asks the kernel which process is its peer.
type Ask struct {
	Received time.Time `json:"received"` // UTC

	Launch      string `json:"launch,omitempty"` // these four as in Event
	ClaudePID   int    `json:"claude_pid,omitempty"`
	ClaudeStart uint64 `json:"claude_start,omitempty"`
	Boot        string `json:"boot,omitempty"`

	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path,omitempty"`
	TranscriptSize int64  `json:"transcript_size,omitempty"`
	Cwd            string `json:"cwd,omitempty"`
	PermissionMode string `json:"permission_mode,omitempty"`

	Tool        string            `json:"tool"`
	Input       json.RawMessage   `json:"input"` // a JSON object
	Suggestions []json.RawMessage `json:"suggestions,omitempty"`
	AgentID     string            `json:"agent_id,omitempty"` // of a subagent
	AgentType   string            `json:"agent_type,omitempty"`
}

// Answer is the body of the reply to an Ask. Decision is a JSON object with behavior "allow" or
// "deny"; without a Decision the terminal decides.
type Answer struct {
	Decision json.RawMessage `json:"decision,omitempty"`
}
