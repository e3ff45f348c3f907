package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// Limits of what is read and kept, in bytes.
const (
	MaxPayload = 16 << 20  // of one payload on stdin
	maxPrompt  = 1 << 20   // of Event.Prompt; a paste of 61 kB is an ordinary prompt
	maxMessage = 16 << 10  // of Event.LastAssistantMessage; the transcript has all of it
	maxField   = 4 << 10   // of every other text
	MaxEvent   = 8 << 20   // of an event file: JSON may need six bytes for one
	MaxBinding = 512 << 10 // of a binding file
	maxPath    = 16 << 10  // of a path; no system opens a longer one
)

// maxSuggestions is how many permission suggestions are kept; a real request has only a few.
const maxSuggestions = 64

// Payload is what Claude Code writes to a hook's stdin, as far as ccbot reads it. The keys are
// Claude Code's own. Unknown keys are skipped, and a field of an unexpected type is empty instead
// of an error: a new version that changes a text into an object must not suppress the event.
type Payload struct {
	HookEventName        string
	SessionID            string // a UUID
	TranscriptPath       string // absolute or empty
	Cwd                  string // absolute or empty
	Source               string
	Reason               string
	Prompt               string
	PermissionMode       string
	Model                string
	Error                string
	LastAssistantMessage string
	BackgroundTasks      int

	// Of a PermissionRequest.
	ToolName              string
	ToolInput             json.RawMessage   // a JSON object or nil
	PermissionSuggestions []json.RawMessage // at most maxSuggestions
	AgentID               string            // empty: the session itself asks, not a subagent
	AgentType             string
}

// ReadPayload decodes one JSON object and returns as soon as the object is complete: it does not
// wait for the end of the input. The error is ErrMalformed for a payload that is larger than
// MaxPayload, has no event name or session id, or is not JSON; other errors are the reader's.
func ReadPayload(r io.Reader) (Payload, error) {
	limited := &io.LimitedReader{R: r, N: MaxPayload}
	var wire wirePayload
	if err := json.NewDecoder(limited).Decode(&wire); err != nil {
		return Payload{}, payloadError(err, limited.N <= 0)
	}
	p := wire.payload()
	if p.HookEventName == "" {
		return Payload{}, fmt.Errorf("hook payload: %w: no hook_event_name", ErrMalformed)
	}
	if err := checkSession(p.SessionID, p.Cwd, p.TranscriptPath); err != nil {
		return Payload{}, fmt.Errorf("hook payload: %w: %w", ErrMalformed, err)
	}
	return p, nil
}

func payloadError(err error, full bool) error {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case full:
		return fmt.Errorf("hook payload: %w: more than %d bytes", ErrMalformed, MaxPayload)
	case errors.As(err, &syntax), errors.As(err, &kind), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("hook payload: %w: %w", ErrMalformed, err)
	}
	return fmt.Errorf("hook payload: %w", err)
}

// wirePayload is the payload with Claude Code's key names.
type wirePayload struct {
	HookEventName        text  `json:"hook_event_name"`
	SessionID            text  `json:"session_id"`
	TranscriptPath       text  `json:"transcript_path"`
	Cwd                  text  `json:"cwd"`
	Source               text  `json:"source"`
	Reason               text  `json:"reason"`
	Prompt               text  `json:"prompt"`
	PermissionMode       text  `json:"permission_mode"`
	Model                text  `json:"model"`
	Error                text  `json:"error"`
	LastAssistantMessage text  `json:"last_assistant_message"`
	BackgroundTasks      count `json:"background_tasks"`

	ToolName              text   `json:"tool_name"`
	ToolInput             object `json:"tool_input"`
	PermissionSuggestions list   `json:"permission_suggestions"`
	AgentID               text   `json:"agent_id"`
	AgentType             text   `json:"agent_type"`
}

func (w wirePayload) payload() Payload {
	return Payload{
		HookEventName:        clip(string(w.HookEventName), maxField),
		SessionID:            string(w.SessionID),
		TranscriptPath:       string(w.TranscriptPath),
		Cwd:                  string(w.Cwd),
		Source:               clip(string(w.Source), maxField),
		Reason:               clip(string(w.Reason), maxField),
		Prompt:               string(w.Prompt),
		PermissionMode:       clip(string(w.PermissionMode), maxField),
		Model:                clip(string(w.Model), maxField),
		Error:                clip(string(w.Error), maxField),
		LastAssistantMessage: string(w.LastAssistantMessage),
		BackgroundTasks:      int(w.BackgroundTasks),

		ToolName:              clip(string(w.ToolName), maxField),
		ToolInput:             json.RawMessage(w.ToolInput),
		PermissionSuggestions: w.PermissionSuggestions,
		AgentID:               clip(string(w.AgentID), maxField),
		AgentType:             clip(string(w.AgentType), maxField),
	}
}

// Event makes the event of this payload with its long texts cut. The caller adds the launch, the
// process and the time.
func (p Payload) Event() Event {
	return Event{
		Version:              Version,
		Name:                 p.HookEventName,
		SessionID:            p.SessionID,
		TranscriptPath:       p.TranscriptPath,
		Cwd:                  p.Cwd,
		Source:               p.Source,
		Reason:               p.Reason,
		Prompt:               clip(p.Prompt, maxPrompt),
		PromptCut:            len(p.Prompt) > maxPrompt,
		PermissionMode:       p.PermissionMode,
		Model:                p.Model,
		Error:                p.Error,
		LastAssistantMessage: clip(p.LastAssistantMessage, maxMessage),
		BackgroundTasks:      p.BackgroundTasks,
	}
}

// text is a JSON string; anything else decodes to "".
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	var s string
	if json.Unmarshal(data, &s) == nil {
		*t = text(s)
	}
	return nil
}

// count is the length of a JSON array; anything else decodes to 0.
type count int

func (c *count) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	if json.Unmarshal(data, &list) == nil {
		*c = count(len(list))
	}
	return nil
}

// object is a JSON object in its original bytes; anything else decodes to nil.
type object json.RawMessage

func (o *object) UnmarshalJSON(data []byte) error {
	*o = nil
	if isObject(data) {
		*o = append(object(nil), data...)
	}
	return nil
}

// list is the objects of a JSON array in their original bytes; a value that is not an array decodes
// to nil.
type list []json.RawMessage

func (l *list) UnmarshalJSON(data []byte) error {
	*l = nil
	var all []json.RawMessage
	if json.Unmarshal(data, &all) != nil {
		return nil
	}
	for _, one := range all {
		if isObject(one) && len(*l) < maxSuggestions {
			*l = append(*l, one)
		}
	}
	return nil
}

// isObject reports whether a valid JSON value without space around it is an object.
func isObject(data []byte) bool { return len(data) > 0 && data[0] == '{' }

// clip cuts s to at most limit bytes without splitting a character.
func clip(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit]
}

// isUUID reports whether s has the 8-4-4-4-12 form, as google/uuid would print it.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		dash := i == 8 || i == 13 || i == 18 || i == 23
		if dash != (s[i] == '-') || !dash && !isHex(s[i]) {
			return false
		}
	}
	return true
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// isID reports whether s, for example a boot id, may be part of a file name.
func isID(s string) bool {
	if s == "" || len(s) > 64 {
		return false
	}
	for i := range len(s) {
		c := s[i]
		if !isHex(c) && c != '-' {
			return false
		}
	}
	return true
}
