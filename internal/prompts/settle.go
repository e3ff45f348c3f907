package prompts

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// settled are the offers and commands whose outcome the chat has, as in their file: all up to
// number Settled, except those of the open prompts since their last offers. So a prompt that is
// held for long keeps no tombstone of a later one.
type settled struct {
	Version int               `json:"version"`
	Settled Number            `json:"settled"`
	Open    map[string]Number `json:"open,omitempty"`
}

func (s settled) has(key string, n Number) bool {
	offered, open := s.Open[key]
	return n <= s.Settled && (!open || n < offered)
}

// MaySettle reports whether Settle would remove tombstones: not more than once a day.
func (s *Store) MaySettle() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.maySettleLocked()
}

func (s *Store) maySettleLocked() bool { return s.tombstones > 0 && time.Since(s.swept) >= s.ttl/2 }

// Settle notes that the chat has the outcome of all offers and commands up to number n, except
// those of the open prompts since the numbers of their last offers. Their tombstones are removed,
// see MaySettle; from then on their numbers are refused.
func (s *Store) Settle(n Number, open map[string]Number) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n < s.mayRemove.Settled { // a later call came first
		return nil
	}
	open = maps.Clone(open)
	maps.DeleteFunc(open, s.mayRemove.has)
	s.mayRemove = settled{Version, n, open}
	if !s.maySettleLocked() {
		return nil
	}
	s.swept = time.Now()
	if s.mayRemove.Settled > s.settled.Settled || !maps.Equal(s.mayRemove.Open, s.settled.Open) {
		data, err := json.Marshal(s.mayRemove)
		if err == nil {
			err = s.folder.Put(settledName, append(data, '\n'))
		}
		if err != nil {
			return fmt.Errorf("settle: %w", err)
		}
		s.settled = s.mayRemove
		s.at("prompts-settled")
	}
	return s.removeSettledLocked()
}

// removeSettledLocked removes the tombstones of settled prompts. One that a power cut restores does
// no harm: no sync.
func (s *Store) removeSettledLocked() error {
	names, err := s.folder.List()
	if err != nil {
		return fmt.Errorf("settle: %w", err)
	}
	var errs []error
	s.tombstones = 0
	for _, name := range names {
		if _, _, is := tombstone(name); !is {
			continue
		}
		p, err := s.read(name)
		info, gone := disk.Lstat(s.path(name))
		unread := spool.MayPass(err) && !errors.Is(err, ErrDamaged)
		if err == nil && !s.settled.has(p.Key, p.Number) || unread || gone == nil && time.Since(info.ModTime()) < s.ttl {
			s.tombstones++
			continue
		}
		errs = append(errs, disk.RemoveAll(s.path(name)))
	}
	return errors.Join(errs...)
}

// SetAside moves the damaged files of unfinished prompts to the folder "quarantine" next to the
// store, as spool.Unreported. Those with a known key stay: an offer decides about them, see Accept.
func (s *Store) SetAside(known func(key string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	names, err := s.folder.List()
	if err != nil {
		return fmt.Errorf("list the prompts: %w", err)
	}
	aside := spool.Loader{Quarantine: filepath.Join(filepath.Dir(s.folder.Path), "quarantine"), Report: true, Log: s.log}
	var errs []error
	for _, name := range names {
		if key, is := strings.CutSuffix(name, suffix); is && !known(key) {
			_, err := aside.LoadOne(s.folder, name, func(data []byte) error {
				_, err := decode(name, data)
				return err
			})
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
