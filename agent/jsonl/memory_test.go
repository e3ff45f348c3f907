package jsonl

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

// TestReaderKeepsNoLongLine: neither half a long line nor one that was passed stays in memory.
func TestReaderKeepsNoLongLine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	long := `"` + strings.Repeat(`a","`, 1<<20) + `"` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(long[:2<<20]), 0o600))
	r := NewForm(func([]byte) ([]Item, error) { return []Item{{Kind: Text}}, nil }).Open(talk.Cursor{Path: path})
	r.Limit = 2 << 20
	defer r.Close()
	for range 2 {
		_, ok, err := r.Next()
		require.NoError(t, err)
		assert.False(t, ok)
		assert.Zero(t, cap(r.line))
	}
	require.NoError(t, os.WriteFile(path, []byte(long), 0o600))
	item, ok, err := r.Next()
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, TooLong, item.Kind)
	assert.Equal(t, 1, r.Broken())
	assert.Less(t, cap(r.line), 2<<20)
}
