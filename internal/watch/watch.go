package watch

import (
	"context"
	"maps"
	"path/filepath"
)

// Watch is one folder that is watched.
type Watch struct {
	watcher  *Watcher
	dir      string
	concerns func(name string, made bool) bool
	news     chan map[string]bool // names in the folder; nil: any

	// Guarded by the Watcher's lock:
	at      string // the folder that the kernel watches; empty: none
	next    string // the next element of the path to dir; empty: at is dir
	turn    int    // number of the latest lookup
	lookups int    // number of running lookups
}

// Watch watches the folder dir. concerns reports whether an entry matters; made means that the name
// is new in the folder. It is called with the Watcher's lock held.
func (r *Watcher) Watch(dir string, concerns func(name string, made bool) bool) *Watch {
	w := &Watch{watcher: r, dir: filepath.Clean(dir), concerns: concerns,
		news: make(chan map[string]bool, 1)}
	r.mu.Lock()
	r.watches[w] = true
	r.mu.Unlock()
	r.addWatch(w)
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

// Close ends the watch. Wait must not be running.
func (w *Watch) Close() {
	w.watcher.mu.Lock()
	defer w.watcher.mu.Unlock()
	delete(w.watcher.watches, w)
	w.watcher.release(w)
}

// wake adds names to the pending report. The Watcher's lock must be held.
func (w *Watch) wake(names map[string]bool) {
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
