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
	"ccbot/port/refusal"
)

var (
	// ErrNoEntry is returned for a key that was never accepted or is finished.
	ErrNoEntry = refusal.New(refusal.NotFound, "there is no such entry in the inbox")
	// ErrUnread is returned by List, with the readable entries, if others cannot be read now.
	ErrUnread = errors.New("an entry of the inbox cannot be read now")
	// ErrUnchanged from the function of Change leaves the entry as it is, and Change returns nil.
	ErrUnchanged = errors.New("the entry is so already")
	// ErrDraft from the function of Change keeps the entry in memory: Load returns it, and the next
	// change writes it. A crash loses nothing, because an accepted entry is handed on again.
	ErrDraft = errors.New("it is only a draft")
)

const (
	entrySuffix = ".json"
	doneSuffix  = ".done"

	// maxEntry is far above maxAnswer, so that no update's size can block the offset.
	maxEntry = 512 << 20

	// redelivery is the useful life of a done marker: Telegram forgets an update after 24 h, and
	// reuses ids only after a week of silence.
	redelivery = 48 * time.Hour

	// forgotten is the life of a marker after Telegram got the confirmation: a server that loses it
	// sends the update once more.
	forgotten = time.Hour
)

// Store keeps the entries of one ccbot, one file each. It is safe for concurrent use; no other
// process may write the folder.
type Store struct {
	// Inside, set before the first update, returns the internal ids of a chat and its message, see
	// package alias. nil keeps Telegram's ids.
	Inside func(chat int64, message int) (place int64, inside int)

	// Clock, set before the first update, measures the age of entries. nil uses the wall clock.
	Clock Clock

	// TakeBack, set before the first update, takes the prompt of an entry back from its engine before
	// the chat finishes the entry or asks a person about it. With held it is an error if the prompt
	// was typed. Taking back a prompt that no engine has is not an error. It may take long, and
	// blocks no other entry.
	TakeBack func(e Entry, held bool) error

	// Failpoint is called at each persisted step. It is nil except in programs built to crash
	// there.
	Failpoint func(name string)

	folder spool.Folder
	aside  spool.Loader
	log    *slog.Logger

	drafts sync.Map // Entry by key: see ErrDraft

	mu      sync.Mutex           // held during every change of the folder, so that no save restores a finished entry
	done    map[string]time.Time // finished keys with a marker, and since when
	torn    map[string]bool      // keys whose first write failed: the file may exist, and was not handed on
	numbers numbers              // of offers
	leaving map[string]int       // keys whose prompts are being taken back, see release
}

// OpenStore opens dir ($CCBOT_DIR/inbox), and creates it if necessary. Unreadable entries go to the
// folder "quarantine" next to dir.
func OpenStore(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{
		folder: spool.Folder{Path: dir, MaxSize: maxEntry, Fsync: true},
		aside:  spool.Loader{Quarantine: filepath.Join(filepath.Dir(dir), "quarantine"), Report: true, Log: log},
		log:    log,
		done:   make(map[string]time.Time),
		torn:   make(map[string]bool), leaving: make(map[string]int),
	}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open the inbox: %w", err)
	}
	return s, nil
}

// open reads the done markers and removes incomplete writes of a crash.
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
	s.numbers.open(s.folder, s.log)
	return nil
}

// Accept stores an update in state accepted, with the conversation and message id of raw, if any.
// fresh is false if the key exists or was finished.
func (s *Store) Accept(key string, raw json.RawMessage) (fresh bool, err error) {
	return s.accept(key, raw, time.Time{})
}

// accept is Accept for an update in an answer with this date.
func (s *Store) accept(key string, raw json.RawMessage, answered time.Time) (fresh bool, err error) {
	g := s.inside(glance(raw))
	return s.Add(Entry{Key: key, Update: raw, Conversation: g.where, MessageID: g.message, Album: g.album, Answered: answered.UTC()})
}

// Add is Accept for an existing Entry. A zero Received becomes now, an empty State accepted. fresh
// is false for a repeated key.
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

// Load reads one entry. It returns ErrNoEntry if the entry is finished or never existed.
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

// presentLocked is readLocked, but prefers a draft.
func (s *Store) presentLocked(key string) (Entry, error) {
	if e, drafted := s.drafts.Load(key); drafted {
		return e.(Entry), nil
	}
	return s.readLocked(key)
}

// readLocked reads one entry from disk. It returns the zero Entry if there is none, or if its file
// can never be read, which then goes to quarantine, as spool.Unreported. An error may be temporary.
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

