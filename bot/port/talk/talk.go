package talk

import (
	"context"

	"github.com/google/uuid"
)

// Transcripts are what agents and people have said. A transcript that does not exist yet is empty.
type Transcripts interface {
	// Next gives what stands from a cursor on in a transcript of a session, oldest first, and at most
	// so many items. Where there is nothing it waits until something is written, or ctx ends. It does
	// not wait for an earlier transcript, nor for a session that is over: there no items are the end,
	// and what was written after the session's own end is left out. Who goes on behind the last item
	// is not told of any item twice. Errors: refusal.Replaced, that of the context, or one for the log.
	Next(ctx context.Context, session uuid.UUID, from Cursor, most int) ([]Item, error)
	// Said is what was said from a cursor on and before another one of the same transcript, oldest
	// first. Without the first cursor it is the last answer before the second.
	Said(ctx context.Context, from *Cursor, before Cursor) ([]Item, error)
	// End is the present end of a cursor's transcript.
	End(ctx context.Context, of Cursor) (Cursor, error)
}

// Shown keeps how far the chat has what was said.
type Shown interface {
	// Advance notes that the chat has a transcript up to a cursor. A cursor of a later transcript
	// says that the earlier ones are shown.
	Advance(ctx context.Context, id uuid.UUID, c Cursor) error
}
