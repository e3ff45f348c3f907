package talk

import (
	"context"
	"errors"

	"github.com/google/uuid"
)

// ErrReplaced says that a transcript is not the one that a cursor was taken from.
var ErrReplaced = errors.New("the transcript was replaced")

// Transcripts are what agents and people have said. A transcript that does not exist yet is empty.
type Transcripts interface {
	// Follow opens a transcript at a cursor. It reads nothing yet.
	Follow(from Cursor) Stream
	// Said is what was said from a cursor on and before another one of the same transcript, oldest
	// first. Without the first cursor it is the last answer before the second.
	Said(from *Cursor, before Cursor) ([]Item, error)
	// End is the present end of a cursor's transcript.
	End(of Cursor) (Cursor, error)
}

// Shown keeps how far the chat has what was said.
type Shown interface {
	// Advance notes that the chat has a transcript up to a cursor. A cursor of a later transcript
	// says that the earlier ones are shown.
	Advance(ctx context.Context, id uuid.UUID, c Cursor) error
}

// Stream is one open transcript, read by one goroutine. After an error that is not of a context it
// is of no more use.
type Stream interface {
	// Next gives the next item, and waits for the item until the context ends. Errors:
	// [ErrReplaced], that of the context, or one for the log.
	Next(ctx context.Context) (Item, error)
	// Now is Next without waiting; ok is false where there is no more for now.
	Now() (item Item, ok bool, err error)
	Close() error
}
