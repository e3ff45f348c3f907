package agent

import (
	"context"
	"time"

	"ccbot/port/talk"
)

// Proof finds the evidence that a typed text has arrived, and that a conversation was continued or
// interrupted. The caller decides what it proves. A path that is empty, or has no file, has no
// trace, and that is no error.
type Proof interface {
	// Matches reports whether a submitted text, as a hook names it, contains the sent one; whole:
	// and nothing else.
	Matches(submitted, sent string, whole bool) bool
	// Trace searches a transcript from offset to its present end, in lines dated since or later.
	Trace(path string, offset int64, since time.Time, text string) (Trace, error)
	// HasInterrupt reports whether a transcript has an interrupt of a turn after a position. An
	// unreadable transcript has none.
	HasInterrupt(from talk.Cursor) bool
	// Grew reports whether a conversation was continued after an offset.
	Grew(path string, offset int64) (bool, error)
	// LastPrompt returns the last prompt in a transcript, "" if it is not known.
	LastPrompt(ctx context.Context, path string) string
}

// Trace is the evidence of a typed text in a transcript.
type Trace struct {
	// The agent has the text: a prompt, a queued prompt, a command's line; or a hook refused it.
	Arrived bool
	Refused bool // with Arrived: a hook refused it, and the text is in the prompt box
	Foreign bool // there is another text of a person, or the conversation was compacted
	Earlier bool // there are lines dated earlier
}
