package received

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"ccbot/internal/keepjson"
	"ccbot/internal/spool"
	"ccbot/internal/wording"
)

// version is the schema version of a record that this program writes.
const version = 1

// record is one file of $CCBOT_DIR/received: which file was put where. It is on disk before the
// file exists.
type record struct {
	Version int    `json:"version"`
	Dir     string `json:"dir"`            // the session's directory
	Part    string `json:"part"`           // temporary name, until the file is whole
	Name    string `json:"name,omitempty"` // below Folder; empty as long as it has no final name
	// These fields distinguish the file from another one of its name. The device's number is not
	// among them, because it may change with a reboot.
	Inode   uint64    `json:"inode,omitempty"`
	Size    int64     `json:"size,omitempty"`
	Written time.Time `json:"written,omitzero"` // the file's modification time
	At      time.Time `json:"at"`               // from when its age counts

	unknown keepjson.Unknown // fields of a later program; they survive a rewrite
}

// is reports whether a file is the one on record, unchanged.
func (r record) is(info fs.FileInfo) bool {
	return info.Mode().IsRegular() && Inode(info) == r.Inode && info.Size() == r.Size && info.ModTime().Equal(r.Written)
}

// Store keeps the record of the files in the folders. It is safe for concurrent use; no other
// process may write its own folder.
type Store struct {
	records spool.Folder
	aside   string // folder for records that cannot be read
	now     func() time.Time
	log     *slog.Logger
	link    linker

	mu   sync.Mutex
	free *sync.Cond      // signals that a record is no longer in use
	busy map[string]bool // records in use
}

// Open opens dir ($CCBOT_DIR/received) and creates it if it is missing. Records that cannot be read
// go to the folder "quarantine" next to it.
func Open(dir string, now func() time.Time, log *slog.Logger) (*Store, error) {
	s := &Store{records: spool.Folder{Path: dir, Fsync: true}, aside: filepath.Join(filepath.Dir(dir), "quarantine"),
		now: now, log: log, link: (*os.Root).Link, busy: make(map[string]bool)}
	s.free = sync.NewCond(&s.mu)
	if err := s.records.Make(); err != nil {
		return nil, fmt.Errorf("open received: %w", err)
	}
	return s, nil
}

const recordSuffix = ".json"

// keyOf names the record of one file in one directory.
func keyOf(dir, id string) string {
	sum := sha256.Sum256([]byte(dir))
	return id + "-" + hex.EncodeToString(sum[:4])
}

// Has returns the name of the file of an id in the folder of a session's directory, if it is there
// unchanged. It removes the rest of an attempt that failed. Errors are those of Put.
func (s *Store) Has(dir, id string) (name string, err error) {
	err = s.in(dir, id, func(box *os.Root, key string) (err error) {
		name, err = s.already(box, key)
		return err
	})
	return name, err
}

// in does something in the folder of a session's directory while no other call works on the file of
// an id.
func (s *Store) in(dir, id string, do func(box *os.Root, key string) error) error {
	key := keyOf(dir, id)
	s.take(key)
	defer s.release(key)
	box, err := openFolder(dir, true)
	if err != nil {
		return wording.Errorf("put a file into %s: %w", wording.Path(filepath.Join(dir, Folder)), err)
	}
	defer box.Close()
	return do(box, key)
}

// Put writes a file to the folder of a session's directory and returns its name, which is similar
// to the requested one. If the file of that id is already there, the body is not read. The id is a
// part of file names.
//
// Errors are [ErrNotOurs], errors of the disk, and errors of the body. After an error nothing is
// left there.
func (s *Store) Put(dir, id, wished string, body io.Reader) (name string, err error) {
	err = s.in(dir, id, func(box *os.Root, key string) error {
		var err error
		if name, err = s.already(box, key); err != nil || name != "" {
			return err
		}
		r := record{Dir: dir, Part: ".part-" + key, At: s.now().UTC()}
		if err := s.save(key, r); err != nil {
			return err
		}
		if name, err = s.put(box, key, r, wished, body); err != nil {
			name, err = "", errors.Join(err, s.undo(box, key))
		}
		return err
	})
	return name, err
}

// take waits until no other call works on a record, and reserves the record.
func (s *Store) take(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.busy[key] {
		s.free.Wait()
	}
	s.busy[key] = true
}

func (s *Store) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.busy, key)
	s.free.Broadcast()
}

