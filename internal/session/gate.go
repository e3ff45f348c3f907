package session

import (
	"context"
	"errors"
	"sync"

	"ccbot/internal/wording"
	"ccbot/port/folders"
)

// ErrFolderInUse means that a session begins in a folder, or that the folder may go already.
var ErrFolderInUse = errors.New("a session begins in the folder")

// Gate is passed by all who begin a session and all who remove folders: one of the two waits or is
// refused, so that no session begins in a folder that is being removed. It does not know the
// sessions that work already: their records do. Its zero value is open.
type Gate struct {
	mu     sync.Mutex
	begins map[string]int           // sessions that begin now, by their folder
	going  map[string]chan struct{} // closed at its end
}

// Begin keeps a folder in place until end is called: then a record must show that a session works
// in it. It waits while the folder may go.
func (g *Gate) Begin(ctx context.Context, dir string) (end func(), err error) {
	for {
		wait := g.enter(dir)
		if wait == nil {
			return func() { g.leave(dir) }, nil
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, wording.Errorf("wait for the folder %s: %w", wording.Path(dir), ctx.Err())
		}
	}
}

// enter notes that a session begins in a folder, unless the folder may go: then it returns the
// channel to wait for.
func (g *Gate) enter(dir string) (wait <-chan struct{}) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for going, over := range g.going {
		if folders.IsBelow(dir, going) {
			return over
		}
	}
	if g.begins == nil {
		g.begins = make(map[string]int)
	}
	g.begins[dir]++
	return nil
}

func (g *Gate) leave(dir string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.begins[dir]--; g.begins[dir] == 0 {
		delete(g.begins, dir)
	}
}

// Vacate keeps sessions from beginning in a folder, or below it, until end is called. Its caller
// checks only then whether a session works there. ErrFolderInUse: one begins just now.
func (g *Gate) Vacate(dir string) (end func(), err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for begun := range g.begins {
		if folders.IsBelow(begun, dir) {
			return nil, ErrFolderInUse
		}
	}
	if g.going[dir] != nil {
		return nil, ErrFolderInUse
	}
	if g.going == nil {
		g.going = make(map[string]chan struct{})
	}
	over := make(chan struct{})
	g.going[dir] = over
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		delete(g.going, dir)
		close(over)
	}, nil
}
