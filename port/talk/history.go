package talk

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/port/folders"
)

// Conversations reads all transcripts of a session as one. Errors: refusal.Unsaid if there is
// nothing to read; refusal.Replaced if the file of a place was replaced or removed; or an error for
// the log. Each call ends with ctx and its error.
type Conversations interface {
	// Read returns up to most entries next to a place, newest first.
	Read(ctx context.Context, session uuid.UUID, at Place, way Direction, most int) ([]Entry, error)
	// Find searches for a word in any case, from a place towards the beginning, for up to most
	// hits. After the budget it returns the hits so far.
	Find(ctx context.Context, session uuid.UUID, at Place, word string, most int, budget time.Duration) (Found, error)
	// Days returns up to most days with entries before a place, newest first. After the budget it
	// returns the days so far.
	Days(ctx context.Context, session uuid.UUID, at Place, most int, budget time.Duration) (Days, error)
}

// Exports writes conversations for people.
type Exports interface {
	// Export returns the last most bytes of a conversation as a Markdown file, which ends with its
	// ticket.
	Export(ctx context.Context, session uuid.UUID, most int64, words Words) (folders.File, error)
}

// LastQuestions finds the last questions of sessions.
type LastQuestions interface {
	// LastQuestions returns the start of the last question in each session; empty: unknown. It reads
	// the end of one file for each.
	LastQuestions(ctx context.Context, sessions []uuid.UUID) ([]string, error)
}

// Place is an opaque position in a conversation. The empty Place is the end.
type Place string

// Direction is a direction from a place.
type Direction int

// The directions. The entry at a place is newer than the place.
const (
	Older Direction = iota
	Newer
)

// Entry is a prompt, or all that the agent said and did about it.
type Entry struct {
	At, Next Place
	Kind     EntryKind
	Time     time.Time   // of its end; zero: unknown
	Texts    []string    // as written; Markdown for an answer
	Cut      bool        // Texts are truncated
	Tools    []EntryTool // the tools called, most used first
	Images   int
	// Interrupted reports that a person interrupted the answer.
	Interrupted bool
}

// EntryKind is the kind of an entry.
type EntryKind string

// The kinds of entries.
const (
	EntryPrompt    EntryKind = "prompt"
	EntryAnswer    EntryKind = "answer"
	EntryCompacted EntryKind = "compacted" // the agent's memory of the conversation was compacted here
)

// EntryTool is a tool and the number of its calls.
type EntryTool struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Found is the result of a search.
type Found struct {
	Hits []Hit
	Next Place // where to continue; empty: the beginning was reached
}

// Hit is a match, with a little text around it.
type Hit struct {
	At                  Place
	Kind                EntryKind
	Time                time.Time
	Before, Word, After string
}

// Days is the result of a search for days.
type Days struct {
	Days []Day
	Next Place // where to continue; empty: no more, or most days were found; the last may start earlier
}

// Day is the start of a day in a conversation.
type Day struct {
	At   Place
	Time time.Time
}

// Words are the headings of an exported file.
type Words struct {
	Title, Prompt, Answer, Compacted, Interrupted, Picture string
	Cut                                                    string // the note above a truncated text
}
