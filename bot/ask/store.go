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

	"ccbot/internal/spool"
)

const (
	suffix = ".json"
	// maxCard is far above a call on the control socket (8 MiB), escaped as badly as JSON can.
	maxCard = 128 << 20
	// maxKept is from where on the input of a card that is over is cut for good.
	maxKept = 16 << 10
)

// Store keeps the cards: in memory for reading, in one file each for good.
type Store struct {
	folder spool.Folder

	mu    sync.Mutex
	cards map[string]Card // by the request's id
}

// Open loads the cards of dir ($CCBOT_DIR/asks) and makes it when it is missing. A file that cannot
// be understood is moved to the quarantine folder and logged; a newer program's is left where it
// is. The error is about the folder.
func Open(dir, quarantine string, log *slog.Logger) (*Store, error) {
	s := &Store{folder: spool.Folder{Path: dir, MaxSize: maxCard, Fsync: true}, cards: make(map[string]Card)}
	err := s.folder.Make()
	if err == nil {
		_, err = spool.Loader{Quarantine: quarantine, Log: log}.Load(s.folder, suffix, s.take)
	}
	if err != nil {
		return nil, fmt.Errorf("open the asks: %w", err)
	}
	return s, nil
}

func (s *Store) take(name string, data []byte) error {
	var c Card
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	if c.Request.ID+suffix != name {
		return fmt.Errorf("the file is named %s, but its id is %s", name, c.Request.ID)
	}
	s.cards[c.Request.ID] = c
	return nil
}

// Save puts a card on disk; readers see it from then on. Of the input of one that is over only the
// beginnings are kept.
func (s *Store) Save(c Card) error {
	c.Version = version
	if c.IsOver() { // nothing but its message is asked of it
		c.Request.Suggestions = nil
		if len(c.Request.Input) > maxKept {
			c.Request.Input = beginnings(c.Request.Input)
		}
		if c.Decision != nil {
			d := *c.Decision
			d.UpdatedInput = nil
			c.Decision = &d
		}
	}
	data, err := json.Marshal(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err = cmp.Or(c.check(), err); err == nil {
		err = s.folder.Put(c.Request.ID+suffix, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save ask %s: %w", c.Request.ID, err)
	}
	s.cards[c.Request.ID] = c
	return nil
}

// Get returns the card of a request.
func (s *Store) Get(id string) (Card, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cards[id]
	return c, ok
}

// List returns all cards, oldest first.
func (s *Store) List() []Card { return s.list(func(Card) bool { return true }) }

// Unsettled returns the cards that are not over, oldest first.
func (s *Store) Unsettled() []Card { return s.list(func(c Card) bool { return !c.IsOver() }) }

func (s *Store) list(which func(Card) bool) (list []Card) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.cards {
		if which(c) {
			list = append(list, c)
		}
	}
	slices.SortFunc(list, func(a, b Card) int {
		return cmp.Or(a.Request.Asked.Compare(b.Request.Asked), strings.Compare(a.Request.ID, b.Request.ID))
	})
	return list
}

// ByPrompt returns the card whose reason is the text with an inbox key.
func (s *Store) ByPrompt(key string) (Card, bool) {
	all := s.list(func(c Card) bool { return c.Prompt == key })
	if len(all) == 0 {
		return Card{}, false
	}
	return all[0], true
}

// Prune forgets the cards that were over before a time. Those that are not over stay, however old.
func (s *Store) Prune(before time.Time) error {
	return s.remove(func(c Card) bool { return c.IsOver() && c.Since.Before(before) })
}

// Remove takes away the card of a request that nobody has seen.
func (s *Store) Remove(id string) error {
	return s.remove(func(c Card) bool { return c.Request.ID == id })
}

// Forget takes away all cards of a session that is itself forgotten.
func (s *Store) Forget(session uuid.UUID) error {
	return s.remove(func(c Card) bool { return c.Request.Session == session })
}

func (s *Store) remove(which func(Card) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for id, c := range s.cards {
		if !which(c) {
			continue
		}
		if err := s.folder.Remove(id + suffix); err != nil {
			errs = append(errs, fmt.Errorf("remove ask %s: %w", id, err))
			continue
		}
		delete(s.cards, id)
	}
	return errors.Join(errs...)
}
