package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"
)

// ErrNotFound is returned for an id that no record has.
var ErrNotFound = errors.New("there is no such session")

// Store keeps the records of one ccbot: in memory for reading, in one file per
// record for good.
type Store struct {
	dir        string
	quarantine string
	now        func() time.Time
	log        *slog.Logger

	mu      sync.Mutex
	records map[uuid.UUID]Record
	workers map[uuid.UUID]chan struct{} // one slot each: who holds it is the record's worker
}

// Open loads every record of dir. A file that cannot be read is moved to the
// quarantine folder and logged; a newer program's is left where it is. The
// error is about the folder itself.
func Open(dir, quarantine string, now func() time.Time, log *slog.Logger) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	s := &Store{dir: dir, quarantine: quarantine, now: now, log: log,
		records: make(map[uuid.UUID]Record), workers: make(map[uuid.UUID]chan struct{})}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open sessions: %w", err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json" {
			continue
		}
		if err := s.load(e.Name()); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// load reads one file. Only a quarantine that fails is an error: then nothing
// may be lost by going on.
func (s *Store) load(name string) error {
	path := filepath.Join(s.dir, name)
	data, err := readRegular(path)
	if err != nil {
		return s.setAside(name, err)
	}
	var r Record
	err = json.Unmarshal(data, &r)
	if err == nil && r.ID.String()+".json" != name {
		err = fmt.Errorf("the file is named %s, but its id is %s", name, r.ID)
	}
	if errors.Is(err, ErrNewer) {
		s.log.Warn("session_record_newer", "file", path, "error", err.Error())
		return nil
	}
	if err != nil {
		return s.setAside(name, err)
	}
	s.records[r.ID] = r
	return nil
}

// maxRecord bounds what is read as a record; real ones are a few kilobytes.
const maxRecord = 16 << 20

func readRegular(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxRecord {
		return nil, fmt.Errorf("%s is not a file of ours: %s, %d bytes", path, info.Mode(), info.Size())
	}
	return os.ReadFile(path)
}

// setAside moves what cannot be read to quarantine, with the reason beside it.
// The file of the reason is made exclusively: it holds the name, so nothing that
// lies there already is replaced.
func (s *Store) setAside(name string, reason error) error {
	if err := os.MkdirAll(s.quarantine, 0o700); err != nil {
		return fmt.Errorf("quarantine %s: %w", name, err)
	}
	base := filepath.Join(s.quarantine, "session-"+s.now().UTC().Format("20060102T150405.000000000Z")+"-"+name)
	target := base
	err := writeNew(target+".reason", reason.Error()+"\n")
	for n := 1; errors.Is(err, fs.ErrExist); n++ {
		target = base + "." + strconv.Itoa(n)
		err = writeNew(target+".reason", reason.Error()+"\n")
	}
	if err != nil {
		return fmt.Errorf("quarantine %s: %w", name, err)
	}
	if err := os.Rename(filepath.Join(s.dir, name), target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("quarantine %s: %w", name, errors.Join(err, os.Remove(target+".reason")))
	}
	s.log.Error("session_record_unreadable", "file", name, "moved_to", target, "error", reason.Error())
	return nil
}

func writeNew(path, text string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, _ = f.WriteString(text) // on a full disk it stays empty, which must not keep the other records from loading
	_ = f.Close()
	return nil
}

// Get returns a copy of the record.
func (s *Store) Get(id uuid.UUID) (Record, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, ok := s.records[id]
	return r.Clone(), ok
}

// List returns copies of all records, oldest first.
func (s *Store) List() []Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Record, 0, len(s.records))
	for _, r := range s.records {
		list = append(list, r.Clone())
	}
	slices.SortFunc(list, func(a, b Record) int {
		if c := a.CreatedAt.Compare(b.CreatedAt); c != 0 {
			return c
		}
		return strings.Compare(a.ID.String(), b.ID.String())
	})
	return list
}

// Create writes a new record. It is on disk when Create returns.
func (s *Store) Create(r Record) error {
	if _, ok := s.Get(r.ID); ok {
		return fmt.Errorf("create session %s: it exists", r.ID)
	}
	return s.write(&r)
}

// Do runs fn alone on the record's worker: no other Do of the same record runs
// until fn returns. fn works on a copy; save puts the copy's present value on
// disk and shows it to readers, so an intent is saved before its effect and the
// result after it. What is not saved when fn returns is dropped. fn must not
// call Do for the same record.
func (s *Store) Do(ctx context.Context, id uuid.UUID, fn func(r *Record, save func() error) error) error {
	slot := s.worker(id)
	select {
	case slot <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("wait for the worker of session %s: %w", id, ctx.Err())
	}
	defer func() { <-slot }()
	r, ok := s.Get(id)
	if !ok {
		return fmt.Errorf("session %s: %w", id, ErrNotFound)
	}
	return fn(&r, func() error {
		if r.ID != id {
			return fmt.Errorf("write session %s: its id became %s", id, r.ID) // another worker's file
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

func (s *Store) write(r *Record) error {
	r.Version, r.UpdatedAt = Version, s.now().UTC()
	if err := r.check(); err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	path := filepath.Join(s.dir, r.ID.String()+".json")
	if err := renameio.WriteFile(path, append(data, '\n'), 0o600, renameio.WithTempDir(filepath.Dir(path))); err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	if err := syncDir(s.dir); err != nil {
		return fmt.Errorf("write session %s: %w", r.ID, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records[r.ID] = r.Clone()
	return nil
}

// syncDir makes a rename last: renameio syncs the file, not the folder that
// names it.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Remove deletes a record that never came to be: a start that left nothing. It
// waits for the record's worker, whose save would bring the record back, so it
// must not be called inside Do.
func (s *Store) Remove(id uuid.UUID) error {
	slot := s.worker(id)
	slot <- struct{}{}
	defer func() { <-slot }()
	err := os.Remove(filepath.Join(s.dir, id.String()+".json"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("remove session %s: %w", id, err)
	}
	s.mu.Lock()
	delete(s.records, id)
	s.mu.Unlock()
	return syncDir(s.dir)
}
