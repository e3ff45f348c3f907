package claudeui

import (
	"slices"
	"strings"

	"ccbot/internal/capture"
)

// cell is one character and its style. Columns are counted in runes, which is exact at the left
// edge (spaces and signs), and only there columns are compared.
type cell struct {
	r rune
	capture.Style
}

// line is one row of the screen, trailing blank cells cut.
type line []cell

// parseCells splits a capture into styled rows.
func parseCells(text string) (lines []line) {
	var cur line
	capture.Parse(text, func(r rune, s capture.Style) { cur = append(cur, cell{r, s}) },
		func() { lines, cur = append(lines, cur.trimmed()), nil })
	return lines
}

func (l line) trimmed() line {
	for len(l) > 0 && l[len(l)-1].r == ' ' && !l[len(l)-1].Reverse {
		l = l[:len(l)-1]
	}
	return l
}

func blank(r rune) bool { return r == ' ' || r == '\u00a0' }

// String is the row as plain text, trailing blanks cut.
func (l line) String() string {
	var b strings.Builder
	for _, c := range l {
		b.WriteRune(c.r)
	}
	return strings.TrimRight(b.String(), " ")
}

// indent is the column of the first visible character; -1 for a blank row.
func (l line) indent() int {
	for i, c := range l {
		if !blank(c.r) {
			return i
		}
	}
	return -1
}

// lastUnindented returns the last row that begins in the first column, or -1.
func lastUnindented(rows []line) int {
	for i, l := range slices.Backward(rows) {
		if l.indent() == 0 {
			return i
		}
	}
	return -1
}

// first is the first visible character; 0 for a blank row.
func (l line) first() rune {
	if i := l.indent(); i >= 0 {
		return l[i].r
	}
	return 0
}

// only reports whether the row is visible and consists of these characters alone.
func (l line) only(chars string) bool {
	s := strings.TrimSpace(l.String())
	return s != "" && strings.Trim(s, chars) == ""
}
