package git

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCheckoutsByBranch(t *testing.T) {
	r := inRoom(t)
	assert.Empty(t, Checkouts(r.dir), "it has one work tree only")
	assert.Empty(t, Checkouts(t.TempDir()))
	w := r.add(anywhere)
	other := filepath.Join(filepath.Dir(r.dir), "elsewhere")
	r.git("worktree", "add", "-q", "-b", "fix/a", other)
	gone := filepath.Join(filepath.Dir(r.dir), "gone")
	r.git("worktree", "add", "-q", gone)
	require.NoError(t, os.RemoveAll(gone))
	require.NoError(t, os.Mkdir(filepath.Join(w.Dir, "sub"), 0o700))
	want := []Checkout{{r.dir, "main"}, {w.Dir, "api-2"}, {other, "fix/a"}}
	for _, dir := range []string{r.dir, other, filepath.Join(w.Dir, "sub")} {
		assert.Equal(t, want, Checkouts(dir), dir)
	}
	assert.Equal(t, []string{"", "api-2", "fix/a"}, []string{BranchIn(r.dir), BranchIn(filepath.Join(w.Dir, "sub")), BranchIn(other)})
	in := r
	in.dir = other
	in.git("checkout", "-q", "--detach")
	assert.Empty(t, BranchIn(other))
}

// TestP9_CopiedGitFileShowsNoBranch shows nothing of a repository that has no such work tree.
func TestP9_CopiedGitFileShowsNoBranch(t *testing.T) {
	r := inRoom(t)
	w := r.add(anywhere)
	copied := t.TempDir()
	mark, err := os.ReadFile(filepath.Join(w.Dir, ".git"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(copied, ".git"), mark, 0o600))
	assert.Empty(t, BranchIn(copied))
	assert.Empty(t, Checkouts(copied))
}
