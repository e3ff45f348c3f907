package statefolder

import (
	"path/filepath"

	"ccbot/internal/disk"
	"ccbot/internal/spool"
)

// claudeFile has the version of Claude Code that the chat knows to be too old, and the version that
// was needed.
const claudeFile = "claude_old"

// NoteReportedClaude notes that a too old Claude Code was reported to the chat.
func NoteReportedClaude(dir, version, needed string) error {
	return spool.Folder{Path: dir}.Put(claudeFile, claudeNote(version, needed))
}

// ReportedClaude reports whether NoteReportedClaude has noted the same last.
func ReportedClaude(dir, version, needed string) bool {
	data, err := disk.ReadFile(filepath.Join(dir, claudeFile))
	return err == nil && string(data) == string(claudeNote(version, needed))
}

func claudeNote(version, needed string) []byte { return []byte(version + "\n" + needed + "\n") }
