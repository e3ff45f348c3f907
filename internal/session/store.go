package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/spool"
)

// Errors of a store, matched with errors.Is.
var (
	// ErrNotFound means that no record has the id.
	ErrNotFound error = notFound{}
	// errReadOnly means a change in a read-only store.
	errReadOnly = errors.New("the session records are open for reading only")
)

type notFound struct{}

func (notFound) Error() string { return "there is no such session" }

// NotFound makes the error a refusal, see refusal.In.
func (notFound) NotFound() {}

// Store keeps the records of one ccbot: in memory for reading, and permanently in one file per
// record. The history of an ended session is in its file only: there are thousands of them, and
// only people read it. Get, List and Shared return such a record without it, Whole with it.
type Store struct {
	// Folders is passed by the code that begins a session or removes a folder.
	Folders Gate

	agents     []string // the names of the known coding agents
	folder     spool.Folder
	quarantine string
	readOnly   bool
	now        func() time.Time
	log        *slog.Logger
	aside      []Unloaded // never changes once the store is open

	mu sync.Mutex
	// No record here ever changes: a write replaces it by another one.
	records map[uuid.UUID]*Record
	shared  []Record                    // the result of Shared; nil after a write
	workers map[uuid.UUID]chan struct{} // one slot each: its holder is the record's worker
	unsaved map[uuid.UUID]bool          // records that are visible to readers and not written yet
}

// file is the name of a record's file.
func file(id uuid.UUID) string { return id.String() + ".json" }

// Get returns a copy of the record.
func (s *Store) Get(id uuid.UUID) (Record, bool) {
	s.mu.Lock()
	r, ok := s.records[id]
	s.mu.Unlock()
	if !ok {
		return Record{}, false
	}
	return r.Clone(), true
}

// Whole returns a copy of the record with its history, for which it reads the file of an ended
// session. It returns ErrNotFound if that file was removed.
func (s *Store) Whole(id uuid.UUID) (Record, error) {
	r, ok := s.Get(id)
	if !ok {
		return Record{}, fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	if !r.short {
		return r, nil
	}
	data, err := s.folder.Read(file(id))
	if err == nil {
		r, err = understand(file(id), data)
	}
	if errors.Is(err, fs.ErrNotExist) {
		s.drop(id)
		err = fmt.Errorf("%w: %w", ErrNotFound, err)
	}
	if err != nil {
		return Record{}, fmt.Errorf("read session record %s: %w", filepath.Join(s.folder.Path, file(id)), err)
	}
	return r, nil
}

// List returns copies of all records, oldest first.
func (s *Store) List() []Record {
	list := slices.Clone(s.Shared())
	for i, r := range list {
		list[i] = r.Clone()
	}
	return list
}

// Shared returns all records as they are now, oldest first, without copying them: the list and
// everything that its records refer to are shared with the store and with all other readers. They
// must not be changed.
func (s *Store) Shared() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.shared == nil {
		sorted := slices.SortedFunc(maps.Values(s.records), func(a, b *Record) int {
			return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), bytes.Compare(a.ID[:], b.ID[:]))
		})
		s.shared = make([]Record, 0, len(sorted))
		for i, r := range sorted {
			s.shared = append(s.shared, *r)
			s.records[r.ID] = &s.shared[i] // one of the two is enough
		}
	}
	return s.shared
}

// Create writes a new record. It is on disk when Create returns.
func (s *Store) Create(r Record) error {
	if _, ok := s.Get(r.ID); ok {
		return fmt.Errorf("create session %s: it exists", r.ID)
	}
	// Write changes times to UTC, also in values of pointers, which must not change the caller's
	// record.
	r = r.Clone()
	return s.write(&r)
}

