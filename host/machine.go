package host

import (
	"context"
	"errors"
	"io/fs"
	"sync"

	"github.com/google/uuid"

	"ccbot/host/received"
	"ccbot/internal/glyph"
	"ccbot/internal/session"
)

// Machine is the machine that ccbot runs on. It implements the chat's ports.
type Machine struct {
	Home  string   // without links
	Roots []string // sessions work only below these, which have no links; none: anywhere

	StateDir string // ccbot's own files; none of them is ever sent
	Records  AllRecords
	Received *received.Store // files from the chat

	ProjectsDir string // of Claude Code's transcripts
	// Written says which of some conversations processes write now, or may write.
	Written func(ctx context.Context, claude ...uuid.UUID) (map[uuid.UUID]bool, error)
	GitEnv  []string      // git's whole environment, without secrets
	Folders *session.Gate // is passed by sessions that begin, too

	worktrees sync.Mutex        // held while a work tree is made or removed
	given     map[string]string // folders of work trees that no record has yet, and the keys of their starts
}

// Records reads the existing sessions.
type Records interface {
	Get(id uuid.UUID) (session.Record, bool)
}

// reason is the system's text for a failure, without the path, which the reader knows already.
func reason(err error) string {
	if path := (*fs.PathError)(nil); errors.As(err, &path) {
		return path.Err.Error()
	}
	return glyph.Name(err.Error())
}
