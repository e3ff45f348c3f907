package prompts

import (
	"errors"
	"fmt"
	"io/fs"

	"ccbot/internal/disk"
)

// Finish makes a prompt a tombstone with an outcome. It is a rename, because a rename is one step
// and works on a full disk. Finishing a prompt twice, or an unknown one, is not an error.
func (s *Store) Finish(key string, as Outcome) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.finishLocked(key, as)
}

func (s *Store) finishLocked(key string, as Outcome) error {
	if err := s.renameLocked(key, suffix, "."+string(as)); err != nil {
		return fmt.Errorf("finish prompt %s: %w", key, err)
	}
	return nil
}

// renameLocked changes the suffix of a prompt's file. An absent file is not an error.
func (s *Store) renameLocked(key, from, to string) error {
	err := disk.Rename(s.path(key+from), s.path(key+to))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		s.tombstones++ // a few too many do no harm, see MaySettle
		s.at("prompt-renamed")
		err = s.folder.Sync()
	}
	return err
}
