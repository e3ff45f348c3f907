package outbox

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync"

	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

// facts is one small file of facts that the next run needs, too. A file that cannot be read is set
// aside and counts as empty, because every fact in it can be found out again.
type facts[T any] struct {
	folder spool.Folder
	name   string
	log    *slog.Logger

	writing sync.Mutex // held during disk writes; taken before mu
	mu      sync.Mutex
	all     map[string]T
}

func openFacts[T any](folder spool.Folder, name string, log *slog.Logger) *facts[T] {
	f := &facts[T]{folder: folder, name: name, log: log}
	aside := spool.Loader{Quarantine: filepath.Join(folder.Path, quarantineFolder), Log: log}
	why, err := aside.LoadOne(folder, name, func(data []byte) error { return json.Unmarshal(data, &f.all) })
	if err != nil {
		log.Warn("outbox_state_unreadable", logkey.File, name, logkey.Error, err.Error())
	}
	if why != nil || err != nil || f.all == nil {
		f.all = map[string]T{}
	}
	return f
}

func (f *facts[T]) get(key string) (T, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	v, ok := f.all[key]
	return v, ok
}

// change changes the facts, and writes them when do returns true. If the disk refuses the write,
// the change lasts until the program ends.
func (f *facts[T]) change(do func(all map[string]T) (changed bool)) {
	f.writing.Lock()
	defer f.writing.Unlock()
	f.mu.Lock()
	changed := do(f.all)
	data, err := json.Marshal(f.all)
	empty := len(f.all) == 0
	f.mu.Unlock()
	switch {
	case !changed:
		return
	case err != nil:
		err = fmt.Errorf("write %s: %w", f.name, err)
	case empty:
		err = f.folder.Remove(f.name)
	default:
		err = f.folder.Put(f.name, append(data, '\n'))
	}
	if err != nil {
		f.log.Error("outbox_state_not_saved", logkey.File, f.name, logkey.Error, err.Error())
	}
}
