package hooks

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
)

// putFile writes a file and the folders above it.
func putFile(t *testing.T, path, data string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
}

func TestStatus(t *testing.T) {
	dir, recordID := t.TempDir(), uuid.New()
	_, err := Status(dir, recordID)
	require.ErrorIs(t, err, fs.ErrNotExist)

	want := hookwire.Status{
		Version: hookwire.Version, Launch: recordID.String(), SessionID: uuid.NewString(), Model: "Opus",
		ContextPercent: 12.5, CostUSD: 0.25, At: time.Now().UTC().Round(0),
	}
	_, err = hookwire.WriteStatus(dir, want)
	require.NoError(t, err)
	got, err := Status(dir, recordID)
	require.NoError(t, err)
	assert.Equal(t, want, got)

	other := uuid.New()
	folder := filepath.Join(dir, hookwire.StatusFolder)
	require.NoError(t, os.Rename(filepath.Join(folder, recordID.String()+".json"), filepath.Join(folder, other.String()+".json")))
	_, err = Status(dir, other)
	require.ErrorIs(t, err, hookwire.ErrMalformed, "another launch's")
	putFile(t, filepath.Join(folder, other.String()+".json"), "{")
	_, err = Status(dir, other)
	assert.ErrorIs(t, err, hookwire.ErrMalformed)
}
