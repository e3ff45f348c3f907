package session

import (
	"errors"
	"fmt"
	"io/fs"
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
// moves no file, and every change of a record is ErrReadOnly. It may be used
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
	names, err := s.folder.List()
	if err != nil {
		return fmt.Errorf("open sessions: %w", err)
	}
	for _, name := range names {
		if filepath.Ext(name) != ".json" {
			continue
		}
		if err := s.load(name); err != nil {
			return err
		}
	}
	return nil
}

// load reads one file, or sets it aside.
func (s *Store) load(name string) error {
	data, err := s.folder.Read(name)
	forGood := err == nil || errors.Is(err, spool.ErrForeign) || errors.Is(err, spool.ErrTooBig)
	switch {
	case s.readOnly && errors.Is(err, fs.ErrNotExist):
		return nil // removed since the folder was read
	case !forGood && !s.readOnly:
		return fmt.Errorf("read session record %s: %w", name, err) // it may pass: no session is given up for it
	}
	var r Record
	if err == nil {
		r, err = understand(name, data)
	}
	if err != nil {
		return s.setAside(name, err)
	}
	s.records[r.ID] = &r
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
	if r.Binding != nil && !r.State.Live() && r.State != CleanupFailed {
		if !slices.Contains(r.Bound, r.Binding.Agent) {
			r.Bound = append(r.Bound, r.Binding.Agent)
		}
		r.Binding = nil
	}
	for i, c := range r.Cursors {
		r.Cursors[i].Offset, r.Cursors[i].Block, r.Cursors[i].Part = max(c.Offset, 0), max(c.Block, 0), max(c.Part, 0)
	}
}

// setAside leaves a newer program's record where it is and moves what cannot be
// understood away. A quarantine that fails is an error: something would be lost
// by going on.
func (s *Store) setAside(name string, why error) error {
	newer := errors.Is(why, ErrNewer)
	s.aside = append(s.aside, Aside{File: name, ID: idOf(name), Newer: newer, Why: why.Error()})
	switch {
	case newer:
		s.log.Warn("session_record_newer", "file", name, "error", why.Error())
		return nil
	case s.readOnly:
		s.log.Warn("session_record_unreadable", "file", name, "error", why.Error())
		return nil
	}
	s.log.Error("session_record_unreadable", "file", name, "moved_to", s.quarantine, "error", why.Error())
	if err := s.folder.Quarantine(name, s.quarantine, why.Error()); err != nil {
		return fmt.Errorf("set session record %s aside: %w", filepath.Join(s.folder.Path, name), err)
	}
	return nil
}

// idOf is the id that a record's file is named after.
func idOf(name string) uuid.UUID {
	id, err := uuid.Parse(strings.TrimSuffix(name, filepath.Ext(name)))
	if err != nil || file(id) != name {
		return uuid.Nil
	}
	return id
}
