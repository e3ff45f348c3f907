package files

import (
	"io"

	"github.com/google/uuid"
)

// Files are the files in the folders of sessions.
type Files interface {
	// Open opens a file of a session's folder, to be sent; path is absolute. What happens to the
	// file's name later does not matter. Errors: *Refusal, or one of the machine that is for the
	// log only.
	Open(session uuid.UUID, path string) (File, error)
	// Put puts a file that fill writes into [Folder] of a session's folder, under the name that
	// fill gives or one like it. Once there is a file of that id, fill is not called again; the id
	// is a part of file names. Errors: *Refusal, or one with fill's own in its chain. Then nothing
	// is left there.
	Put(session uuid.UUID, id string, fill func(io.Writer) (name string, err error)) (Received, error)
	// Read reads an output of at most so many bytes that a transcript names: commands print what
	// they like, so only what lies where Claude Code puts outputs, beside that transcript, is read.
	Read(transcript, path string, most int64) (string, error)
}

// Folder is the folder in a session's folder that files from the chat lie in.
const Folder = ".ccbot-inbox"

// Received is a file from the chat.
type Received struct {
	Dir  string // the session's folder
	Name string // in Folder there
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

// Refusal says why a file is not given out or taken.
type Refusal struct {
	Text    string // of Open a sentence for the agent that asked; of Put what the system says
	NotOurs bool   // of Put: a link, a file or another user's directory has the name of [Folder]
	Err     error  // the reason, if it is not in the text
}

func (e *Refusal) Error() string { return e.Text }

func (e *Refusal) Unwrap() error { return e.Err }
