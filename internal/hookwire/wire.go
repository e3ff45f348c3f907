package hookwire

import (
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

// requestIDBytes is the number of random bytes in a request id.
const requestIDBytes = 16

// maxVerb limits Call.Verb, in bytes.
const maxVerb = 64

// NewRequestID makes an id for a Call: 16 random bytes as 22 letters of base64 (RFC 4648, section
// 5, no padding). The id can be used in a file name.
func NewRequestID() string {
	var id [requestIDBytes]byte
	_, _ = rand.Read(id[:]) // never fails
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// IsRequestID reports whether s has the form of NewRequestID.
func IsRequestID(s string) bool {
	id, err := base64.RawURLEncoding.Strict().DecodeString(s)
	// A decoder skips line breaks, so the length must be checked too.
	return err == nil && len(id) == requestIDBytes && len(s) == base64.RawURLEncoding.EncodedLen(requestIDBytes)
}

// ReadCall decodes the line of a client, with or without its line break. The error is ErrMalformed
// with the reason.
func ReadCall(line []byte) (Call, error) {
	return readLine[Call]("call", line, MaxCall)
}

func (c Call) check() error {
	switch {
	case c.Version != WireVersion:
		return fmt.Errorf("version %d, want %d", c.Version, WireVersion)
	case c.Verb == "", len(c.Verb) > maxVerb:
		return fmt.Errorf("verb of %d bytes", len(c.Verb))
	case c.ID != "" && !IsRequestID(c.ID):
		return fmt.Errorf("id %q", clip(c.ID, 64))
	}
	return nil
}

// ReadReply decodes the line of the bot, with or without its line break. The error is ErrMalformed
// with the reason.
func ReadReply(line []byte) (Reply, error) {
	return readLine[Reply]("reply", line, MaxReply)
}

func (r Reply) check() error {
	if r.Version != WireVersion {
		return fmt.Errorf("version %d, want %d", r.Version, WireVersion)
	}
	return nil
}

func readLine[T checked](what string, line []byte, most int) (none T, err error) {
	if len(line) > most {
		return none, fmt.Errorf("%s: %w: more than %d bytes", what, ErrMalformed, most)
	}
	line = bytes.TrimSuffix(line, []byte("\n"))
	if !isObject(line) {
		return none, fmt.Errorf("%s: %w: not a JSON object", what, ErrMalformed)
	}
	return read[T](what, line)
}

// Line makes one line of v, its line break included. HTML characters are not escaped: with escapes
// a program text would grow beyond the limit.
func Line(v any) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

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

	Launch     string `json:"launch,omitempty"` // these four as in Event
	AgentPID   int    `json:"claude_pid,omitempty"`
	AgentStart uint64 `json:"claude_start,omitempty"`
	Boot       string `json:"boot,omitempty"`

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

// ReadAsk decodes the body of a VerbPermission call. The error is ErrMalformed with the reason.
func ReadAsk(body []byte) (Ask, error) {
	a, err := readLine[Ask]("ask", body, MaxCall)
	a.Received = a.Received.UTC()
	return a, err
}

func (a Ask) check() error {
	switch {
	case !isTime(a.Received):
		return errors.New("no time")
	case a.AgentPID < 0:
		return fmt.Errorf("pid %d", a.AgentPID)
	case a.TranscriptSize < 0:
		return fmt.Errorf("transcript of %d bytes", a.TranscriptSize)
	case a.Tool == "":
		return errors.New("no tool")
	case !isObject(a.Input):
		return errors.New("input is not an object")
	case len(a.Suggestions) > maxSuggestions:
		return fmt.Errorf("%d suggestions", len(a.Suggestions))
	}
	for _, s := range a.Suggestions {
		if !isObject(s) {
			return errors.New("a suggestion is not an object")
		}
	}
	for _, s := range []string{a.Launch, a.Boot, a.PermissionMode, a.Tool, a.AgentID, a.AgentType} {
		if len(s) > maxField {
			return fmt.Errorf("a text of %d bytes", len(s))
		}
	}
	return checkSession(a.SessionID, a.Cwd, a.TranscriptPath)
}

// isTime reports whether JSON can hold t in UTC: a time zone may move it out of the years with four
// digits.
func isTime(t time.Time) bool {
	year := t.UTC().Year()
	return !t.IsZero() && year >= 1 && year <= 9999
}

// readAnswer decodes the body of the reply to an Ask. A Decision in it is an object that allows or
// denies, without line breaks. The error is ErrMalformed with the reason.
func readAnswer(body []byte) (Answer, error) {
	if len(body) == 0 || string(body) == "null" {
		return Answer{}, nil
	}
	a, err := readLine[Answer]("answer", body, MaxReply)
	if err != nil || a.none() {
		return Answer{}, err
	}
	var b bytes.Buffer
	_ = json.Compact(&b, a.Decision) // it is part of a valid object
	return Answer{Decision: b.Bytes()}, nil
}

func (a Answer) none() bool { return len(a.Decision) == 0 || string(a.Decision) == "null" }

// check reads the keys as Claude Code does: a Go struct would also accept "Behavior".
func (a Answer) check() error {
	if a.none() {
		return nil
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(a.Decision, &fields); err != nil {
		return err
	}
	switch behavior := string(fields["behavior"]); behavior {
	case `"allow"`, `"deny"`:
		return nil
	default:
		return fmt.Errorf("behavior %q", clip(behavior, 64))
	}
}
