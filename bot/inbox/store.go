package inbox

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ccbot/internal/address"
	"ccbot/internal/disk"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
)

// ErrNoEntry is returned for a key that was never accepted or is finished.
var ErrNoEntry = errors.New("there is no such entry in the inbox")

// ErrUnread is returned by List together with the entries that can be read, if others cannot be read now: an
// entry that is not in the list may exist.
var ErrUnread = errors.New("an entry of the inbox cannot be read now")

// ErrDraft from the function that Change calls keeps the entry in memory: Load gives it, and the next
// change writes it. An accepted entry is handed on again after a crash, and needs no more.
var ErrDraft = errors.New("it is only a draft")

const (
	entrySuffix = ".json"
	doneSuffix  = ".done"

	// maxEntry is far above maxAnswer, so that no size of an update can hold up the offset.
	maxEntry = 512 << 20

	// redelivery is how long a done marker can be of use: Telegram forgets an update after 24 h, and
	// gives the same id to another one after a week of silence, since ids start anew.
	redelivery = 48 * time.Hour

	// forgotten is how long a marker stays after Telegram was told to forget the update: a server
	// that has lost this confirmation sends the update once more.
	forgotten = time.Hour
)

// Store keeps the entries of one ccbot, one file each. It is safe for concurrent use; no other
// process may write the folder.
type Store struct {
	// Inside, set before anything is accepted, gives the internal ids of a chat and of a message in
	// it, see package alias. nil: Telegram's own ids are used.
	Inside func(chat int64, message int) (place int64, inside int)

	// Clock, set before anything is accepted, measures how long an entry has been here. nil: the wall clock does.
	Clock Clock

	// Failpoint is called at each persisted step. It is nil except in programs built to die there.
	Failpoint func(name string)

	folder spool.Folder
	aside  spool.Loader
	log    *slog.Logger

	drafts sync.Map // of an Entry by its key: see ErrDraft

	mu   sync.Mutex           // held during every change of the folder, so that no save brings back an entry that was finished
	done map[string]time.Time // finished keys whose marker still stands, and since when
	torn map[string]bool      // keys whose first write has failed: the file may be there, and was not handed on
}

// OpenStore opens dir ($CCBOT_DIR/inbox) and makes it when it is missing. Unreadable entries go to
// the folder "quarantine" beside dir.
func OpenStore(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{
		folder: spool.Folder{Path: dir, MaxSize: maxEntry, Fsync: true},
		aside:  spool.Loader{Quarantine: filepath.Join(filepath.Dir(dir), "quarantine"), Tell: true, Log: log},
		log:    log,
		done:   make(map[string]time.Time),
		torn:   make(map[string]bool),
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open the inbox: %w", err)
	}
	return s, nil
}

// open reads which entries are done and removes writes that a crash cut short.
func (s *Store) open() error {
	if err := errors.Join(s.folder.Make(), s.folder.Tidy()); err != nil {
		return err
	}
	files, err := disk.ReadDir(s.folder.Path)
	if err != nil {
		return err
	}
	for _, f := range files {
		key, done := strings.CutSuffix(f.Name(), doneSuffix)
		info, err := f.Info()
		switch {
		case err != nil:
			return err
		case done && validKey(key):
			s.done[key] = info.ModTime()
		}
	}
	return nil
}

// Accept puts an update on disk in state accepted, with conversation and message id as far as raw
// contains them. fresh is false when the key is there already or was finished.
func (s *Store) Accept(key string, raw json.RawMessage) (fresh bool, err error) {
	return s.accept(key, raw, time.Time{})
}

// accept is Accept for an update that came in an answer with this date.
func (s *Store) accept(key string, raw json.RawMessage, answered time.Time) (fresh bool, err error) {
	g := s.inside(glance(raw))
	return s.Add(Entry{Key: key, Update: raw, Conversation: g.where, MessageID: g.message, Album: g.album, Answered: answered.UTC()})
}

