package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// TestStory plays the minute of `ccbot try --story` with the built programs.
func TestStory(t *testing.T) {
	t.Parallel()
	programtest.Require(t, "tmux")
	cmd := exec.CommandContext(t.Context(), filepath.Join(binaries, "ccbot"), "try", "--story", "--fast")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, step := range []string{"shop is ready", "All 42 tests pass.", "is dead", "The total of a cart", "with no session", "ended by force", "is gone", "is still there", "nothing is left"} {
		assert.Contains(t, string(out), step)
	}
}
