package prompts

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
)

// TakeBack finishes a prompt as returned, because the chat decides about it again. Its last offer,
// n, is refused from now on, also if it comes only later. With held a typed prompt is left alone:
// ErrNoPrompt.
func (s *Store) TakeBack(key string, n Number, held bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	p, outcome, err := s.findLocked(key)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && outcome != "" && p.Number < n: // it is not held yet
		if s.mayRemove.has(key, n) {
			return nil
		}
		return s.putLocked(key+"."+string(Returned), Prompt{Key: key, Number: n, State: Held})
	case err != nil && held:
		return err
	case held && (outcome == Delivered || outcome == "" && p.State != Held):
		return fmt.Errorf("prompt %s is %s: %w", key, cmp.Or(string(outcome), string(p.State)), ErrNoPrompt)
	case outcome != "":
		return nil
	}
	return s.finishLocked(key, Returned)
}

// hasLocked reports whether a prompt has a file, and is no tombstone.
func (s *Store) hasLocked(key string) bool {
	_, err := s.read(key + suffix)
	return !errors.Is(err, fs.ErrNotExist)
}
