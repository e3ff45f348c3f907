package claudeui

import (
	"strings"
	"unicode/utf8"

	"ccbot/agent"
)

// Reader is the agent.Reader of Claude Code.
type Reader struct{}

// Read calls Read.
func (Reader) Read(capture string, status ...string) agent.Screen { return Read(capture, status...) }

// Steady leaves out spinner rows, and the sign before a running tool, which blinks: ● or, on
// macOS, ⏺.
func (Reader) Steady(row string) string {
	if IsSpinner(row) {
		return ""
	}
	for _, sign := range []string{"●", "⏺"} {
		if rest, ok := strings.CutPrefix(row, sign); ok {
			return " " + rest
		}
	}
	return row
}

// Hides finds the texts that Claude Code draws in place of rows.
func (Reader) Hides(row string) bool { return hidden.MatchString(row) }

// isQuestion reports whether Claude asks a question, and no permission: Claude Code begins such a
// dialog with its topics and their ticks. A dialog that is not Whole may have lost its first row.
func isQuestion(d *agent.Dialog) bool {
	if len(d.Lines) == 0 {
		return false
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimSpace(d.Lines[0]))
	return strings.ContainsRune("←☐☒✔", first)
}
