package folders

import (
	"context"
	"io"

	"github.com/google/uuid"
)

// Files are what sessions have on the disk of their machine.
type Files interface {
	// Open opens a file of a session's folder, to be sent; path is absolute. What happens to the
	// file's name later does not matter. Errors: *refusal.Error, or one of the machine that is for
	// the log only.
	Open(ctx context.Context, session uuid.UUID, path string) (File, error)
	// List gives what is in a folder of a session's folder, by name; path is absolute. Its errors are
	// those of Open.
	List(ctx context.Context, session uuid.UUID, path string) (Listing, error)
	// Read reads an output of at most so many bytes that a transcript names: commands print what
	// they like, so only what lies where Claude Code puts outputs, beside that transcript, is read.
	Read(ctx context.Context, transcript, path string, most int64) (string, error)
}

// Received are the files from the chat in the folders of sessions. Each is known by an id of the
// chat's, which is a part of file names.
type Received interface {
	// Has gives the name that a file has in [InboxName] of a session's folder; empty: it is not there.
	// Where none can be put, it fails as Put would.
	Has(ctx context.Context, session uuid.UUID, id string) (name string, err error)
	// Put puts a file there, under a name like the wished one. A file that is there already stays,
	// and the body is not read then. Errors: the body's own, or *refusal.Error. Then nothing is left
	// there.
	Put(ctx context.Context, session uuid.UUID, id, wished string, body io.Reader) (name string, err error)
}

// InboxName is the folder in a session's folder that files from the chat lie in.
const InboxName = ".ccbot-inbox"

// Listing is what is in a folder, as far as a message shows it.
type Listing struct {
	Entries []Entry
	More    int // how many more there are, at least
}

// Entry is one thing in a folder.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // in bytes, of a regular file
}

// File is an open file. Whoever has it closes Body.
type File struct {
	Name string // as it is in its folder
	Size int64  // in bytes, at least 1
	Body interface {
		io.ReaderAt
		io.Closer
	}
}