// Save replaces an entry by e with Change. A late Save does not restore a finished entry.
func (s *Store) Save(e Entry) error {
	return s.Change(e.Key, func(now *Entry) error { *now = e; return nil })
}

// Change applies change to an entry, atomically and durably. After an error of change nothing is
// written. It returns ErrNoEntry if the entry is finished, or never existed. change is called again
// if the prompt of the entry has to be taken back first.
func (s *Store) Change(key string, change func(e *Entry) error) error {
	return s.release(key, false, func(e *Entry, unread error) (leaves bool, write func(Entry) error, err error) {
		if unread != nil {
			return false, nil, fmt.Errorf("change: %w", unread)
		}
		before := *e
		switch err = change(e); {
		case errors.Is(err, ErrUnchanged):
			return false, nil, nil
		case errors.Is(err, ErrDraft):
			s.drafts.Store(key, *e)
			return false, nil, nil
		}
		return before.MayBeHeld() && !e.MayBeHeld(), s.writeLocked, err
	})
}

// Find returns the unfinished entry of a message, or of a text that the message is a part of, or
// ErrNoEntry. It ignores accepted entries, which may be edits of the message.
func (s *Store) Find(to address.Conversation, message int) (Entry, error) {
	entries, err := s.List()
	for _, e := range entries {
		if e.State != Accepted && e.Conversation == to && message != 0 && (e.MessageID == message || s.isPart(e, message)) {
			return e, nil
		}
	}
	return Entry{}, cmp.Or(err, fmt.Errorf("message %d of chat %d: %w", message, to.ChatID, ErrNoEntry))
}

// isPart reports whether an entry is a text that Telegram has cut, and a message is one of its
// later parts.
func (s *Store) isPart(e Entry, message int) bool {
	return e.Album == "" && slices.ContainsFunc(e.Rest, func(raw json.RawMessage) bool {
		return s.inside(glance(raw)).message == message
	})
}

// finishLocked finishes by a rename, because a rename is one step and works on a full disk.
func (s *Store) finishLocked(key string) error {
	if !validKey(key) {
		return fmt.Errorf("finish %q: %w", key, ErrNoEntry)
	}
	err := disk.Rename(s.path(key), filepath.Join(s.folder.Path, key+doneSuffix))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("finish %s: %w", key, err)
	}
	s.drafts.Delete(key)
	if err != nil { // it is finished already
		return nil
	}
	s.done[key] = time.Now()
	return s.folder.Sync()
}

// Reopen restores a finished entry; its marker stays. It returns ErrNoEntry if the marker is gone.
func (s *Store) Reopen(key string, state State) (Entry, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.read(key + doneSuffix)
	if err != nil {
		return Entry{}, fmt.Errorf("reopen %s: %w", key, err)
	}
	e.State, e.Typing, e.Number = state, nil, 0
	return e, s.writeLocked(e)
}

// Finished returns a finished entry as it was, or ErrNoEntry if its marker is gone.
func (s *Store) Finished(key string) (Entry, error) { return s.read(key + doneSuffix) }

// List returns all unfinished entries: updates by id, then prompts by receipt. An unreadable file
// goes to quarantine, as spool.Unreported. If a file cannot be read now, that is logged, and the
// error is ErrUnread.
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
		case err != nil: // neither this nor a failed quarantine blocks the readable entries
			s.log.Error("inbox_entry_not_read", logkey.File, name, logkey.Error, err)
			left = append(left, unread{key, err})
		case e.Key != "":
			if shown, is := s.drafts.Load(key); is && e.State.IsOffered() {
				number := e.Number
				e, _ = shown.(Entry)
				e.Number = max(e.Number, number)
			}
			entries = append(entries, e)
		}
	}
	slices.SortFunc(entries, inOrder)
	return entries, left, nil
}

// setAside finishes an entry and keeps it in quarantine. A crash in between leaves it unfinished.
func (s *Store) setAside(key, reason string) error {
	return s.release(key, true, func(*Entry, error) (bool, func(Entry) error, error) {
		return true, func(Entry) error { return s.setAsideLocked(key, reason) }, nil
	})
}

func (s *Store) setAsideLocked(key, reason string) error {
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

// setAsideRaw quarantines an update without an entry: a tap, or an update without an id.
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

// confirmed removes the markers of updates below offset that Telegram got the confirmation of some
// time ago, and obsolete ones. A marker that a power cut restores does no harm: no sync.
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
	if err := s.numberLocked(&e); err != nil {
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