// Add is Accept for an entry that is made already. A zero Received becomes now, an empty State
// becomes accepted. fresh is as for Accept: a key that comes twice counts once.
func (s *Store) Add(e Entry) (fresh bool, err error) {
	e.State = cmp.Or(e.State, Accepted)
	if e.Received.IsZero() {
		if e.Received = time.Now().UTC(); s.Clock != nil {
			e.Moment = s.Clock.Now()
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, done := s.done[e.Key]; done {
		return false, nil
	}
	switch _, err := disk.Lstat(s.path(e.Key)); {
	case err == nil && !s.torn[e.Key]:
		return false, nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("accept %s: %w", e.Key, err)
	}
	if err := s.writeLocked(e); err != nil {
		s.torn[e.Key] = true
		return false, fmt.Errorf("accept %s: %w", e.Key, err)
	}
	delete(s.torn, e.Key)
	return true, nil
}

// Load reads one entry. It returns ErrNoEntry when the entry is finished or never existed,
// keepjson.ErrNewer when a newer program wrote it: then the entry is left alone.
func (s *Store) Load(key string) (Entry, error) {
	if !validKey(key) {
		return Entry{}, fmt.Errorf("load %q: %w", key, ErrNoEntry)
	}
	if e, drafted := s.drafts.Load(key); drafted {
		return e.(Entry), nil
	}
	e, err := s.read(key + entrySuffix)
	if err != nil {
		return Entry{}, fmt.Errorf("load %s: %w", key, err)
	}
	return e, nil
}

// presentLocked is readLocked that prefers a draft.
func (s *Store) presentLocked(key string) (Entry, error) {
	if e, drafted := s.drafts.Load(key); drafted {
		return e.(Entry), nil
	}
	return s.readLocked(key)
}

// readLocked reads one entry from disk; the zero Entry if there is none, or none that can ever be read:
// such a file goes to quarantine, as spool.Unreported. An error may pass.
func (s *Store) readLocked(key string) (e Entry, err error) {
	name := key + entrySuffix
	why, err := s.aside.LoadOne(s.folder, name, func(data []byte) (err error) {
		e, err = understand(name, data)
		return err
	})
	if why != nil || err != nil {
		return Entry{}, err
	}
	return e, nil
}

// reread is readLocked for a caller without the lock.
func (s *Store) reread(key string) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.readLocked(key)
}

// Save is Change to e. A Save that comes too late does not bring back an entry that was finished.
func (s *Store) Save(e Entry) error {
	return s.Change(e.Key, func(now *Entry) error { *now = e; return nil })
}

// Change writes an entry as change leaves it: with no other change in between, and on disk when Change
// returns. After an error of change nothing is written. ErrNoEntry: it is finished, or never existed.
func (s *Store) Change(key string, change func(e *Entry) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.Load(key)
	if err != nil {
		return fmt.Errorf("change: %w", err)
	}
	switch err := change(&e); {
	case errors.Is(err, ErrDraft):
		s.drafts.Store(key, e)
		return nil
	case err != nil:
		return err
	}
	return s.writeLocked(e)
}

// Find returns the unfinished entry that was made from a message or from a text of which the message is
// a part, or ErrNoEntry. Accepted entries do not count: the edit of a message is one of them.
func (s *Store) Find(to address.Conversation, message int) (Entry, error) {
	entries, err := s.List()
	for _, e := range entries {
		if e.State != Accepted && e.Conversation == to && message != 0 && (e.MessageID == message || s.isPart(e, message)) {
			return e, nil
		}
	}
	return Entry{}, cmp.Or(err, fmt.Errorf("message %d of chat %d: %w", message, to.ChatID, ErrNoEntry))
}

// isPart reports whether an entry is a text that Telegram has cut, and a message is one of its later parts.
func (s *Store) isPart(e Entry, message int) bool {
	return e.Album == "" && slices.ContainsFunc(e.Rest, func(raw json.RawMessage) bool {
		return s.inside(glance(raw)).message == message
	})
}

// Finish says that nothing more is to be done for key: it is never handed on again. It is no error
// to finish a key twice, or a key that never existed.
func (s *Store) Finish(key string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finishLocked(key)
}

// FinishIn is Finish for an entry that must be in a given state. No change can come between check
// and finish. ErrNoEntry: the entry is in another state, or finished.
func (s *Store) FinishIn(key string, state State) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.Load(key)
	if err == nil && e.State != state {
		err = fmt.Errorf("entry %s is %s: %w", key, e.State, ErrNoEntry)
	}
	if err != nil {
		return fmt.Errorf("finish: %w", err)
	}
	return s.finishLocked(key)
}

// finishLocked finishes by a rename, because a rename is one step and works on a full disk.
func (s *Store) finishLocked(key string) error {
	if !validKey(key) {
		return fmt.Errorf("finish %q: %w", key, ErrNoEntry)
	}
	s.drafts.Delete(key)
	switch err := disk.Rename(s.path(key), filepath.Join(s.folder.Path, key+doneSuffix)); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("finish %s: %w", key, err)
	}
	s.done[key] = time.Now()
	return s.folder.Sync()
}

