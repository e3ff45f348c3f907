package statefolder

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/disk"
)

// TestP8_ClaudeNoteOutlivesFaults: without the note the report is repeated once.
func TestP8_ClaudeNoteOutlivesFaults(t *testing.T) {
	dir := t.TempDir()
	end := disk.Fail(func(string, string) error { return syscall.ENOSPC })
	err := NoteReportedClaude(dir, "2.1.77", "2.1.128")
	end()
	require.ErrorIs(t, err, syscall.ENOSPC)
	assert.False(t, ReportedClaude(dir, "2.1.77", "2.1.128"))
	require.NoError(t, NoteReportedClaude(dir, "2.1.77", "2.1.128"))
	assert.True(t, ReportedClaude(dir, "2.1.77", "2.1.128"))
	assert.False(t, ReportedClaude(dir, "2.1.78", "2.1.128"))
	assert.False(t, ReportedClaude(dir, "2.1.77", "2.1.129"))
}
