package transcript

import (
	"strings"
	"time"

	"ccbot/internal/clip"
)

// Failure is an error that ended a turn, or kept a prompt from beginning one. It stands until the
// agent answers, or a person sends another prompt.
type Failure struct {
	Kind  FailureKind `json:"kind"`
	Text  string      `json:"text"`           // as Claude Code shows it, or the hook's reason
	Until time.Time   `json:"until,omitzero"` // the end of a limit; zero: unknown
}

// FailureKind says what has failed.
type FailureKind string

// The kinds of failures that Claude Code 2.1.328 distinguishes.
const (
	FailedRequest FailureKind = "request" // the API refused a request, or all its repetitions
	FailedLogin   FailureKind = "login"   // the account or the key is not accepted
	FailedLimit   FailureKind = "limit"   // the account has used what it may use
	FailedHook    FailureKind = "hook"    // a UserPromptSubmit hook has blocked a prompt
)

// failure reads a line that Claude Code itself has written about a request that failed.
func (e *entry) failure() Failure {
	text, _ := texts(e.Message.Content)
	f := Failure{Kind: FailedRequest, Text: clip.Runes(strings.TrimSpace(text), maxText)}
	switch {
	case e.Error == "authentication_failed":
		f.Kind = FailedLogin
	case e.QuotaLimits.ResetsAt > 0:
		f.Kind, f.Until = FailedLimit, time.Unix(int64(e.QuotaLimits.ResetsAt), 0).UTC()
	}
	return f
}

// originalPrompt stands between the reason of a hook and the prompt that it has blocked.
const originalPrompt = "\n\nOriginal prompt: "

// blocked reads a line about a prompt that a hook did not let through. The zero value means that
// the line is about something else.
func (e *entry) blocked() Failure {
	if e.PromptSubmitEnding.Ending.Kind != "blocked_by_hook" {
		return Failure{}
	}
	text, _ := texts(e.Content)
	text, _, _ = strings.Cut(text, originalPrompt)
	_, reason, _ := strings.Cut(text, "\n") // the first line says what happened
	return Failure{Kind: FailedHook, Text: clip.Runes(strings.TrimSpace(reason), maxText)}
}
