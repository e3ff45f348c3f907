// Package facts keeps small files of facts for the next run of a program.
//
// It promises that a file that cannot be read is set aside and counts as empty, and that a disk
// that refuses a write costs the next run a fact, and this one nothing. It is for what can be found
// out again: nothing that must not get lost belongs there.
package facts

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"

	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

// File is one file of facts.
type File[T any] struct {
	folder spool.Folder
	name   string
	log    *slog.Logger

	// held during disk writes; taken before mu. A test that holds it has a slow disk
	Writing sync.Mutex
	unsaved bool // the last write has failed; Writing guards it
	mu      sync.Mutex
	all     map[string]T
}

// Open reads the file of that name; quarantine is where it goes when it cannot be read.
func Open[T any](folder spool.Folder, name, quarantine string, log *slog.Logger) *File[T] {
	f := &File[T]{folder: folder, name: name, log: log}
	aside := spool.Loader{Quarantine: quarantine, Log: log}
	why, err := aside.LoadOne(folder, name, func(data []byte) error { return json.Unmarshal(data, &f.all) })
	if err != nil {
		log.Warn("outbox_state_unreadable", logkey.File, name, logkey.Error, err)
	}
	if why != nil || err != nil || f.all == nil {
		f.all = map[string]T{}
	}
	return f
}

// Get returns one fact.
func (f *File[T]) Get(key string) (T, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.all[key]
	return v, ok
}

// Keys returns what there is a fact about, in order.
func (f *File[T]) Keys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.all))
}

// Change changes the facts, and writes them when do returns true. If the disk refuses the write,
// the next Change writes it.
func (f *File[T]) Change(do func(all map[string]T) (changed bool)) {
	f.Writing.Lock()
	defer f.Writing.Unlock()
	f.mu.Lock()
	changed := do(f.all)
	data, err := json.Marshal(f.all)
	empty := len(f.all) == 0
	f.mu.Unlock()
	switch {
	case !changed && !f.unsaved:
		return
	case err != nil:
		err = fmt.Errorf("write %s: %w", f.name, err)
	case empty:
		err = f.folder.Remove(f.name)
	default:
		err = f.folder.Put(f.name, append(data, '\n'))
	}
	f.unsaved = err != nil
	if err != nil {
		f.log.Error("outbox_state_not_saved", logkey.File, f.name, logkey.Error, err)
	}
}
