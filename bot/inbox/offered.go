package inbox

import "fmt"

// Show shows the progress of a prompt that an engine has: Load and List return the changed entry,
// and the file stays as it is. After a crash the engine still knows the progress.
func (s *Store) Show(key string, change func(e *Entry)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if e, err := s.Load(key); err == nil && e.State.isOffered() {
		change(&e)
		s.drafts.Store(key, e)
	}
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

func (s *Store) takeBack(key string) error {
	if s.TakeBack == nil {
		return nil
	}
	if err := s.TakeBack(key); err != nil {
		return fmt.Errorf("take prompt %s back: %w", key, err)
	}
	return nil
}

// leave takes the prompt of an entry back if the entry is no longer offered.
func (s *Store) leave(before State, e Entry) error {
	if !before.isOffered() || e.State.isOffered() {
		return nil
	}
	return s.takeBack(e.Key)
}

// numberLocked gives an offered entry its number.
func (s *Store) numberLocked(e *Entry) (err error) {
	if e.State.isOffered() && e.Number == 0 {
		e.Number, err = s.numbers.next(s.folder)
	}
	return err
}
