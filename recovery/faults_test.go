package recovery_test

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk/disktest"
	"ccbot/internal/each"
	"ccbot/recovery"
)

// turnsOfBackups copies the records, keeps a record that is about to leave, and erases another.
func turnsOfBackups() *disktest.Turns {
	var s *shelf
	var kept, erased uuid.UUID
	var expired string
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir := filepath.Join(t.TempDir(), "state")
			require.NoError(t, os.Mkdir(dir, 0o700))
			s = newShelf(dir)
			kept, _ = s.left(t, 1)
			var file string
			erased, file = s.left(t, 2)
			require.NoError(t, s.Keep(erased))
			made := s.file(s.mustMake(t))
			for n := range 9 {
				require.NoError(t, os.Link(made, s.file(backupNoon.Add(-time.Duration(n+1)*time.Hour).Format("2006-01-02T15-04-05.000Z"))))
			}
			require.NoError(t, os.Remove(file))
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, ".2026-03-04T02-00-00.000Z.tar.gz123"), nil, 0o600))
			s.setTime(backupNoon.Add(24 * time.Hour))
			expired = filepath.Join(s.Dir, "purged", recordFile(3))
			require.NoError(t, os.WriteFile(expired, []byte("{}"), 0o600))
			long := s.Now().Add(-2 * recovery.PurgedFor)
			require.NoError(t, os.Chtimes(expired, long, long))
			require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "purged", ".x123"), nil, 0o600))
			require.NoError(t, os.MkdirAll(filepath.Join(recovery.UpgradeCopy(dir, 2), "sessions"), 0o700))
			return dir
		},
		Turn: disktest.InOrder(
			func() error { return s.Erase(context.Background(), erased) },
			func() error { _, err := s.Make(context.Background()); return err },
			func() error { return s.Keep(kept) },
			func() error { return s.Expire() },
		),
		Done: func(t *testing.T) {
			assert.NoFileExists(t, expired)
			assert.FileExists(t, filepath.Join(s.Dir, "purged", recordFile(1)))
			assert.NoFileExists(t, filepath.Join(s.Dir, "purged", recordFile(2)))
			names := s.names(t)
			assert.Len(t, names, 10)
			for _, name := range names {
				assert.Equal(t, []string{recordFile(1)}, slices.Collect(maps.Keys(s.backup(t, name))), name)
			}
			assert.ElementsMatch(t, append(each.As(names, func(name string) string { return name + ".tar.gz" }), "purged"), s.entries(t), "no write that was cut short is left")
		},
	}
}

func TestP8_BackupsOutliveFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfBackups() })
}
