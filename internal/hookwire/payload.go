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
	HookEventName  string
	SessionID      string // a UUID
	TranscriptPath string // absolute or empty
	Cwd            string // absolute or empty
	Source         string
	Reason         string
	Prompt         string
	PermissionMode string

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
	var wire object
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

// object is a JSON object of Claude Code's.
type object map[string]json.RawMessage

// member reads a member of an object; zero: it is not there, or of another type.
func member[T any](o object, key string) (value T) {
	if json.Unmarshal(o[key], &value) != nil {
		return *new(T)
	}
	return value
}

// text is a member that is a string, at most maxField bytes of it.
func (o object) text(key string) string { return clip(member[string](o, key), maxField) }

func (o object) payload() Payload {
	p := Payload{
		HookEventName:  o.text("hook_event_name"),
		SessionID:      member[string](o, "session_id"),
		TranscriptPath: member[string](o, "transcript_path"),
		Cwd:            member[string](o, "cwd"),
		Source:         o.text("source"),
		Reason:         o.text("reason"),
		Prompt:         member[string](o, "prompt"),
		PermissionMode: o.text("permission_mode"),

		ToolName:  o.text("tool_name"),
		AgentID:   o.text("agent_id"),
		AgentType: o.text("agent_type"),
	}
	if isObject(o["tool_input"]) {
		p.ToolInput = o["tool_input"]
	}
	for _, one := range member[[]json.RawMessage](o, "permission_suggestions") {
		if isObject(one) && len(p.PermissionSuggestions) < maxSuggestions {
			p.PermissionSuggestions = append(p.PermissionSuggestions, one)
		}
	}
	return p
}

// Event makes the event of this payload with its long texts cut. The caller adds the launch, the
// process and the time.
func (p Payload) Event() Event {
	return Event{
		Version:        Version,
		Name:           p.HookEventName,
		SessionID:      p.SessionID,
		TranscriptPath: p.TranscriptPath,
		Cwd:            p.Cwd,
		Source:         p.Source,
		Reason:         p.Reason,
		Prompt:         clip(p.Prompt, maxPrompt),
	}
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
