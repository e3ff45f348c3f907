package folders

import (
	"context"

	"github.com/google/uuid"
)

// Files reads the files of sessions.
type Files interface {
	// Open opens a file of a session's folder for sending; path is absolute. A later change of the
	// file's name does not matter. Errors are a *refusal.Error, or a system error for the log.
	Open(ctx context.Context, session uuid.UUID, path string) (File, error)
	// List returns the entries of a folder in a session's folder, sorted by name; path is absolute.
	// Errors are those of Open.
	List(ctx context.Context, session uuid.UUID, path string) (Listing, error)
	// Read reads an output of at most most bytes that a transcript names. Because a command can
	// print any path, it reads only files in Claude Code's folder for outputs, next to the
	// transcript.
	Read(ctx context.Context, transcript, path string, most int64) (string, error)
	// Offered reports to an agent whether the chat has taken the file that it offers. A repetition
	// changes nothing.
	Offered(ctx context.Context, session, id uuid.UUID, outcome Outcome) error
}

// Outcome reports whether the chat has taken a file that an agent offers.
type Outcome struct {
	Taken        bool   // the chat has it
	Code, Reason string // otherwise why not, as in a refusal; no code: an unexpected error
}

// Received stores files from the chat in the folders of sessions. Each file has an id from the
// chat, which is a part of its name.
type Received interface {
	// Has returns the name of a file in [InboxName] of a session's folder, which changes when the agent
	// goes elsewhere, and that folder; empty: not there. If no file can be stored there, it fails as
	// Finish does. An older machine does not name the folder.
	Has(ctx context.Context, session uuid.UUID, id string) (name, folder string, err error)
	// Begin opens a file there for its content, see Bodies.WritePart. An unfinished file of the same
	// id is removed.
	Begin(ctx context.Context, session uuid.UUID, id, wished string) (Ticket, error)
	// Finish stores the file under a name similar to the requested one. If a file of the id is there
	// already, it stays. After a *refusal.Error nothing is left there. A repetition returns the same. The
	// folder is the session's at Begin.
	Finish(ctx context.Context, t Ticket) (name, folder string, err error)
	// Discard removes files of a folder of sessions that no prompt needs, as news.FilesDue asks. A
	// file of an open session stays.
	Discard(ctx context.Context, dir string, names []string) error
}

// InboxName is the folder for files from the chat in a session's folder.
const InboxName = ".ccbot-inbox"

// Attached begins the line of a prompt that names such a file. The words are for the agent: they are
// the same in every language.
const Attached = "Attached file: "

// Listing is the content of a folder, up to the size of a message.
type Listing struct {
	Entries []Entry
	More    int // the number of further entries, at least
	// NotText is the number of entries that are left out because their names are not UTF-8.
	NotText int
}

// Entry is one thing in a folder.
type Entry struct {
	Name string
	Dir  bool
	Size int64 // in bytes, of a regular file
}
