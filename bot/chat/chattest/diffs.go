package chattest

import (
	"context"

	"github.com/google/uuid"

	"ccbot/port/folders"
	"ccbot/port/refusal"
)

// FakeDiffs are the changes of all sessions, set by a test.
type FakeDiffs struct {
	*gate
	Since   map[folders.Since]folders.Changes // a missing moment is no longer known
	Patches map[string]folders.Patch          // by the path of the file; of a file without one no line has changed
	Err     error                             // the result of each call, while it is set
	OnMark  func()                            // while git looks at a moment
	OnAsk   func()                            // while git compares
}

func (f *FakeDiffs) Snapshot(context.Context, uuid.UUID) (folders.Since, error) {
	f.wait()
	if f.OnMark != nil {
		f.OnMark()
	}
	return "a moment", f.Err
}

func (f *FakeDiffs) Changes(_ context.Context, _ uuid.UUID, since folders.Since) (folders.Changes, error) {
	f.wait()
	if f.OnAsk != nil {
		f.OnAsk()
	}
	c, known := f.Since[since]
	if !known {
		c = f.Since[folders.SessionStart]
	}
	return c, f.Err
}

func (f *FakeDiffs) Patch(ctx context.Context, id uuid.UUID, since folders.Since, path string) (folders.Patch, error) {
	c, err := f.Changes(ctx, id, since)
	for i, file := range c.Files {
		if p := f.Patches[path]; file.Path == path {
			p.All, p.At = c, i
			return p, err
		}
	}
	return folders.Patch{}, &refusal.Error{Code: refusal.Unchanged, Err: err}
}
