package ask

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/clip"
	"ccbot/internal/each"
	"ccbot/internal/spool"
	"ccbot/port/talk"
)

const (
	suffix = ".json"
	// maxFile is far above a call on the control socket (8 MiB) with the worst JSON escapes.
	maxFile = 128 << 20
	// keptText and keptBlocks bound the stored content of a request that has ended.
	keptText   = 2 << 10
	keptBlocks = 64
)

// Store keeps the states of all requests, each in a file. A read comes from memory.
type Store struct {
	folder spool.Folder

	mu     sync.Mutex
	states map[string]State // by the request's id
}

// Open loads the requests of dir ($CCBOT_DIR/asks), and creates dir if necessary. An invalid file
// is moved to the quarantine folder and logged. The error is about the folder.
func Open(dir, quarantine string, log *slog.Logger) (*Store, error) {
	st := &Store{folder: spool.Folder{Path: dir, MaxSize: maxFile, Fsync: true}, states: make(map[string]State)}
	err := st.folder.Make()
	if err == nil {
		_, err = spool.Loader{Quarantine: quarantine, Log: log}.Load(st.folder, suffix, st.take)
	}
	if err != nil {
		return nil, fmt.Errorf("open the asks: %w", err)
	}
	return st, nil
}

func (st *Store) take(name string, data []byte) error {
	var s State
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	if s.Request.ID+suffix != name {
		return fmt.Errorf("the file is named %s, but its id is %s", name, s.Request.ID)
	}
	st.states[s.Request.ID] = s
	return nil
}

// Save stores a state; readers then see it. An ended request keeps only the beginning of its
// content.
func (st *Store) Save(s State) error {
	s.Version = version
	if s.HasEnded() { // only its message is still needed
		s.Request.Suggestions, s.Request.Input = nil, json.RawMessage("{}")
		s.Request.Ask = shortened(s.Request.Ask)
	}
	data, err := json.Marshal(s)
	st.mu.Lock()
	defer st.mu.Unlock()
	if err = cmp.Or(s.check(), err); err == nil {
		err = st.folder.Put(s.Request.ID+suffix, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save ask %s: %w", s.Request.ID, err)
	}
	st.states[s.Request.ID] = s
	return nil
}

// shortened returns the beginning of a request's content, as the card of an ended request shows it.
func shortened(a talk.Ask) talk.Ask {
	cut := func(s string) string { return clip.Bytes(s, keptText, "…") }
	blocks := a.Blocks[:min(len(a.Blocks), keptBlocks)]
	a.Blocks = each.As(blocks, func(b talk.Block) talk.Block {
		return talk.Block{Kind: b.Kind, Name: cut(b.Name), Text: cut(b.Text), Before: cut(b.Before)}
	})
	a.Pages = each.As(a.Pages, func(p talk.Page) talk.Page { return talk.Page{Text: cut(p.Text)} })
	a.Details = nil
	return a
}

// Get returns the state of a request.
func (st *Store) Get(id string) (State, bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	s, ok := st.states[id]
	return s, ok
}

// List returns all states, the oldest request first.
func (st *Store) List() []State { return st.list(func(State) bool { return true }) }

// Unsettled returns the states of requests that have not ended, the oldest first.
func (st *Store) Unsettled() []State { return st.list(func(s State) bool { return !s.HasEnded() }) }

func (st *Store) list(which func(State) bool) (list []State) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, s := range st.states {
		if which(s) {
			list = append(list, s)
		}
	}
	slices.SortFunc(list, func(a, b State) int {
		return cmp.Or(a.Request.RequestedAt.Compare(b.Request.RequestedAt), strings.Compare(a.Request.ID, b.Request.ID))
	})
	return list
}

// ByPrompt returns the request that was decided by the text with an inbox key.
func (st *Store) ByPrompt(key string) (State, bool) {
	all := st.list(func(s State) bool { return s.Prompt == key })
	if len(all) == 0 {
		return State{}, false
	}
	return all[0], true
}

// Prune removes the requests that ended before a time. Open ones stay, regardless of age.
func (st *Store) Prune(before time.Time) error {
	return st.remove(func(s State) bool { return s.HasEnded() && s.Since.Before(before) })
}

// Remove removes a request that no person has seen.
func (st *Store) Remove(id string) error {
	return st.remove(func(s State) bool { return s.Request.ID == id })
}

// Forget removes the requests of a session that is itself forgotten.
func (st *Store) Forget(session uuid.UUID) error {
	return st.remove(func(s State) bool { return s.Request.Session == session })
}

func (st *Store) remove(which func(State) bool) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	var errs []error
	for id, s := range st.states {
		if !which(s) {
			continue
		}
		if err := st.folder.Remove(id + suffix); err != nil {
			errs = append(errs, fmt.Errorf("remove ask %s: %w", id, err))
			continue
		}
		delete(st.states, id)
	}
	return errors.Join(errs...)
}
