package ask

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"maps"
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
)

// Store keeps the cards: in memory for reading, in one file each for good. It may be used by
// several goroutines.
type Store struct {
	folder     spool.Folder
	quarantine string
	log        *slog.Logger

	mu        sync.Mutex
	cards     map[string]Card   // by the request's id
	unsettled map[string]Card   // those that are not over
	prompts   map[string]string // ids by Card.Prompt
}

// Open loads the cards of dir ($CCBOT_DIR/asks) and makes it when it is missing. A file that cannot
// be understood is moved to the quarantine folder and logged; a newer program's is left where it
// is. The error is about the folder.
func Open(dir, quarantine string, log *slog.Logger) (*Store, error) {
	s := &Store{folder: spool.Folder{Path: dir, MaxSize: maxCard, Fsync: true}, quarantine: quarantine, log: log,
		cards: make(map[string]Card), unsettled: make(map[string]Card), prompts: make(map[string]string)}
	if err := s.folder.Make(); err != nil {
		return nil, fmt.Errorf("open the asks: %w", err)
	}
	names, err := s.folder.List()
	if err != nil {
		return nil, fmt.Errorf("open the asks: %w", err)
	}
	for _, name := range names {
		if !strings.HasSuffix(name, suffix) {
			continue
		}
		if err := s.load(name); err != nil {
			return nil, fmt.Errorf("open the asks: %w", err)
		}
	}
	return s, nil
}

func (s *Store) load(name string) error {
	var c Card
	data, err := s.folder.Read(name)
	if err != nil && !errors.Is(err, spool.ErrForeign) && !errors.Is(err, spool.ErrTooBig) {
		return err // it may pass
	}
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err == nil && file(c.Request.ID) != name {
		err = fmt.Errorf("the file is named %s, but its id is %s", name, c.Request.ID)
	}
	switch {
	case errors.Is(err, ErrNewer):
		s.log.Warn("ask_newer", "file", name, "error", err.Error())
		return nil
	case err != nil:
		s.log.Error("ask_unreadable", "file", name, "moved_to", s.quarantine, "error", err.Error())
		return s.folder.Quarantine(name, s.quarantine, err.Error())
	}
	s.keepLocked(c)
	return nil
}

// keepLocked makes a card what readers see.
func (s *Store) keepLocked(c Card) {
	id := c.Request.ID
	s.dropLocked(id)
	s.cards[id] = c
	if !c.IsOver() {
		s.unsettled[id] = c
	}
	if c.Prompt != "" {
		s.prompts[c.Prompt] = id
	}
}

func (s *Store) dropLocked(id string) {
	if key := s.cards[id].Prompt; key != "" && s.prompts[key] == id {
		delete(s.prompts, key)
	}
	delete(s.unsettled, id)
	delete(s.cards, id)
}

func file(id string) string { return id + suffix }

// Save puts a card on disk; readers see it from then on. Of the input of one that is over only the
// beginnings are kept.
func (s *Store) Save(c Card) error {
	c.Version = Version
	if c.IsOver() {
		c = slim(c)
	}
	if err := c.check(); err != nil {
		return fmt.Errorf("save ask %s: %w", c.Request.ID, err)
	}
	data, err := json.Marshal(c)
	if err != nil {
		return fmt.Errorf("save ask %s: %w", c.Request.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.folder.Put(file(c.Request.ID), append(data, '\n')); err != nil {
		return fmt.Errorf("save ask %s: %w", c.Request.ID, err)
	}
	s.keepLocked(c.clone())
	return nil
}

// Get returns a copy of the card of a request.
func (s *Store) Get(id string) (Card, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cards[id]
	return c.clone(), ok
}

// List returns copies of all cards: first those that are not over, each group oldest first.
func (s *Store) List() []Card {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copies(maps.Values(s.cards))
}

// Unsettled returns copies of the cards that are not over, oldest first.
func (s *Store) Unsettled() []Card {
	s.mu.Lock()
	defer s.mu.Unlock()
	return copies(maps.Values(s.unsettled))
}

func copies(cards iter.Seq[Card]) (list []Card) {
	for c := range cards {
		list = append(list, c.clone())
	}
	slices.SortFunc(list, byAge)
	return list
}

// ByPrompt returns a copy of the card whose reason is the text with an inbox key.
func (s *Store) ByPrompt(key string) (Card, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, ok := s.cards[s.prompts[key]]
	return c.clone(), ok
}

func byAge(a, b Card) int {
	switch {
	case a.IsOver() != b.IsOver() && b.IsOver():
		return -1
	case a.IsOver() != b.IsOver():
		return 1
	}
	if c := a.Request.Asked.Compare(b.Request.Asked); c != 0 {
		return c
	}
	return strings.Compare(a.Request.ID, b.Request.ID)
}

// Prune forgets the cards that were over before a time. Those that are not over stay, however old.
func (s *Store) Prune(before time.Time) error {
	return s.remove(func(c Card) bool { return c.IsOver() && c.Over.Before(before) })
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
		if err := s.folder.Remove(file(id)); err != nil {
			errs = append(errs, fmt.Errorf("remove ask %s: %w", id, err))
			continue
		}
		s.dropLocked(id)
	}
	return errors.Join(errs...)
}

// clone shares nothing that a transition changes.
func (c Card) clone() Card {
	if c.Decision != nil {
		d := *c.Decision
		c.Decision = &d
	}
	if c.Why != nil {
		w := *c.Why
		c.Why = &w
	}
	c.Progress.Answers = slices.Clone(c.Progress.Answers)
	c.Progress.Chosen = slices.Clone(c.Progress.Chosen)
	return c
}
