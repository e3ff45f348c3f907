package session

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
)

// turnsOfRecords reads a whole record, removes another one, and looks for unread ones.
func turnsOfRecords() *disktest.Turns {
	var dir string
	var s *Store
	whole, purged := uuid.New(), uuid.New()
	open := func(t *testing.T) *Store {
		s, err := Open(filepath.Join(dir, "sessions"), filepath.Join(dir, "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
		require.NoError(t, err)
		return s
	}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir = t.TempDir()
			for _, id := range []uuid.UUID{whole, purged} {
				r := Record{ID: id, Name: "api", Dir: "/src", State: Archived, AgentSessionID: uuid.New(), CreatedAt: time.Now(), LastEnd: LastEnd{EndedAt: time.Now()}}
				r.Note(time.Now(), "chat.note", "x")
				require.NoError(t, open(t).Create(r))
			}
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "quarantine"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(dir, "quarantine", "sessions-"+uuid.NewString()+".json"), []byte(`{"dir":"/src"}`), 0o600))
			s = open(t)
			return dir
		},
		Turn: disktest.InOrder(
			func() error {
				r, err := s.Whole(whole)
				if err == nil && len(r.History) != 1 {
					err = errors.New("the history is missing")
				}
				return err
			},
			func() error {
				_, err := s.Purge(context.Background(), purged, func(Record) (bool, error) { return true, nil })
				if errors.Is(err, ErrNotFound) { // an earlier turn has removed it
					err = nil
				}
				return err
			},
			func() error {
				if why, unread := s.Unread(uuid.New()); unread {
					return errors.New(why)
				}
				return nil
			},
			func() error {
				if s.UnreadIn(func(string) bool { return false }) {
					return errors.New("the record in quarantine is of another folder")
				}
				return nil
			}),
		Done: func(t *testing.T) {
			assert.Len(t, s.Shared(), 1)
			files, err := os.ReadDir(filepath.Join(dir, "sessions"))
			require.NoError(t, err)
			assert.Len(t, files, 1)
		},
	}
}

func TestP8_RecordsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfRecords() })
}
