package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"
)

// Version is the schema version of the event and binding files written by this package.
const Version = 1

// The hook events that the hook binary handles. The names are Claude Code's own (hook_event_name).
const (
	SessionStart = "SessionStart" // source: startup, resume, clear, compact, fork
	// UserPromptSubmit fires when a prompt is enqueued, not when its turn starts.
	UserPromptSubmit = "UserPromptSubmit"
	Stop             = "Stop" // the turn ended; background tasks may continue
	// StopFailure: the turn ended with an API error; then Stop does not fire.
	StopFailure = "StopFailure"
	SessionEnd  = "SessionEnd" // reason: clear, prompt_input_exit, other, …
	// PostToolUse of a tool of Schedulers: the agent has made a schedule for itself.
	PostToolUse = "PostToolUse"

	// PermissionRequest runs while the terminal shows the permission dialog. It leaves no file.
	PermissionRequest = "PermissionRequest"
)

// Schedulers are the tools by which an agent makes a schedule for itself, as a matcher of a hook. /loop calls them, too.
const Schedulers = "CronCreate|ScheduleWakeup"

// ErrMalformed means that bytes are not an event, a binding or a payload. It is permanent.
var ErrMalformed = errors.New("malformed")

// Event is one file in events/: one hook run of one Claude Code process.
type Event struct {
	Version  int       `json:"version"`
	Name     string    `json:"name"`             // hook_event_name
	Received time.Time `json:"received"`         // UTC, when the hook read its payload
	Launch   string    `json:"launch,omitempty"` // record id of the launch: --launch, or CCBOT_LAUNCH

	// The Claude Code process that ran the hook; 0 and "" when it could not be proven.
	AgentPID int `json:"claude_pid,omitempty"`
	// AgentStart is field 22 of /proc/PID/stat; on darwin the start time in ms.
	AgentStart uint64 `json:"claude_start,omitempty"`
	Boot       string `json:"boot,omitempty"` // BootID

	// Pane is TMUX_PANE, which a nested claude inherits from its parent.
	Pane string `json:"pane,omitempty"`
	Tmux string `json:"tmux,omitempty"` // TMUX: socket path, server pid, session number

	SessionID      string `json:"session_id"`
	TranscriptPath string `json:"transcript_path,omitempty"` // may not exist yet
	// TranscriptSize is in bytes, when the hook ran; 0 when there was no transcript.
	TranscriptSize int64  `json:"transcript_size,omitempty"`
	Cwd            string `json:"cwd,omitempty"`
	Source         string `json:"source,omitempty"` // SessionStart
	Reason         string `json:"reason,omitempty"` // SessionEnd
	// Schedules is the number of the agent's own schedules, which end with its process. At Stop it is exact; at
	// PostToolUse there are at least so many.
	Schedules int `json:"schedules,omitempty"`

	Prompt string `json:"prompt,omitempty"` // UserPromptSubmit, at most maxPrompt bytes
}

// Binding is one file in bindings/: which session a Claude Code process was running when its hook
// last reported. It is a hint; the process is proven again from the kernel before any decision
// depends on it.
type Binding struct {
	Version        int    `json:"version"`
	Boot           string `json:"boot"`
	PID            int    `json:"pid"`
	Start          uint64 `json:"start"` // as Event.AgentStart
	SessionID      string `json:"session_id"`
	Cwd            string `json:"cwd,omitempty"`
	TranscriptPath string `json:"transcript_path,omitempty"`
	Pane           string `json:"pane,omitempty"`
	Tmux           string `json:"tmux,omitempty"`
}

// BindingOf makes the binding that an event of a proven process contains.
func BindingOf(e Event) Binding {
	return Binding{
		Version: Version, Boot: e.Boot, PID: e.AgentPID, Start: e.AgentStart,
		SessionID: e.SessionID, Cwd: e.Cwd, TranscriptPath: e.TranscriptPath,
		Pane: e.Pane, Tmux: e.Tmux,
	}
}

// ReadEvent decodes the bytes of one file in events/. The error is ErrMalformed with the reason.
func ReadEvent(data []byte) (Event, error) {
	e, err := read[Event]("event", data)
	e.Received = e.Received.UTC()
	return e, err
}

// ReadBinding decodes the bytes of one file in bindings/. The error is ErrMalformed with the
// reason.
func ReadBinding(data []byte) (Binding, error) {
	return read[Binding]("binding", data)
}

// checked is the content of a file or of a call on the socket.
type checked interface{ check() error }

// read decodes an object and checks it. The error is ErrMalformed with the reason.
func read[T checked](what string, data []byte) (v T, _ error) {
	err := json.Unmarshal(data, &v)
	if err == nil {
		err = v.check()
	}
	if err != nil {
		return *new(T), fmt.Errorf("%s: %w: %w", what, ErrMalformed, err)
	}
	return v, nil
}

func (e Event) check() error {
	switch {
	case e.Version != Version:
		return fmt.Errorf("version %d, want %d", e.Version, Version)
	case e.Name == "":
		return errors.New("no event name")
	case !isTime(e.Received):
		return errors.New("no time")
	case e.AgentPID < 0:
		return fmt.Errorf("pid %d", e.AgentPID)
	}
	return checkSession(e.SessionID, e.Cwd, e.TranscriptPath)
}

func (b Binding) check() error {
	switch {
	case b.Version != Version:
		return fmt.Errorf("version %d, want %d", b.Version, Version)
	case b.PID <= 0:
		return fmt.Errorf("pid %d", b.PID)
	case !isID(b.Boot):
		return fmt.Errorf("boot id %q", b.Boot)
	}
	return checkSession(b.SessionID, b.Cwd, b.TranscriptPath)
}

func checkSession(id, cwd, transcript string) error {
	switch {
	case !isUUID(id):
		return fmt.Errorf("session id %q is not a UUID", clip(id, 64))
	case cwd != "" && !filepath.IsAbs(cwd):
		return errors.New("cwd is not absolute")
	case len(cwd) > maxPath, len(transcript) > maxPath:
		return errors.New("path too long")
	case transcript != "" && !filepath.IsAbs(transcript):
		return errors.New("transcript path is not absolute")
	}
	return nil
}
