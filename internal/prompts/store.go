package prompts

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

	"github.com/google/uuid"

	"ccbot/internal/keepjson"
	"ccbot/internal/logkey"
	"ccbot/internal/spool"
	"ccbot/port/talk"
)

const (
	suffix      = ".json"   // of an unfinished prompt
	settledName = "settled" // the file of the settled number

	// maxPrompt is far above the longest text that a chat accepts.
	maxPrompt = 64 << 20

	// tombstoneTTL is the least age of a tombstone that is removed: until then it answers how the
	// prompt was typed.
	tombstoneTTL = 48 * time.Hour
)

// Store keeps the prompts of one machine, one file each. It is safe for concurrent use; no other
// process may write the folder.
type Store struct {
	// Failpoint is called at each persisted step. It is nil except in programs built to crash
	// there.
	Failpoint func(name string)

	folder spool.Folder
	log    *slog.Logger

	mu         sync.Mutex
	settled    settled // on disk
	mayRemove  settled // not on disk yet
	tombstones int
	swept      time.Time     // when settled tombstones were last removed
	ttl        time.Duration // of tombstones, see tombstoneTTL
}

// Open opens dir ($CCBOT_DIR/prompts), and creates it if necessary.
func Open(dir string, log *slog.Logger) (*Store, error) {
	s := &Store{folder: spool.Folder{Path: dir, MaxSize: maxPrompt, Fsync: true}, log: log, ttl: tombstoneTTL}
	if err := s.open(); err != nil {
		return nil, fmt.Errorf("open the prompts: %w", err)
	}
	return s, nil
}

func (s *Store) open() error {
	if err := errors.Join(s.folder.Make(), s.folder.Tidy()); err != nil {
		return err
	}
	names, err := s.folder.List()
	if err != nil {
		return err
	}
	for _, name := range names {
		if _, _, is := tombstone(name); is {
			s.tombstones++
		}
	}
	data, err := s.folder.Read(settledName)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var f settled
	if err == nil {
		_, err = keepjson.Unmarshal(data, Version, &f)
	}
	if err != nil { // an old copy of an offer could be typed, which no chat of the same machine sends
		s.log.Error("file_unreadable", logkey.File, filepath.Join(filepath.Base(s.folder.Path), settledName), logkey.Error, err)
	}
	s.settled, s.mayRemove = f, f
	return nil
}

// tombstone returns the key and the outcome of a finished prompt from the name of its file.
func tombstone(name string) (key string, o Outcome, is bool) {
	ext := filepath.Ext(name)
	o = Outcome(strings.TrimPrefix(ext, "."))
	return strings.TrimSuffix(name, ext), o, slices.Contains(outcomes, o)
}

// Accept returns the answer to the offer of a prompt, whose State does not matter, and writes
// nothing for a new one:
//
//   - A new prompt, or one that is held: the prompt in state Held, for the offered session. The
//     caller saves it, as held or with its mark. One that another session holds is saved already.
//   - Another unfinished prompt: the prompt as it is stored.
//   - A finished prompt: the tombstone, with the outcome.
//   - ErrNoPrompt: the number is settled.
//
// If the stored file is damaged, nothing shows how far the prompt has come: it is unproven.
func (s *Store) Accept(o Prompt) (Prompt, Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	o.State, o.Mark, o.Waits, o.Repeats = Held, nil, nil, false
	if o.Number > 0 && s.mayRemove.has(o.Key, o.Number) {
		return Prompt{}, "", fmt.Errorf("prompt %s was offered as %d, which is settled: %w", o.Key, o.Number, ErrNoPrompt)
	}
	p, outcome, err := s.findLocked(o.Key)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && outcome != "" && p.Number < o.Number:
		return o, "", nil
	case spool.MayPass(err) && !errors.Is(err, ErrDamaged):
		return Prompt{}, "", err
	case err != nil:
		s.log.Error("file_unreadable", logkey.File, filepath.Join(filepath.Base(s.folder.Path), o.Key+suffix), logkey.Error, err)
		o.State = Unproven
		return o, "", s.writeLocked(o)
	case outcome != "":
		return p, outcome, nil
	case p.State != Held && p.Number < o.Number: // the engine has it from an earlier offer
		p.Number = o.Number
		return p, "", s.writeLocked(p)
	case p.State != Held:
		return p, "", nil
	case p.Number > o.Number: // a later command has changed the text
		o.Number, o.Text, o.Class = p.Number, p.Text, p.Class
	}
	o.unknown = p.unknown
	if p.Session != o.Session {
		return o, "", s.writeLocked(o)
	}
	o.Waits = p.Waits
	return o, "", nil
}

