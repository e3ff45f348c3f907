package watch

import (
	"context"
	"maps"
	"path/filepath"
)

// Watch is one folder that is watched.
type Watch struct {
	room     *Room
	dir      string
	concerns func(name string, made bool) bool
	news     chan map[string]bool // names in the folder; nil: whatever it holds

	// Of the room:
	at      string // the folder that the kernel tells of; empty: none
	next    string // what comes after it on the way to dir; empty: it is dir
	turn    int    // the look for the folder that began last
	looking int    // how many looks have not ended
}

// Watch watches the folder dir. concerns says which of its entries matter; made: the name is new in
// the folder. It is called while the whole room stands still.
func (r *Room) Watch(dir string, concerns func(name string, made bool) bool) *Watch {
	w := &Watch{room: r, dir: filepath.Clean(dir), concerns: concerns,
		news: make(chan map[string]bool, 1)}
	r.mu.Lock()
	r.watches[w] = true
	r.mu.Unlock()
	r.place(w)
	return w
}

// Wait returns when there is something to look at: the entries that names holds, or, when it is
// nil, the whole folder. The first call returns at once. The error is that of ctx.
func (w *Watch) Wait(ctx context.Context) (names map[string]bool, err error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case names = <-w.news:
		return names, nil
	}
}

// Close ends the watch. Nobody may wait.
func (w *Watch) Close() {
	w.room.mu.Lock()
	defer w.room.mu.Unlock()
	delete(w.room.watches, w)
	w.room.release(w)
}

// tell adds to what is waited for. The room's lock is held.
func (w *Watch) tell(names map[string]bool) {
	select {
	case before := <-w.news:
		if before == nil {
			names = nil
		} else if names != nil {
			maps.Copy(names, before)
		}
	default:
	}
	w.news <- names
}
