package bot

import (
	"context"

	"github.com/google/uuid"
)

// awaitSource waits for the reader of the session whose conversation this one
// goes on with, or the part that it has in hand would be said twice.
func (a *answers) awaitSource(ctx context.Context, id uuid.UUID) {
	r, _ := a.Records.Get(id)
	if r.TookOver == id { // a file that was edited: it would wait for itself
		return
	}
	a.mu.Lock()
	left := a.left[r.TookOver]
	a.mu.Unlock()
	if left == nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-left:
	}
}