// Do runs fn alone on the record's worker: no other Do of the same record runs until fn returns. fn
// works on a copy; save writes the copy's current value to disk and makes it visible to readers, so
// fn can save an intent before its effect and the result after it. Changes that are not saved when
// fn returns are dropped. fn must not call Do for the same record.
func (s *Store) Do(ctx context.Context, id uuid.UUID, fn func(r *Record, save func() error) error) error {
	slot := s.worker(id)
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the worker of session %s: %w", id, ctx.Err())
	}
	defer func() { <-slot }()
	r, err := s.Whole(id)
	if err != nil {
		return err
	}
	return fn(&r, func() error {
		if r.ID != id {
			// That file belongs to another worker.
			return fmt.Errorf("write session %s: its id became %s", id, r.ID)
		}
		return s.write(&r)
	})
}

func (s *Store) worker(id uuid.UUID) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, ok := s.workers[id]
	if !ok {
		slot = make(chan struct{}, 1)
		s.workers[id] = slot
	}
	return slot
}

// write puts the record on disk first. If that fails, the file and the memory are unchanged.
func (s *Store) write(r *Record) error {
	if s.readOnly {
		return fmt.Errorf("write session %s: %w", r.ID, errReadOnly)
	}
	r.Version, r.UpdatedAt = Version, s.now()
	if !r.upkeep {
		r.ActiveAt = r.UpdatedAt
	}
	r.inUTC()
	if err := errors.Join(r.check(), s.checkAgent(*r)); err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	if err := s.folder.Put(file(r.ID), append(data, '\n')); err != nil {
		return fmt.Errorf("write session record %s: %w", filepath.Join(s.folder.Path, file(r.ID)), err)
	}
	r.upkeep = false
	s.publish(*r, false)
	return nil
}

// Keep makes the value of a record visible to readers without writing it: the next save writes it,
// or SaveKept. It is called inside Do, with the record of a session that has not ended.
func (s *Store) Keep(r Record) {
	r.ActiveAt = s.now().UTC()
	s.publish(r, true)
}

// SaveKept writes the records that are visible to readers and not written yet, at a clean stop.
func (s *Store) SaveKept(ctx context.Context) error {
	s.mu.Lock()
	unsaved := slices.Collect(maps.Keys(s.unsaved))
	s.mu.Unlock()
	var errs []error
	for _, id := range unsaved {
		err := s.Do(ctx, id, func(r *Record, save func() error) error {
			r.Upkeep()
			return save()
		})
		if !errors.Is(err, ErrNotFound) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

func (s *Store) publish(r Record, unsaved bool) {
	r.shorten()
	r = r.Clone()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[r.ID], s.shared = &r, nil
	delete(s.unsaved, r.ID)
	if unsaved {
		s.unsaved[r.ID] = true
	}
}

// Remove deletes the record of a start that left nothing else. It waits for the record's worker,
// because a later save by that worker would bring the record back; so it must not be called inside
// Do.
func (s *Store) Remove(id uuid.UUID) error {
	if s.readOnly {
		return fmt.Errorf("remove session %s: %w", id, errReadOnly)
	}
	slot := s.worker(id)
	slot <- struct{}{}
	defer func() { <-slot }()
	return s.forget(id)
}

// Purge deletes a record if may returns true. may runs on the record's worker, like the function of
// Do, so nothing happens to the record between may and the deletion; may must not call Do, Remove
// or Purge for the same record. After an error of may nothing is deleted.
func (s *Store) Purge(ctx context.Context, id uuid.UUID, may func(Record) (bool, error)) (purged bool, err error) {
	if s.readOnly {
		return false, fmt.Errorf("remove session %s: %w", id, errReadOnly)
	}
	err = s.Do(ctx, id, func(r *Record, _ func() error) error {
		ok, err := may(*r)
		if err != nil || !ok {
			return err
		}
		if err := s.forget(id); err != nil {
			return err
		}
		purged = true
		return nil
	})
	return purged, err
}

// forget deletes the file and the record in memory. It is called on the record's worker.
func (s *Store) forget(id uuid.UUID) error {
	if err := s.folder.Remove(file(id)); err != nil {
		return fmt.Errorf("remove session record %s: %w", filepath.Join(s.folder.Path, file(id)), err)
	}
	s.drop(id)
	return nil
}

func (s *Store) drop(id uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.records, id)
	delete(s.unsaved, id)
	s.shared = nil
}
