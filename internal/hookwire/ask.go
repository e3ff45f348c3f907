package hookwire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"
)

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
	case a.ClaudePID < 0:
		return fmt.Errorf("pid %d", a.ClaudePID)
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
