package hookwire

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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

// maxSuggestions limits the kept permission suggestions; a real request has only a few.
const maxSuggestions = 64

// Payload is Claude Code's input to a hook. The keys are Claude Code's own. Unknown keys are
// skipped, and a field of an unexpected type is empty instead of an error: a new version that
// changes a text into an object must not suppress the event.
type Payload struct{ object }

// ReadPayload decodes one JSON object and returns as soon as the object is complete: it does not
// wait for the end of the input. The error is ErrMalformed for a payload that is larger than
// MaxPayload, has no event name or session id, or is not JSON; other errors are the reader's.
func ReadPayload(r io.Reader) (Payload, error) {
	limited := &io.LimitedReader{R: r, N: MaxPayload}
	var p Payload
	if err := json.NewDecoder(limited).Decode(&p.object); err != nil {
		return Payload{}, payloadError(err, limited.N <= 0)
	}
	if p.Name() == "" {
		return Payload{}, fmt.Errorf("hook payload: %w: no hook_event_name", ErrMalformed)
	}
	if err := checkSession(p.whole("session_id"), p.whole("cwd"), p.whole("transcript_path")); err != nil {
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
func (o object) text(key string) string { return clip(o.whole(key), maxField) }

// whole returns a member that is a string, of any length.
func (o object) whole(key string) string { return member[string](o, key) }

// Name is the name of the event.
func (p Payload) Name() string { return p.text("hook_event_name") }

// Event makes the event of this payload with its long texts cut. The caller adds the launch, the
// process and the time.
func (p Payload) Event() Event {
	schedules := len(member[[]json.RawMessage](p.object, "session_crons"))
	if p.Name() == PostToolUse && slices.Contains(strings.Split(Schedulers, "|"), p.text("tool_name")) {
		schedules = 1
	}
	return Event{
		Version:        Version,
		Name:           p.Name(),
		SessionID:      p.whole("session_id"),
		TranscriptPath: p.whole("transcript_path"),
		Cwd:            p.whole("cwd"),
		Source:         p.text("source"),
		Reason:         p.text("reason"),
		Schedules:      schedules,
		Prompt:         clip(p.whole("prompt"), maxPrompt),
	}
}

// Ask makes the question of a PermissionRequest. The caller adds the launch, the process and the
// time.
func (p Payload) Ask() Ask {
	a := Ask{
		SessionID:      p.whole("session_id"),
		TranscriptPath: p.whole("transcript_path"),
		Cwd:            p.whole("cwd"),
		PermissionMode: p.text("permission_mode"),
		Tool:           p.text("tool_name"),
		AgentID:        p.text("agent_id"),
		AgentType:      p.text("agent_type"),
	}
	if input := p.object["tool_input"]; isObject(input) {
		a.Input = input
	}
	for _, one := range member[[]json.RawMessage](p.object, "permission_suggestions") {
		if isObject(one) && len(a.Suggestions) < maxSuggestions {
			a.Suggestions = append(a.Suggestions, one)
		}
	}
	return a
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
