package transcript

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/internal/ownfile"
)

// An agent can replace its transcript by a link.
func TestP9_LinkedTranscriptIsNotRead(t *testing.T) {
	projects, elsewhere := t.TempDir(), t.TempDir()
	own, moved, other := uuid.New(), uuid.New(), uuid.New()
	folder := filepath.Join(projects, "-src")
	require.NoError(t, os.Mkdir(folder, 0o700))
	at := func(dir string, id uuid.UUID) string { return filepath.Join(dir, id.String()+".jsonl") }
	require.NoError(t, os.WriteFile(at(folder, other), []byte("{}\n"), 0o600))
	require.NoError(t, os.WriteFile(at(elsewhere, moved), []byte("{}\n"), 0o600))
	require.NoError(t, os.Symlink(at(folder, other), at(folder, own)))
	require.NoError(t, os.Symlink(at(elsewhere, moved), at(folder, moved)))

	_, _, err := jsonl.OpenFile(at(folder, own))
	require.ErrorIs(t, err, ownfile.ErrForeign)
	_, err = Find(projects, own)
	require.ErrorIs(t, err, fs.ErrNotExist)

	file, _, err := jsonl.OpenFile(at(folder, moved))
	require.NoError(t, err, "a person may keep a transcript elsewhere")
	require.NoError(t, file.Close())
	found, err := Find(projects, moved)
	require.NoError(t, err)
	assert.Equal(t, at(folder, moved), found)
}
