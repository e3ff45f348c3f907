package agent

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"ccbot/agent/history"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// Transcripts finds and reads the files in which an agent writes its conversations.
type Transcripts interface {
	// Find returns the file of a conversation. The error is fs.ErrNotExist if there is none.
	Find(conversation uuid.UUID) (path string, err error)
	// All returns every file that has the conversation's name, at least one. The error is as that of Find. Which
	// of several has the conversation is not known.
	All(conversation uuid.UUID) (paths []string, err error)
	// End returns the end of a file, after its last whole line. The error is fs.ErrNotExist if there
	// is none.
	End(path string) (talk.Cursor, error)
	// Own returns path with links followed if it may be the conversation's file, otherwise "". The
	// file need not exist.
	Own(path string, conversation uuid.UUID) string
	// Sibling returns the conversation's file in the folder of path: path itself if it is that file,
	// and "" if the name cannot be known.
	Sibling(path string, conversation uuid.UUID) string
	// Advance reads on to the present end of a file. A path other than the previous one is another
	// conversation. If there is no file, or an error, it returns p.
	Advance(p history.Progress, path string) (history.Progress, error)
}

// Replies finds what an agent has said.
type Replies interface {
	// Unsaid reports whether the part between c and an offset may hold a text for the person.
	Unsaid(c talk.Cursor, before int64) bool
	// Reply follows the answer to a text that was typed after mark, in a transcript that need not be
	// there yet. Each read continues to its present end, or to the end of the turn.
	Reply(mark talk.Cursor, since time.Time, text string) (read func() (talk.Reply, error))
	// HasOthers reports whether a transcript has another prompt after mark, dated since or later.
	HasOthers(mark talk.Cursor, since time.Time, text string) (bool, error)
	// Follow reads a transcript from a cursor, also one that is not there yet.
	Follow(from talk.Cursor, folders *watch.Watcher, log *slog.Logger) Items
}

// Items reads a transcript item by item.
type Items interface {
	// Next waits for the next item, and returns it with the failure that it shows.
	Next(ctx context.Context) (item talk.Item, failed talk.Failure, err error)
	// Now is Next without waiting; ok is false if there is no item for now.
	Now() (item talk.Item, failed talk.Failure, ok bool, err error)
	Close() error // not during a call of Next
}

// Keeper checks and repairs the files of conversations whose agents have ended.
type Keeper interface {
	// Check reads the end of a conversation's file before a resume. The error is fs.ErrNotExist if
	// there is none, and ErrNothingLeft, with Health filled in, if there is nothing to resume; any
	// other error means that the file could not be read.
	Check(conversation uuid.UUID) (Health, error)
	// Repair makes a copy without the damaged part, a conversation with the id as: whole, or not at
	// all. The error is fs.ErrExist if that conversation has a file, and ErrNothingLeft if the
	// damaged one holds nothing of the conversation.
	Repair(h Health, conversation, as uuid.UUID) (path string, err error)
}

// ErrNothingLeft means that a file exists but holds nothing of the conversation.
var ErrNothingLeft = errors.New("transcript: nothing left to resume")

// Fault is a defect of a conversation's file.
type Fault string

// Health is the result of a check. Without faults a resume is safe.
type Health struct {
	Path   string   // the file that holds the most of the conversation
	Others []string // further files that hold some of it
	Size   int64    // of the file at Path
	Faults []Fault
}
