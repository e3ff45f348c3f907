package inbox

import (
	"errors"
	"fmt"

	"ccbot/port/talk"
)

// MayBeHeld reports whether an engine has the prompt, or may have it.
func (e Entry) MayBeHeld() bool {
	return e.State.IsOffered() || e.State == Accepted && e.Number != 0
}

// Show shows the progress of a prompt that an engine has: Load and List return the changed entry,
// and the file stays as it is. After a crash the engine still knows the progress.
func (s *Store) Show(key string, change func(e *Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, err := s.Load(key); err == nil && e.State.IsOffered() {
		change(&e)
		s.drafts.Store(key, e)
	}
}

// ErrTaking is returned for a prompt that the chat is taking back at this moment.
var ErrTaking = errors.New("the prompt is being taken back")

// Leave changes an entry whose engine no longer has the prompt of number n. With delivered the
// entry is finished, otherwise a person has to decide about it.
func (s *Store) Leave(key string, n int64, delivered bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, err := s.Load(key)
	switch {
	case errors.Is(err, ErrNoEntry), err == nil && (e.Number > n || !e.MayBeHeld()):
		return nil
	case err != nil:
		return err
	case delivered:
		return s.finishLocked(key)
	case s.leaving[key] > 0:
		return fmt.Errorf("entry %s: %w", key, ErrTaking)
	}
	e.State, e.Stale, e.Reported, e.Typing, e.Number = Asked, false, nil, nil, 0
	return s.writeLocked(e)
}

// Draft keeps e in memory, as Change does after ErrDraft, and takes its prompt back, which was
// offered as another entry. It does not fail if the disk does. A finished entry stays finished.
func (s *Store) Draft(e, offered Entry) error {
	s.mu.Lock()
	s.leaving[e.Key]++
	s.mu.Unlock()
	e.Number = 0
	if s.TakeBack != nil && offered.Number != 0 && s.TakeBack(offered, true) != nil {
		e.Number = offered.Number // the engine may have it
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.stayLocked(e.Key)
	if _, err := s.read(e.Key + entrySuffix); errors.Is(err, ErrNoEntry) {
		return fmt.Errorf("draft %s: %w", e.Key, ErrNoEntry)
	}
	s.drafts.Store(e.Key, e)
	return nil
}

// NextNumber returns the number of a command about a prompt. It is later than all before.
func (s *Store) NextNumber() (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers.next(s.folder)
}

// LastNumber returns the last number that was used.
func (s *Store) LastNumber() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.numbers.last
}

// NumberAbove makes all later numbers higher than n.
func (s *Store) NumberAbove(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.numbers.last = max(s.numbers.last, n)
}

// release changes an entry under the lock: do returns how to write it. If the entry leaves its
// engine, the prompt is taken back first, without the lock, and do is called again. ends reports
// that the prompt is taken back also if it was typed.
func (s *Store) release(key string, ends bool, do change) error {
	taken := int64(0)
	for {
		e, done, err := s.tryRelease(key, taken, do)
		if done {
			return err
		}
		err = s.TakeBack(e, !ends && (e.State == Held || e.State == Accepted))
		if taken = e.Number; err == nil {
			continue
		}
		s.mu.Lock()
		s.stayLocked(key)
		s.mu.Unlock()
		return fmt.Errorf("take prompt %s back: %w", key, err)
	}
}

// change changes an entry, which may be unread, and returns whether the entry leaves its engine,
// and how to write it; nil: it stays as it is.
type change func(e *Entry, unread error) (leaves bool, write func(Entry) error, err error)

// tryRelease is one try of release, after the offer with number taken was taken back.
func (s *Store) tryRelease(key string, taken int64, do change) (before Entry, done bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if taken != 0 {
		s.stayLocked(key)
	}
	e, unread := s.Load(key)
	before = e
	leaves, write, err := do(&e, unread)
	switch {
	case err != nil || write == nil:
		return before, true, err
	case leaves && before.Number != 0 && before.Number != taken && s.TakeBack != nil:
		s.leaving[key]++
		return before, false, nil
	case leaves:
		e.Number = 0
	}
	return before, true, write(e)
}

func (s *Store) stayLocked(key string) {
	if s.leaving[key]--; s.leaving[key] <= 0 {
		delete(s.leaving, key)
	}
}

// numberLocked gives an offered entry its number.
func (s *Store) numberLocked(e *Entry) (err error) {
	if e.State.IsOffered() && e.Number == 0 {
		e.Number, err = s.numbers.next(s.folder)
	}
	return err
}

// Offer returns an entry as an engine gets it.
func (e Entry) Offer() talk.Offer {
	return talk.Offer{Key: e.Key, Number: e.Number, Text: e.Typed(), Class: e.Class, Since: e.Received, To: e.Place, Asks: e.Asks}
}

// Finish marks an entry as finished: it is never handed on again. Finishing a key twice, or an
// unknown one, is not an error.
func (s *Store) Finish(key string) error {
	return s.release(key, true, func(*Entry, error) (bool, func(Entry) error, error) {
		return true, func(Entry) error { return s.finishLocked(key) }, nil
	})
}

// FinishIn is Finish for an entry in a given state, atomically. It returns ErrNoEntry if the entry
// is in another state, or finished.
func (s *Store) FinishIn(key string, state State) error {
	return s.release(key, false, func(e *Entry, err error) (bool, func(Entry) error, error) {
		if err == nil && e.State != state {
			err = fmt.Errorf("entry %s is %s: %w", key, e.State, ErrNoEntry)
		}
		if err != nil {
			err = fmt.Errorf("finish: %w", err)
		}
		return true, func(Entry) error { return s.finishLocked(key) }, err
	})
}
