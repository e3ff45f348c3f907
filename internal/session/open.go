package session

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/tidwall/gjson"
	"golang.org/x/sys/unix"

	"ccbot/internal/keepjson"
	"ccbot/internal/spool"
)

// Unloaded is a file among the records that was not loaded when the store was opened.
type Unloaded struct {
	File string    // its name
	ID   uuid.UUID // of the session, read from the file name; Nil if the name contains none
	Why  string    // in English
}

// Open loads every record of dir. A file that cannot be used is moved to the quarantine folder and
// logged. The error is about the folder itself, also when the folder cannot be written: a ccbot that
// forgets what it does must not start.
//
// agents are the names of the known coding agents. A record that names another one cannot be used.
func Open(dir, quarantine string, now func() time.Time, log *slog.Logger, agents []string) (*Store, error) {
	s := newStore(dir, now, log, agents)
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

// OpenReadOnly loads the readable records of dir and changes nothing: it makes no folder, moves no
// file, and every change of a record returns errReadOnly. It may run at the same time as the ccbot
// that owns the records: each record is as it was at one moment. A missing folder has no records.
func OpenReadOnly(dir string, now func() time.Time, log *slog.Logger, agents []string) (*Store, error) {
	s := newStore(dir, now, log, agents)
	s.readOnly = true
	if err := s.loadAll(); err != nil {
		return nil, err
	}
	return s, nil
}

func newStore(dir string, now func() time.Time, log *slog.Logger, agents []string) *Store {
	return &Store{agents: agents, folder: spool.Folder{Path: dir, Fsync: true}, now: now, log: log,
		records: make(map[uuid.UUID]*Record), workers: make(map[uuid.UUID]chan struct{}), unsaved: make(map[uuid.UUID]bool)}
}

// Unloaded returns, sorted by file name, the files that were not loaded when the store was opened:
// records of another version or of an unknown agent, and files that could not be understood. They
// are in quarantine now, or, in a read-only store, still in their place.
func (s *Store) Unloaded() []Unloaded { return slices.Clone(s.aside) }

// Unread reports whether there is a file of a record that was not loaded, and why. The file may be
// in quarantine since an earlier start: a person may repair it.
func (s *Store) Unread(id uuid.UUID) (why string, unread bool) {
	for _, a := range s.aside {
		if a.ID == id {
			return a.Why, true
		}
	}
	names, err := s.quarantined()
	if err != nil {
		return err.Error(), true
	}
	return "it is in quarantine", slices.ContainsFunc(names, func(n string) bool { return s.nameOf(n) == file(id) })
}

// UnreadIn reports whether a record that was not loaded may be of a session in a folder: one whose
// directory is inside, or cannot be read.
func (s *Store) UnreadIn(inside func(dir string) bool) bool {
	left, err := s.folder.List()
	names, also := s.quarantined()
	if err != nil || also != nil {
		return true
	}
	mayBe := func(in spool.Folder, n, name string) bool {
		if _, loaded := s.Get(idOf(name)); loaded || filepath.Ext(name) != ".json" {
			return false
		}
		data, err := in.Read(n)
		dir := gjson.GetBytes(data, "dir").Str
		return !errors.Is(err, fs.ErrNotExist) && (err != nil || dir == "" || inside(dir))
	}
	return slices.ContainsFunc(left, func(n string) bool { return mayBe(s.folder, n, n) }) ||
		slices.ContainsFunc(names, func(n string) bool { return mayBe(spool.Folder{Path: s.quarantine}, n, s.nameOf(n)) })
}

// quarantined returns the names of all files in quarantine.
func (s *Store) quarantined() (names []string, err error) {
	return spool.Folder{Path: s.quarantine}.List()
}

// nameOf returns the name that a record in quarantine had among the records; "" for other files.
func (s *Store) nameOf(quarantined string) string {
	name, is := strings.CutPrefix(quarantined, filepath.Base(s.folder.Path)+"-")
	if name = strings.TrimRight(name, ".0123456789"); !is { // with a number if there was one before
		return ""
	}
	return name
}

func (s *Store) loadAll() error {
	loader := spool.Loader{Quarantine: s.quarantine, Report: true, Log: s.log}
	aside, err := loader.Load(s.folder, ".json", func(name string, data []byte) error {
		r, err := understand(name, data)
		if err == nil {
			err = s.checkAgent(r)
		}
		if err == nil {
			r.shorten()
			s.records[r.ID] = &r
		}
		return err
	})
	for _, a := range aside {
		s.aside = append(s.aside, Unloaded{File: a.Name, ID: idOf(a.Name), Why: a.Why.Error()})
	}
	if err != nil {
		return fmt.Errorf("open sessions: %w", err)
	}
	return nil
}

// checkAgent returns an error if the record names an unknown agent: its session must not be run by
// another one.
func (s *Store) checkAgent(r Record) error {
	if r.AgentName == "" || slices.Contains(s.agents, r.AgentName) {
		return nil
	}
	return fmt.Errorf("this ccbot does not know its agent %q", r.AgentName)
}

func understand(name string, data []byte) (r Record, _ error) {
	// As json.Unmarshal does, which would read all data twice more.
	if err := r.UnmarshalJSON(data); err != nil {
		return Record{}, err
	}
	if file(r.ID) != name {
		return Record{}, fmt.Errorf("the file is named %s, but its id is %s", name, r.ID)
	}
	r.straighten()
	return r, nil
}

// straighten corrects two things that only an edited file can contain: an ended session that still
// has an agent, and a position in a transcript before 0.
func (r *Record) straighten() {
	if r.Binding != nil && r.State.HasEnded() {
		if !slices.Contains(r.Bound, r.Binding.Agent) {
			r.Bound = append(r.Bound, r.Binding.Agent)
		}
		r.Binding = nil
	}
	for i, c := range r.Cursors {
		r.Cursors[i].Offset, r.Cursors[i].Block, r.Cursors[i].Part = max(c.Offset, 0), max(c.Block, 0), max(c.Part, 0)
	}
}

// idOf returns the id in the name of a record's file; Nil for any other name.
func idOf(name string) uuid.UUID {
	id, err := uuid.Parse(strings.TrimSuffix(name, filepath.Ext(name)))
	if err != nil || file(id) != name {
		return uuid.Nil
	}
	return id
}

// inUTC changes every time of the record to UTC, because the files and their readers use no other
// zone. The moment stays the same.
func (r *Record) inUTC() {
	for _, at := range timesIn(reflect.ValueOf(r).Elem()) {
		*at = at.UTC()
	}
}

// timesIn finds every time of a value, however deep.
func timesIn(v reflect.Value) (found []*time.Time) {
	switch v.Kind() {
	case reflect.Struct:
		if at, ok := v.Addr().Interface().(*time.Time); ok {
			return []*time.Time{at}
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				found = append(found, timesIn(v.Field(i))...)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			found = timesIn(v.Elem())
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, timesIn(v.Index(i))...)
		}
	}
	return found
}

// plain has Record's fields without its methods, so that the standard encoding does the work.
type plain Record

// MarshalJSON writes the record together with the fields that were unknown when the record was
// read. A record without its history is refused: the history would be lost.
func (r Record) MarshalJSON() ([]byte, error) {
	if r.short {
		return nil, errors.New("the record is here without its history")
	}
	return keepjson.Marshal(plain(r), r.unknown)
}

// UnmarshalJSON reads a record of this version and keeps unknown fields. Times must be RFC 3339;
// any other form is an error, not a zero time.
func (r *Record) UnmarshalJSON(data []byte) error {
	var p plain
	unknown, err := keepjson.Unmarshal(data, Version, &p)
	if err != nil {
		return err
	}
	p.unknown = unknown
	*r = Record(p)
	r.inUTC()
	return r.check()
}
