// Package history is how the chat reads what was said in a session, from its end or from any place: plain values and
// three interfaces.
//
// It promises that a place leads to the same thing as long as the agent's own file is the same, and that what reads long
// ends with its context. It touches no disk itself.
package talk

import (
	"context"
	"time"

	"github.com/google/uuid"

	"ccbot/port/folders"
)

// Conversations are what agents and people have said, all transcripts of a session as one. Errors: refusal.Unsaid, where
// there is nothing to read; refusal.Replaced, where a place is of a file that is another now, or gone; or one for the log.
type Conversations interface {
	// Read gives the entries of a conversation next to a place, at most so many, the newest first.
	Read(ctx context.Context, session uuid.UUID, at Place, way Direction, most int) ([]Entry, error)
	// Find searches for a word in any case, from a place towards the beginning, until it has so many. Where ctx ends it
	// gives what it has.
	Find(ctx context.Context, session uuid.UUID, at Place, word string, most int) (Found, error)
	// Days gives the days before a place that have something, at most so many, the newest first. Where ctx ends it gives
	// what it has.
	Days(ctx context.Context, session uuid.UUID, at Place, most int) (Days, error)
}

// Exports write conversations for people.
type Exports interface {
	// Export gives a conversation as a Markdown file of at most so many bytes: of a longer one its end. Whoever has the
	// file closes it, and nothing is left of it then.
	Export(ctx context.Context, session uuid.UUID, most int64, words Words) (folders.File, error)
}

// AskedPrompts knows what sessions were asked.
type AskedPrompts interface {
	// Asked gives the beginning of what a person asked last in each of some sessions; empty: it is not known. It reads
	// the end of one file for each.
	Asked(ctx context.Context, sessions []uuid.UUID) []string
}

// Place is a place in a conversation, opaque. The empty one is the end.
type Place string

// Direction is the direction from a place.
type Direction int

// The two ways. What stands at a place is newer than it.
const (
	Older Direction = iota
	Newer
)

// Entry is one thing in a conversation: a prompt, or all that the agent said and did about it.
type Entry struct {
	At, Next Place
	Kind     EntryKind
	Time     time.Time   // of its end; zero: not known
	Texts    []string    // as they were written: of an answer Markdown
	Cut      bool        // there is more of the texts than can be shown
	Tools    []EntryTool // that were called, the most used first
	Images   int
	// Interrupted says that a person has interrupted the answer.
	Interrupted bool
}

// EntryKind is what an entry is.
type EntryKind string

// The kinds of entries.
const (
	EntryPrompt    EntryKind = "prompt"
	EntryAnswer    EntryKind = "answer"
	EntryCompacted EntryKind = "compacted" // what the agent remembers of the conversation was compacted here
)

// EntryTool is how often a tool was called.
type EntryTool struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Found is what a search has found so far.
type Found struct {
	Hits []Hit
	Next Place // where it goes on; empty: it was at the beginning
}

// Hit is a place that has the word, with a little of what stands around it.
type Hit struct {
	At                  Place
	Kind                EntryKind
	Time                time.Time
	Before, Word, After string
}

// Days are the days that were found so far.
type Days struct {
	Days []Day
	Next Place // where to look on; empty: it was at the beginning, or there are so many. The last day may have begun before it
}

// Day is the beginning of a day in a conversation.
type Day struct {
	At   Place
	Time time.Time
}

// Words are those of an exported file.
type Words struct {
	Title, Prompt, Answer, Compacted, Interrupted, Picture string
	Cut                                                    string // stands above the part of a conversation that is too long
}