// Reopen brings a finished entry back; its marker stays. ErrNoEntry: the marker is gone.
func (s *Store) Reopen(key string, state State) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.read(key + doneSuffix)
	if err != nil {
		return Entry{}, fmt.Errorf("reopen %s: %w", key, err)
	}
	e.State, e.Typing = state, nil
	return e, s.writeLocked(e)
}

// List returns all unfinished entries: updates by id, then prompts by the time they were received. An
// unreadable one goes into quarantine, as spool.Unreported, one of a newer program is left alone. One that
// cannot be read now is logged, and the error is ErrUnread.
func (s *Store) List() ([]Entry, error) {
	entries, unread, err := s.list()
	if len(unread) > 0 {
		err = fmt.Errorf("%w: %w", ErrUnread, unread[0].err)
	}
	return entries, err
}

// unread is an entry that cannot be read now.
type unread struct {
	key string
	err error
}

func (s *Store) list() (entries []Entry, left []unread, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.folder.List()
	if err != nil {
		return nil, nil, fmt.Errorf("list the inbox: %w", err)
	}
	for _, name := range names {
		if filepath.Ext(name) != entrySuffix {
			continue
		}
		key := strings.TrimSuffix(name, entrySuffix)
		switch e, err := s.readLocked(key); {
		case err != nil: // neither this nor a quarantine that fails holds up the entries that can be read
			s.log.Error("inbox_entry_not_read", logkey.File, name, logkey.Error, err)
			left = append(left, unread{key, err})
		case e.Key != "":
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, inOrder)
	return entries, left, nil
}

// setAside finishes an entry and keeps it in quarantine. A crash in between leaves it unfinished.
func (s *Store) setAside(key, reason string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drafts.Delete(key)
	if err := s.folder.Quarantine(key+entrySuffix, s.aside.Quarantine, reason); err != nil {
		return fmt.Errorf("set aside %s: %w", key, err)
	}
	if err := s.folder.Put(key+doneSuffix, nil); err != nil {
		return fmt.Errorf("set aside %s: %w", key, err)
	}
	s.done[key] = time.Now()
	return nil
}

// setAsideRaw keeps in quarantine an update that has no entry: a tap, or an update without an id.
func (s *Store) setAsideRaw(update string, raw json.RawMessage, reason error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log.Error("update_undecodable", logkey.Update, update, logkey.Error, reason)
	err := s.folder.Put(update+entrySuffix, raw)
	if err == nil {
		err = s.folder.Quarantine(update+entrySuffix, s.aside.Quarantine, reason.Error())
	}
	if err != nil {
		s.log.Error("inbox_quarantine_failed", logkey.Update, update, logkey.Error, err)
	}
}

// confirmed removes the markers of updates below offset, which Telegram was told to forget some time
// ago, and those too old to be of use. One that a power cut brings back does no harm: no sync.
func (s *Store) confirmed(offset int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for key, since := range s.done {
		life := redelivery
		if id, isUpdate := updateID(key); isUpdate && id < offset {
			life = forgotten
		}
		if time.Since(since) < life {
			continue
		}
		if err := disk.RemoveAll(filepath.Join(s.folder.Path, key+doneSuffix)); err != nil {
			errs = append(errs, err)
			continue
		}
		delete(s.done, key)
	}
	return errors.Join(errs...)
}

func (s *Store) path(key string) string { return filepath.Join(s.folder.Path, key+entrySuffix) }

func (s *Store) read(name string) (Entry, error) {
	data, err := s.folder.Read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Entry{}, ErrNoEntry
	}
	if err != nil {
		return Entry{}, err
	}
	return understand(name, data)
}

func understand(name string, data []byte) (Entry, error) {
	var e Entry
	if err := json.Unmarshal(data, &e); err != nil {
		return Entry{}, err
	}
	if e.Key != strings.TrimSuffix(strings.TrimSuffix(name, doneSuffix), entrySuffix) {
		return Entry{}, fmt.Errorf("the file is named %s, but its key is %s", name, e.Key)
	}
	return e, nil
}

func (s *Store) writeLocked(e Entry) error {
	e.Version = Version
	if err := e.check(); err != nil {
		return err
	}
	data, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if err = s.folder.Put(e.Key+entrySuffix, append(data, '\n')); err == nil {
		s.drafts.Delete(e.Key)
	}
	return err
}