// Prompt returns an unfinished prompt. It returns ErrNoPrompt if the prompt is finished, or was
// never held.
func (s *Store) Prompt(key string) (Prompt, error) {
	p, err := s.read(key + suffix)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoPrompt
	}
	return p, err
}

// Find returns a prompt, or its tombstone with the outcome. It returns ErrNoPrompt if the prompt
// was never held, or its tombstone is gone.
func (s *Store) Find(key string) (Prompt, Outcome, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, outcome, err := s.findLocked(key)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrNoPrompt
	}
	return p, outcome, err
}

// Save puts the state of an unfinished prompt on disk. It returns ErrNoPrompt for a prompt that was
// finished since it was read.
func (s *Store) Save(p Prompt) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	last, _, err := s.tombstoneLocked(p.Key)
	switch {
	case err == nil && last.Number >= p.Number, p.Number > 0 && s.mayRemove.has(p.Key, p.Number) && !s.hasLocked(p.Key):
		return fmt.Errorf("save prompt %s: %w", p.Key, ErrNoPrompt)
	case err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, ErrDamaged): // Accept reports a damaged file
		return fmt.Errorf("save: %w", err)
	}
	return s.writeLocked(p)
}

// Reword changes the text of a held prompt, by a command with a later number.
func (s *Store) Reword(key string, n Number, text string, class talk.PromptClass) error {
	return s.change(key, n, func(p *Prompt) error { p.Text, p.Class = text, class; return s.writeLocked(*p) })
}

// Withdraw finishes a held prompt, by a command with a later number.
func (s *Store) Withdraw(key string, n Number) error {
	return s.change(key, n, func(p *Prompt) error { return s.finishLocked(p.Key, Dropped) })
}

// change carries out a command about a held prompt once. ErrNoPrompt means that the prompt was
// typed before the command came, or is finished.
func (s *Store) change(key string, n Number, do func(p *Prompt) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, outcome, err := s.findLocked(key)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("prompt %s was not offered, or is settled: %w", key, ErrNoPrompt)
	case err != nil:
		return err
	case outcome == Dropped, outcome == "" && p.Number >= n: // it was carried out before
		return nil
	case outcome != "":
		return fmt.Errorf("prompt %s is %s: %w", key, outcome, ErrNoPrompt)
	case p.State != Held:
		return fmt.Errorf("prompt %s is %s: %w", key, p.State, ErrNoPrompt)
	}
	p.Number = n
	return do(&p)
}

// List returns the unfinished prompts in the order of their numbers. A file that cannot be read is
// logged and stays: an offer decides about it, see Accept. unread reports whether there is one.
func (s *Store) List() (all []Prompt, unread bool, err error) {
	return s.list(func(name string) bool { return filepath.Ext(name) == suffix })
}

// Tombstones returns the finished prompts that the chat has not settled, in the order of their
// numbers. Their outcomes are reported again at a start.
func (s *Store) Tombstones() (all []Prompt, err error) {
	all, _, err = s.list(func(name string) bool { _, _, is := tombstone(name); return is })
	settled := s.settledNow()
	return slices.DeleteFunc(all, func(p Prompt) bool { return settled.has(p.Key, p.Number) }), err
}

func (s *Store) settledNow() settled {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mayRemove
}

