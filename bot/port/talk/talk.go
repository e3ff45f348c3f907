package talk

import (
	"context"
	"errors"

	"ccbot/internal/transcript"
)

// ErrReplaced says that a transcript is not the one that a cursor was taken from.
var ErrReplaced = errors.New("the transcript was replaced")

// Transcripts are what agents and people have said. A transcript that does not exist yet is empty.
type Transcripts interface {
	// Follow opens a transcript at a cursor. It reads nothing yet.
	Follow(from transcript.Cursor) Stream
	// Said is what was said from a cursor on and before another one of the same transcript, oldest
	// first. Without the first cursor it is the last answer before the second.
	Said(from *transcript.Cursor, before transcript.Cursor) ([]transcript.Item, error)
	// End is the end of a transcript.
	End(of transcript.Cursor) (transcript.Cursor, error)
}

// Stream is one open transcript, read by one goroutine. After an error that is not of a context it
// is of no more use.
type Stream interface {
	// Next gives the next item, and waits for the item until the context ends. Errors:
	// [ErrReplaced], that of the context, or one for the log.
	Next(ctx context.Context) (transcript.Item, error)
	// Now is Next without waiting; ok is false where there is no more for now.
	Now() (item transcript.Item, ok bool, err error)
	Close() error
}
