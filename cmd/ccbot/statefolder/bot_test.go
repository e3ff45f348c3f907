package statefolder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/statefolder"
)

// TestP4_EmptyBotFileIsDamaged: a disk error must not make another bot's chats this one's.
func TestP4_EmptyBotFileIsDamaged(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, statefolder.CheckBot(dir, "77"))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bot"), []byte("\n"), 0o600))
	assert.ErrorContains(t, statefolder.CheckBot(dir, "77"), "it is empty")
}