func (s *Store) list(is func(name string) bool) (all []Prompt, unread bool, err error) {
	names, err := s.folder.List()
	if err != nil {
		return nil, false, fmt.Errorf("list the prompts: %w", err)
	}
	for _, name := range names {
		if !is(name) {
			continue
		}
		switch p, err := s.read(name); {
		case errors.Is(err, fs.ErrNotExist): // it is just being finished
		case err != nil:
			unread = true
			s.log.Error("prompt_unreadable", logkey.File, name, logkey.Error, err)
		default:
			all = append(all, p)
		}
	}
	slices.SortStableFunc(all, func(a, b Prompt) int { return cmp.Compare(a.Number, b.Number) })
	return all, unread, nil
}

// Last returns the highest known number.
func (s *Store) Last() (last Number) {
	last = s.settledNow().Settled
	all, _, _ := s.list(func(name string) bool { return name != settledName }) // an unread file is logged
	for _, p := range all {
		last = max(last, p.Number)
	}
	return last
}

// Files returns the names of the files that a prompt may have.
func Files(key string) []string {
	names := []string{key + suffix}
	for _, o := range outcomes {
		names = append(names, key+"."+string(o))
	}
	return names
}

// Look reads a prompt, or its tombstone, from a folder that a running ccbot may write. last is as
// for Tells.
func Look(dir, key string, last Number) (p Prompt, known bool) {
	s := &Store{folder: spool.Folder{Path: dir, MaxSize: maxPrompt}}
	p, as, err := s.findLocked(key)
	return p, err == nil && p.Tells(as, last)
}

// Of returns the keys of the unfinished prompts of each session, in the order of their numbers.
func Of(all []Prompt) map[uuid.UUID][]string {
	keys := make(map[uuid.UUID][]string)
	for _, p := range all {
		keys[p.Session] = append(keys[p.Session], p.Key)
	}
	return keys
}

// findLocked returns the stored prompt with a key, unfinished or finished.
func (s *Store) findLocked(key string) (Prompt, Outcome, error) {
	p, err := s.read(key + suffix)
	if !errors.Is(err, fs.ErrNotExist) {
		return p, "", err
	}
	return s.tombstoneLocked(key)
}

// tombstoneLocked returns the last tombstone of a key: a prompt that was returned may have been
// offered again.
func (s *Store) tombstoneLocked(key string) (last Prompt, as Outcome, err error) {
	err = fs.ErrNotExist
	for _, o := range outcomes {
		p, unread := s.read(key + "." + string(o))
		switch {
		case errors.Is(unread, fs.ErrNotExist):
		case unread != nil:
			return Prompt{}, "", unread
		case err != nil || p.Number > last.Number:
			last, as, err = p, o, nil
		}
	}
	return last, as, err
}

// ErrDamaged is returned for a file that cannot be decoded as a prompt.
var ErrDamaged = errors.New("the file is damaged")

func (s *Store) read(name string) (Prompt, error) {
	data, err := s.folder.Read(name)
	if err != nil {
		return Prompt{}, err
	}
	return decode(name, data)
}

func decode(name string, data []byte) (p Prompt, err error) {
	err = json.Unmarshal(data, &p)
	if err == nil && p.Key != strings.TrimSuffix(name, filepath.Ext(name)) {
		err = fmt.Errorf("the file is named %s, but its key is %s", name, p.Key)
	}
	if err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return p, err
}

func (s *Store) writeLocked(p Prompt) error { return s.putLocked(p.Key+suffix, p) }

func (s *Store) putLocked(name string, p Prompt) error {
	p.Version = Version
	if err := p.check(); err != nil {
		return err
	}
	data, err := json.Marshal(p.clone())
	if err == nil {
		err = s.folder.Put(name, append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("save prompt %s: %w", p.Key, err)
	}
	if _, _, is := tombstone(name); is {
		s.tombstones++
	}
	s.at("prompt-stored")
	return nil
}

func (s *Store) path(name string) string { return filepath.Join(s.folder.Path, name) }

func (s *Store) at(failpoint string) {
	if s.Failpoint != nil {
		s.Failpoint(failpoint)
	}
}
