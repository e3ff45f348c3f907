package claudeui

import (
	"strings"

	"ccbot/internal/capture"
)

// withoutStatus returns the rows below a box without the status line, if one of the outputs is
// exactly what the first of these rows show, and the next row names the permission mode.
func withoutStatus(footer []line, outputs []string) []line {
	for _, output := range outputs {
		rows := statusRows(output)
		if n := len(rows); n > 0 && n < len(footer) && modeRow.MatchString(footer[n].String()) && areRows(footer[:n], rows, statusIndent) {
			return footer[n:]
		}
	}
	return footer
}

// aboveStatus returns the rows above a head without the status line, if one of the outputs is
// exactly what the last of these rows show.
func aboveStatus(above []line, outputs []string) []line {
	for _, output := range outputs {
		rows := statusRows(output)
		if n := len(above) - len(rows); len(rows) > 0 && n >= 0 && areRows(above[n:], rows, 0) {
			return above[:n]
		}
	}
	return above
}

// statusRows returns the rows that Claude Code shows of an output: without blank ones, and without
// blanks around each.
func statusRows(output string) (rows []string) {
	var row strings.Builder
	capture.Parse(output, func(r rune, _ capture.Style) { row.WriteRune(r) }, func() {
		if text := strings.Join(strings.Fields(row.String()), " "); text != "" {
			rows = append(rows, text)
		}
		row.Reset()
	})
	return rows
}

// statusIndent is the indent of a status line; a person may have made it larger.
const statusIndent = 2

// areRows reports whether the lines show the rows, with at least that indent. Claude Code cuts a
// long one at the width of the pane, and marks that with "…".
func areRows(lines []line, rows []string, indent int) bool {
	for i, l := range lines {
		text := strings.Join(strings.Fields(l.String()), " ")
		start, cut := strings.CutSuffix(text, "…")
		whole := text == rows[i]
		if l.indent() < indent || !whole && !(cut && start != "" && strings.HasPrefix(rows[i], start)) {
			return false
		}
	}
	return true
}
