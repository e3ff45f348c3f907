package received

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/internal/keepjson"
	"ccbot/internal/logkey"
	"ccbot/internal/pause"
	"ccbot/internal/wording"
	"ccbot/port/refusal"
)

// Run removes files that are old enough, now and at least every hour, until ctx ends. waits returns
// the file names in prompts that still have to be typed; for ended see Sweep.
func (s *Store) Run(ctx context.Context, ttl time.Duration, waits func() (map[string]bool, error), ended Ended) error {
	every := time.Hour
	if ttl > 0 {
		every = min(every, max(ttl/12, time.Second)) // or a short time would not be kept
	}
	for {
		names, err := waits()
		if err == nil {
			err = s.Sweep(ttl, names, ended)
		}
		if refusal.Is(err, refusal.Unreachable) { // the files stay until the chat is back
			s.log.Debug("inbox_not_cleaned", logkey.Error, err)
		} else if err != nil {
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

// Sweep removes the files that are older than ttl; with 0 it removes none. The age of a file begins
// when it came, or when the last session of its directory ended, whichever is later; a file of an
// open session stays. The age of a file that a waiting prompt names begins again. The rest of a
// file that a crash kept from becoming whole is removed at once.
func (s *Store) Sweep(ttl time.Duration, waiting map[string]bool, ended Ended) error {
	items, err := s.records.List()
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	var errs []error
	for _, item := range items {
		key, ok := strings.CutSuffix(item, recordSuffix)
		if !ok || !s.tryTake(key) {
			continue
		}
		errs = append(errs, s.sweepOne(key, ttl, waiting, ended))
		s.release(key)
	}
	return errors.Join(errs...)
}

func (s *Store) sweepOne(key string, ttl time.Duration, waiting map[string]bool, ended Ended) error {
	r, err := s.load(key)
	now := s.now().UTC()
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, keepjson.ErrNewer):
		return nil
	case errors.Is(err, errUnread):
		return fmt.Errorf("sweep %s: %w", key, err)
	case err != nil:
		return s.records.Quarantine(key+recordSuffix, s.aside, err.Error())
	}
	since, open := ended(r.Dir)
	if since.Before(r.At) {
		since = r.At
	}
	over := ttl > 0 && now.Sub(since) >= ttl && !waiting[r.Name] && !open
	if err := s.clear(r, r.Name != "" && over); err != nil {
		return fmt.Errorf("sweep %s: %w", key, err)
	}
	switch {
	case r.Name == "" || over:
		return s.forget(key)
	case waiting[r.Name]:
		r.At = now
		return s.save(key, r)
	}
	return nil
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
