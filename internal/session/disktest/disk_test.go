package disktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session/disktest"
)

func TestProtectedFolderCanBeWrittenAgain(t *testing.T) {
	disktest.Run(t, 1<<16, func(dir string) {
		inside, beside := filepath.Join(dir, "sub", "file"), filepath.Join(dir, "file")
		require.NoError(t, os.Mkdir(filepath.Dir(inside), 0o700))
		for range 2 {
			heal := disktest.Protect(t, filepath.Dir(inside))
			require.ErrorIs(t, os.WriteFile(inside, nil, 0o600), syscall.EROFS)
			require.NoError(t, os.WriteFile(beside, nil, 0o600))
			heal()
			require.NoError(t, os.WriteFile(inside, nil, 0o600))
		}
	})
}

// The disk must be what it says, or the tests on it hold nothing.
func TestSmallDiskCanBeClosed(t *testing.T) {
	disktest.Run(t, 1<<16, func(dir string) {
		file := filepath.Join(dir, "file")
		free := disktest.Fill(t, dir)
		require.ErrorContains(t, os.WriteFile(file, []byte("x"), 0o600), "no space left on device")
		free()
		require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
		disktest.ReadOnly(t, dir)
		assert.ErrorContains(t, os.WriteFile(file, []byte("y"), 0o600), "read-only file system")
		data, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, "x", string(data))
	})
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err == nil && os.Getenv("CCBOT_DISKTEST") == "" {
		assert.False(t, strings.Contains(string(mounts), t.Name()), "no mount is left behind")
	}
}
