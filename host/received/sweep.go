package received

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/wording"
)

// Run sweeps now and at least every hour, until ctx ends. For ended and ask see Sweep.
func (s *Store) Run(ctx context.Context, ttl time.Duration, ended Ended, ask Ask) error {
	every := time.Hour
	if ttl > 0 {
		every = min(every, max(ttl/12, time.Second)) // or a short time would not be kept
	}
	for {
		if err := s.Sweep(ctx, ttl, ended, ask); err != nil {
			s.log.Warn("inbox_not_cleaned", logkey.Error, err)
		}
		if pause.For(ctx, every) != nil {
			return nil
		}
	}
}

// Ended returns when the last session of a directory ended; the zero time if there is no record of
// one. open is true while a session of the directory has not ended.
type Ended func(dir string) (at time.Time, open bool)

// Ask asks the chat which of some files of a directory no prompt needs; the answer is a call of
// Discard. The age of the others begins again.
type Ask func(ctx context.Context, dir string, names []string) error

// mostAsked is the number of files of a directory that one sweep asks about.
const mostAsked = 1000

// Sweep asks about the files that are older than ttl; with 0 about none. The age of a file begins
// when it came, or when the last session of its directory ended, whichever is later; a file of an
// open session stays. The rest of a file that a crash kept from becoming whole is removed.
func (s *Store) Sweep(ctx context.Context, ttl time.Duration, ended Ended, ask Ask) error {
	due := make(map[string][]string)
	now := s.now().UTC()
	err := s.each(func(key string, r record) error {
		since, open := ended(r.Dir)
		if since.Before(r.At) {
			since = r.At
		}
		if r.Name != "" && len(due[r.Dir]) < mostAsked && ttl > 0 && now.Sub(since) >= ttl && !open {
			due[r.Dir] = append(due[r.Dir], r.Name)
		}
		return s.tidy(key, r)
	})
	for _, dir := range slices.Sorted(maps.Keys(due)) {
		if failed := ask(ctx, dir, slices.Clone(due[dir])); failed != nil {
			err = errors.Join(err, failed)
			continue
		}
		err = errors.Join(err, s.each(func(key string, r record) error {
			if r.Dir != dir || !slices.Contains(due[dir], r.Name) {
				return nil
			}
			r.At = now
			return s.save(key, r)
		}))
	}
	return err
}

// tidy removes what an attempt has left next to a file, and forgets a file that never became whole.
func (s *Store) tidy(key string, r record) error {
	err := s.clear(r, false)
	if err == nil && r.Name == "" {
		err = s.forget(key)
	}
	return err
}

// Discard removes files of a directory which no prompt needs. A file of an open session stays.
func (s *Store) Discard(dir string, names []string, ended Ended) error {
	if _, open := ended(dir); open {
		return nil
	}
	return s.each(func(key string, r record) error {
		if r.Dir != dir || r.Name == "" || !slices.Contains(names, r.Name) {
			return nil
		}
		if err := s.clear(r, true); err != nil {
			return err
		}
		return s.forget(key)
	})
}

// each calls do for each record that is not in use. A damaged one is set aside.
func (s *Store) each(do func(key string, r record) error) error {
	items, err := s.records.List()
	if err != nil {
		return fmt.Errorf("read the records of files: %w", err)
	}
	var errs []error
	for _, item := range items {
		key, ok := strings.CutSuffix(item, recordSuffix)
		if !ok || !s.tryTake(key) {
			continue
		}
		r, err := s.load(key)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			err = nil
		case err == nil:
			err = do(key, r)
		case !errors.Is(err, errUnread):
			err = s.records.Quarantine(key+recordSuffix, s.aside, err.Error())
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("file %s: %w", key, err))
		}
		s.release(key)
	}
	return errors.Join(errs...)
}

// clear removes everything that an attempt has left next to a file. With whole it also removes the
// file, if it is still the one that was put there. A folder that no longer belongs to this uid
// contains no file of ccbot.
func (s *Store) clear(r record, whole bool) error {
	box, err := openFolder(r.Dir, false)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrNotOurs) {
		return nil
	}
	if err != nil {
		return err
	}
	defer box.Close()
	return s.clearIn(box, r, whole)
}

func (s *Store) clearIn(box *os.Root, r record, whole bool) error {
	if err := remove(box, r.Part); err != nil || !whole {
		return err
	}
	info, err := box.Lstat(r.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case !r.is(info):
		s.log.Info("inbox_file_left", logkey.File, wording.Path(filepath.Join(r.Dir, Folder, r.Name)), logkey.Why, "it has changed since it came")
		return nil
	}
	return remove(box, r.Name)
}
