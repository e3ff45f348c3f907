package folders

import "context"

// MostPart is the largest part of a file that one call carries, in bytes.
const MostPart = 256 << 10

// Ticket names an open file of the machine. Only its maker can read it. A ticket ends when it is
// closed, after ten minutes without a call, and when the machine's program ends; each later call
// returns refusal.Lapsed.
type Ticket string

// Bodies carries the content of open files by parts. Each call can be repeated.
type Bodies interface {
	// ReadPart returns the bytes at an offset: MostPart of them, and fewer only at the end. It
	// returns refusal.FileChanged if the file was written since it was opened and has not grown.
	ReadPart(ctx context.Context, t Ticket, offset int64) ([]byte, error)
	// WritePart writes the bytes at an offset of a file of Received. Bytes before the end of what was
	// written are the same as those, and are ignored. Errors are those of Received.Finish.
	WritePart(ctx context.Context, t Ticket, offset int64, data []byte) error
	// Close ends a ticket. A file that is not finished is removed. A ticket that has ended is not an
	// error.
	Close(ctx context.Context, t Ticket) error
}

// File is an open file. The caller closes its ticket.
type File struct {
	Name   string // as it is in its folder; empty: it has none
	Size   int64  // in bytes
	Ticket Ticket
	// Version differs between two contents of a file: a file that is opened again has the same
	// content if Version and Size are the same.
	Version string
}
