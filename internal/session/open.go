package session

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"

	"ccbot/internal/spool"
)

// Aside is a file among the records that was not loaded this time.
type Aside struct {
	File  string    // its name
	ID    uuid.UUID // of the session, by the name; Nil if the name is none
	Newer bool      // a newer program's: it is left where it is
	Why   string    // in English
}

// Open loads every record of dir. A file that cannot be understood is moved to
// the quarantine folder and logged; a newer program's is left where it is. The
// error is about the folder itself, and also about one that cannot be written:
// a ccbot that forgets what it does must not start.
func Open(dir, quarantine string, now func() time.Time, log *slog.Logger) (*Store, error) {
	s := newStore(dir, now, log)
	s.quarantine = quarantine
	if err := s.folder.Make(); err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
		return nil, fmt.Errorf("open sessions: %s cannot be written: %w", dir, err)
	}
	if err := s.loadAll(); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenReadOnly loads what it can of dir and changes nothing: it makes no folder,
// moves no file, and every change of a record is errReadOnly. It may be used
// beside the ccbot that owns the records: each is as it was at one moment. A
// missing folder has no records.
func OpenReadOnly(dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	s := newStore(dir, now, log)
	s.readOnly = true
	if err := s.loadAll(); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(dir string, now func() time.Time, log *slog.Logger) *Store {
	return &Store{folder: spool.Folder{Path: dir, Fsync: true}, now: now, log: log,
		records: make(map[uuid.UUID]*Record), workers: make(map[uuid.UUID]chan struct{})}
}

// Aside tells, by name of file, what was not loaded when the store was opened:
// records of a newer program, and what could not be understood, which is in
// quarantine by now or, in a store for reading, where it was.
func (s *Store) Aside() []Aside { return slices.Clone(s.aside) }

func (s *Store) loadAll() error {
	loader := spool.Loader{Quarantine: s.quarantine, Tell: true, Log: s.log}
	aside, err := loader.Load(s.folder, ".json", func(name string, data []byte) error {
		r, err := understand(name, data)
		if err == nil {
			s.records[r.ID] = &r
		}
		return err
	})
	for _, a := range aside {
		s.aside = append(s.aside, Aside{File: a.Name, ID: idOf(a.Name), Newer: a.Newer, Why: a.Why.Error()})
	}
	if err != nil {
		return fmt.Errorf("open sessions: %w", err)
	}
	return nil
}

func understand(name string, data []byte) (Record, error) {
	var r Record
	if err := r.UnmarshalJSON(data); err != nil { // as json.Unmarshal does, which would read all of it twice more
		return Record{}, err
	}
	if file(r.ID) != name {
		return Record{}, fmt.Errorf("the file is named %s, but its id is %s", name, r.ID)
	}
	r.straighten()
	return r, nil
}

// straighten mends what only an edited file says: a session that is over has no
// agent of its own any more, and a transcript begins at 0.
func (r *Record) straighten() {
	if r.Binding != nil && r.State.Over() {
		if !slices.Contains(r.Bound, r.Binding.Agent) {
			r.Bound = append(r.Bound, r.Binding.Agent)
		}
		r.Binding = nil
	}
	for i, c := range r.Cursors {
		r.Cursors[i].Offset, r.Cursors[i].Block, r.Cursors[i].Part = max(c.Offset, 0), max(c.Block, 0), max(c.Part, 0)
	}
}

// idOf is the id that a record's file is named after.
func idOf(name string) uuid.UUID {
	id, err := uuid.Parse(strings.TrimSuffix(name, filepath.Ext(name)))
	if err != nil || file(id) != name {
		return uuid.Nil
	}
	return id
}
