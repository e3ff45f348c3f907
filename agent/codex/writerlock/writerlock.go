package writerlock

import (
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"ccbot/internal/flockers"
)

// Folder is the folder of the locks, below the one of Codex.
const Folder = "thread-writer-locks"

// suffix ends the name of a lock.
const suffix = ".lock"

// Home is the folder of Codex. It is the witness.Locks of Codex.
type Home string

// Held returns the conversations whose locks are held, by the pids of the holders. Before its first
// conversation Codex has no folder.
func (h Home) Held() (map[int][]uuid.UUID, error) {
	files, err := flockers.Of(filepath.Join(string(h), Folder))
	if err != nil {
		return nil, err
	}
	held := make(map[int][]uuid.UUID)
	for pid, names := range files {
		for _, name := range names {
			id, err := uuid.Parse(strings.TrimSuffix(name, suffix))
			if err == nil && id.String()+suffix == name {
				held[pid] = append(held[pid], id)
			}
		}
	}
	return held, nil
}
