package port

import (
	"context"
	"time"

	"github.com/google/uuid"
)

// LoopTemplates reads templates of loops.
type LoopTemplates interface {
	// Templates returns the templates for the loops of a session, ordered by name. Times of a day
	// follow now, in its zone.
	Templates(ctx context.Context, session uuid.UUID, now time.Time) ([]LoopTemplate, error)
}

// LoopTemplate is a file with what a loop needs.
type LoopTemplate struct {
	LoopSource
	Text  string // of the file
	Fault string // why it cannot be used, in English; empty: it can be used
	// Wanted is a request without key, session and feature.
	Wanted LoopRequest
	// Known means that no one needs to see the text before a start: the template is a person's own,
	// or the last loop that began from it had the same text.
	Known bool
}

// LoopSource names the template of a loop, and its text.
type LoopSource struct {
	Name string `json:"name"`
	// Repo is the repository whose file it is. Each writer of the repository can change the file, as
	// the agent can. Empty: a person's own file in ccbot's folder.
	Repo   string `json:"repository,omitempty"`
	Digest string `json:"digest"` // of the text
}
