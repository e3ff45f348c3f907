package disktest_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session/disktest"
)

// The disk must be what it says, or the tests on it hold nothing.
func TestTheDiskIsSmallAndCanBeClosed(t *testing.T) {
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
