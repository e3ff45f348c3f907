package history

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/google/uuid"

	"ccbot/port/talk"
)

// ErrTruncated is returned if no line of a file begins at an offset: the file was cut, or is
// another one.
var ErrTruncated = errors.New("the file was truncated or replaced")

// End is the offset that means the end of a file.
const End = -1

// Reader reads a conversation as people read it.
type Reader interface {
	// Older calls see with the entries before an offset, the newest first, until see returns false.
	Older(ctx context.Context, path string, before int64, see func(Entry) bool) error
	// Newer calls see with the entries from an offset on, the oldest first, until see returns false.
	Newer(ctx context.Context, path string, from int64, see func(Entry) bool) error
	// Search calls see with the prompts and answers before an offset that have a word in any case,
	// the newest first, until see returns false. reached is the offset up to which it has searched,
	// also after an error; ctx's error is usual.
	Search(ctx context.Context, path string, before int64, word string, see func(Found) bool) (reached int64, err error)
	// Days calls see with the days before an offset, the newest first, until see returns false.
	// reached is as in Search; the last day may have begun before it.
	Days(ctx context.Context, path string, before int64, in *time.Location, see func(Day) bool) (reached int64, err error)
	// FirstID returns what a file and its copies begin with, and no other file; "" if it is not
	// known.
	FirstID(path string) string
}

// Entry is one thing in a conversation as people read it: a prompt, or all that the agent said and
// did about it.
type Entry struct {
	At, End int64 // the lines that it is made of, from one offset up to the other
	Kind    talk.EntryKind
	Time    time.Time // of its newest line
	Texts   []string  // of an answer Markdown
	Calls   []string  // names of the tools that were called
	Images  int
	Cut     bool // of a text that does not fit in memory, Texts has the beginning
	// Interrupted says that a person has interrupted the answer.
	Interrupted bool
}

// Found is a place where a word was found.
type Found struct {
	At       int64 // the line
	Kind     talk.EntryKind
	Time     time.Time
	Text     string
	From, To int // the word in Text
}

// Day is the first line of a day that has something of the conversation.
type Day struct {
	At   int64
	Time time.Time
}

// Excerpts reads single things of a conversation.
type Excerpts interface {
	// Between calls see with the answers and questions between two cursors of one file, oldest
	// first, and with the failure that each of them shows. If from is nil, they are the last answer
	// before the second cursor. cut reports that earlier ones were left out.
	Between(ctx context.Context, from *talk.Cursor, before talk.Cursor, see func(talk.Item, talk.Failure)) (cut bool, err error)
	// Image and Words are those of talk.Pictures. The caller closes the content.
	Image(at talk.Cursor, image talk.Image) (Content, error)
	Words(at talk.Cursor, rest talk.Rest, beyond bool) (Content, error)
	// Outcome is that of talk.DecisionRecords.
	Outcome(ctx context.Context, q talk.Request, a *talk.Answer) (o talk.RequestOutcome, found bool, err error)
}

// Content is the content of an image or a text, of Size bytes.
type Content struct {
	Body interface {
		io.ReaderAt
		io.Closer
	}
	Size int64
}

// Folders knows what an agent has for a folder.
type Folders interface {
	// HasCommand reports whether the agent has a person's slash command in dir.
	HasCommand(dir, name string) bool
	// InFolder calls see with the conversations that began in dir, which must have no links, last
	// written first, until see returns false or ctx ends.
	InFolder(ctx context.Context, dir string, see func(Conversation) bool) error
}

// Conversation is the file of a conversation that began in a folder.
type Conversation struct {
	ID      uuid.UUID
	Path    string
	Size    int64     // in bytes
	Changed time.Time // when something was last written
}