// tryTake reserves a record if no other call works on it.
func (s *Store) tryTake(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	free := !s.busy[key]
	s.busy[key] = true
	return free
}

// undo removes everything that an attempt has left. Files that cannot be removed stay on record,
// for the next sweep.
func (s *Store) undo(box *os.Root, key string) error {
	r, err := s.load(key)
	if err == nil {
		err = s.clearIn(box, r, r.Name != "")
	}
	if err == nil {
		err = s.forget(key)
	}
	return err
}

// already finds the file that an earlier attempt has put there; "" if there is none. It removes the
// rest of an attempt that failed.
func (s *Store) already(box *os.Root, key string) (name string, err error) {
	r, err := s.load(key)
	if errors.Is(err, errUnread) {
		return "", err
	}
	if err != nil {
		return "", nil
	}
	if err := remove(box, r.Part); err != nil || r.Name == "" {
		return "", nil
	}
	info, err := box.Lstat(r.Name)
	if err != nil || !r.is(info) {
		return "", nil
	}
	return r.Name, nil
}

// put fills the file under its temporary name and then gives it its final name.
func (s *Store) put(box *os.Root, key string, r record, wished string, body io.Reader) (string, error) {
	if err := ignore(box, r.Part, s.link); err != nil {
		return "", fmt.Errorf("write .gitignore: %w", err)
	}
	f, err := create(box, r.Part)
	if err != nil {
		return "", fmt.Errorf("make a file: %w", err)
	}
	defer f.Close() // a second Close where all went well
	if _, err := io.Copy(f, body); err != nil {
		return "", fmt.Errorf("write a file: %w", err)
	}
	if err := f.Sync(); err != nil {
		return "", fmt.Errorf("write a file: %w", err)
	}
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	r.Inode, r.Size, r.Written = Inode(info), info.Size(), info.ModTime().UTC()
	name, err := s.name(box, key, r, safeName(wished))
	if err != nil {
		return "", err
	}
	return name, s.check(box, r, name)
}

// names is the number of numbered names that are tried.
const names = 1000

// name returns a whole file the first free name. The name is on record before the file has it.
func (s *Store) name(box *os.Root, key string, r record, wished string) (string, error) {
	for n := 1; n <= names; n++ {
		r.Name = numbered(wished, n)
		if _, err := box.Lstat(r.Name); err == nil {
			continue
		}
		if err := s.save(key, r); err != nil {
			return "", err
		}
		err := publish(box, r.Part, r.Name, s.link)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("name a file: %w", err)
		}
		return r.Name, errors.Join(remove(box, r.Part), spool.SyncFolder(box.Open(".")))
	}
	return "", fmt.Errorf("name a file: there are %d of that name", names)
}

// check makes sure that the name now belongs to the file that was written, in the folder that the
// agent reads. Otherwise the agent must not get it.
func (s *Store) check(box *os.Root, r record, name string) error {
	info, err := box.Lstat(name)
	if err != nil {
		return fmt.Errorf("look for a file: %w", err)
	}
	if !r.is(info) {
		return ErrNotOurs
	}
	return inPlace(r.Dir, box)
}

// errUnread is returned for a record that cannot be read now. It stays in force.
var errUnread = errors.New("the record cannot be read")

func (s *Store) load(key string) (record, error) {
	data, err := s.records.Read(key + recordSuffix)
	if spool.MayPass(err) {
		err = fmt.Errorf("%w: %w", errUnread, err)
	}
	if err != nil {
		return record{}, err
	}
	var r record
	if r.unknown, err = keepjson.Unmarshal(data, version, &r); err != nil {
		return record{}, err
	}
	if !filepath.IsAbs(r.Dir) || !filepath.IsLocal(r.Part) || r.Name != "" && !filepath.IsLocal(r.Name) {
		return record{}, errors.New("dir, part or name is not one")
	}
	return r, nil
}

func (s *Store) save(key string, r record) error {
	r.Version = version
	data, err := keepjson.Marshal(r, r.unknown)
	if err != nil {
		return fmt.Errorf("note a file: %w", err)
	}
	if err := s.records.Put(key+recordSuffix, append(data, '\n')); err != nil {
		return fmt.Errorf("note a file: %w", err)
	}
	return nil
}

func (s *Store) forget(key string) error { return s.records.Remove(key + recordSuffix) }
