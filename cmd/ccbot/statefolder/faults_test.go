package statefolder

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
	"ccbot/internal/disk/disktest"
	"ccbot/internal/gauge"
)

// turnsOfFolder notes that ccbot is alive, and looks at a disk that is almost full and then has
// room.
func turnsOfFolder() *disktest.Turns {
	var d *testDisk
	var dir string
	var now running
	low, room := gauge.Space{Free: mib, Total: 20_000 * mib}, gauge.Space{Free: 10_000 * mib, Total: 20_000 * mib}
	return &disktest.Turns{
		Prepare: func(t *testing.T) string {
			dir, now = t.TempDir(), running{time.Now()}
			d = newDisk(dir, 0)
			d.probe = func(size int) error { return probeFolder(dir, size) }
			return dir
		},
		Turn: func() error {
			err := noteAlive(dir, now)
			for _, d.now = range []gauge.Space{low, room} {
				d.look(context.Background(), false)
			}
			return err
		},
		Done: func(t *testing.T) {
			away, _ := Absence(dir, now, time.Now())
			assert.LessOrEqual(t, away, disktest.HealTime)
			assert.Contains(t, d.said, "1.0 MB", "that it was almost full")
			assert.False(t, d.full)
			for _, name := range []string{lowFile, probe} {
				assert.NoFileExists(t, filepath.Join(dir, name))
			}
		},
	}
}

func TestP8_FolderOutlivesFaults(t *testing.T) {
	disktest.Run(t, func() disktest.Scenario { return turnsOfFolder() })
}

// TestP8_AliveWithoutItsMoment: an earlier moment, which cannot be replaced, does not stay, unless
// nothing can be done.
func TestP8_AliveWithoutItsMoment(t *testing.T) {
	for name, fails := range map[string][]string{"": {"writefile"}, "an earlier moment": {"writefile", "truncate"}} {
		dir := t.TempDir()
		path := filepath.Join(dir, aliveFile)
		require.NoError(t, os.WriteFile(path, []byte("an earlier moment"), 0o600))
		end := disk.Fail(func(op, _ string) error {
			if slices.Contains(fails, op) {
				return syscall.EMFILE
			}
			return nil
		})
		require.NoError(t, noteAlive(dir, running{time.Now()}))
		end()
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, name, string(data))
		require.NoError(t, noteAlive(dir, stopped{}))
	}
}
