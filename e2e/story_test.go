package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// TestStory plays the minute of `ccbot try --story` with the built programs.
func TestStory(t *testing.T) {
	t.Parallel()
	programtest.Require(t, "tmux")
	ctx := t.Context()
	if end, ok := t.Deadline(); ok { // a step that is not seen is waited for until then
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-time.Minute))
		defer cancel()
	}
	cmd := exec.CommandContext(ctx, filepath.Join(binaries, "ccbot"), "try", "--story", "--fast")
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it leaves nothing
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, step := range []string{"shop is ready", "All 42 tests pass.", "is dead", "The total of a cart", "with no session", "ended by force", "is gone", "is still there", "nothing is left"} {
		assert.Contains(t, string(out), step)
	}
}
