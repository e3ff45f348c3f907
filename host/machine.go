package host

import (
	"errors"
	"io/fs"

	"github.com/google/uuid"

	"ccbot/host/received"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// Machine is the machine that ccbot runs on. It implements the chat's ports.
type Machine struct {
	Home  string   // without links
	Roots []string // sessions work below these only, which have no links; none: anywhere

	StateDir string // ccbot's own files, of which none is ever sent
	Records  Records
	Received *received.Store // files from the chat
}

// Records reads the sessions there are.
type Records interface {
	Get(id uuid.UUID) (session.Record, bool)
}

// reason is what the system says of a failure, without the path, which the reader knows.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}
