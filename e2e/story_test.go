package e2e

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
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
	home := t.TempDir()
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + home, "TMPDIR=" + home} // as for the pictures
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }             // it leaves nothing
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
	for _, step := range []string{"shop is ready", "All 42 tests pass.", "is dead", "The total of a cart", "with no session", "ended by force", "is gone", "is still there", "what was said before", "nothing is left"} {
		assert.Contains(t, string(out), step)
	}
	words, err := os.ReadFile(storyWords)
	require.NoError(t, err)
	assert.Equal(t, string(words), storySaid(string(out)), "the animation and the pictures tell another story: make pictures")
}

// storyWords has what was said in the story of which the README has pictures.
const storyWords = "../docs/pictures/story.txt"

// storySaid is what the story says in the chat and between its parts, without what differs in each run.
func storySaid(out string) string {
	_, out, _ = strings.Cut(out, "removes everything.")
	out = regexp.MustCompile(`(?m)^(time=.*|  Ended; .*|    (the ccbot with|pid|the window shop) .*)\n`).ReplaceAllString(out, "")
	out = regexp.MustCompile(`ccbot-try-[0-9a-f]+|…\S+|\b[0-9]+ (s|min)\b|pts/[0-9]+|pid [0-9]+`).ReplaceAllString(out, "…")
	return strings.TrimSpace(out) + "\n"
}
