package render

import (
	"slices"
	"strconv"
	"strings"

	"ccbot/internal/lazyregexp"
)

// maxPiece is the number of bytes parsed at once. goldmark's time grows with the square of some
// inputs (half a second for 32 KB of "![]("); piece by piece it grows with their number.
const maxPiece = 8 << 10

// A table stays whole up to maxTableSource bytes, if its lines are short, because it needs its
// head. goldmark's slow inputs are slow within a cell.
const (
	maxTableSource = 32 << 10
	maxTableLine   = 2 << 10
)

// piece is a part of the source that is formatted on its own.
type piece struct {
	text string
	gap  string // the separator from the piece before
}

// pieces cuts a source longer than size at the begin of a block, and only inside a block longer
// than a piece after one of its lines. A fence of any length stays whole, because nothing in it is
// parsed; so does a table. A line stays whole too; a line longer than a piece is a piece alone.
func pieces(src string, size int) []piece {
	if len(src) <= size {
		return []piece{{text: src}}
	}
	var all []piece
	from, to, gap := 0, 0, ""
	for _, u := range unitsOf(src, size) {
		if to > from && to-from+len(u.text) > size {
			all = append(all, piece{src[from:to], gap})
			from, gap = to, u.gap
		}
		to += len(u.text)
	}
	return append(all, piece{src[from:], gap})
}

// parsed reports whether a piece goes to the parser: not a line that is too long, nor absurd
// nesting.
func (p piece) parsed(size int) bool {
	return (len(p.text) <= size || fenceAt(p.text).length > 0 || isParsedTable(p.text)) && !tooDeep(p.text)
}

// unitsOf are the smallest stretches that may become a piece: blocks, and the lines of a block that
// is too long. They are all of src.
func unitsOf(src string, size int) []piece {
	var all []piece
	for _, block := range blocksOf(src) {
		if len(block) <= size || fenceAt(block).length > 0 {
			all = append(all, piece{block, "\n\n"})
			continue
		}
		from, to, ok := tableIn(block)
		if !ok {
			from = len(block)
		}
		all = appendLines(all, block[:from])
		if ok {
			all = appendLines(append(all, piece{block[from:to], "\n\n"}), block[to:])
		}
	}
	return all
}

func appendLines(all []piece, block string) []piece {
	gap := "\n\n"
	for line := range strings.Lines(block) {
		all = append(all, piece{line, gap})
		gap = "\n"
	}
	return all
}

// tableIn finds the lines of a table in a block, from its head to where it ends.
func tableIn(block string) (from, to int, ok bool) {
	at, before := 0, ""
	for line := range strings.Lines(block) {
		switch {
		case ok && strings.TrimSpace(line) == "":
			return from, at, true
		case !ok && strings.Contains(before, "|") && strings.Contains(line, "|") && isDelimiter([]byte(line)):
			from, ok = at-len(before), true
		}
		before = line
		at += len(line)
	}
	return from, at, ok
}

// isWholeTable reports whether s is a table from its first line to its last.
func isWholeTable(s string) bool {
	s = strings.TrimRight(s, "\n")
	from, to, ok := tableIn(s)
	return ok && from == 0 && to == len(s)
}

func isParsedTable(s string) bool {
	if len(s) > maxTableSource || !isWholeTable(s) {
		return false
	}
	return !slices.ContainsFunc(strings.SplitAfter(s, "\n"), func(line string) bool { return len(line) > maxTableLine })
}

// blocksOf cuts at the fences, and at blank lines before unindented text, which cannot belong to a
// list's item.
func blocksOf(src string) []string {
	var all []string
	var open fence
	from, at, afterBlank := 0, 0, false
	cut := func(to int) {
		if to > from {
			all, from = append(all, src[from:to]), to
		}
	}
	for line := range strings.Lines(src) {
		next := at + len(line)
		switch f := fenceAt(line); {
		case open.length > 0:
			if open.closedBy(line) {
				cut(next)
				open = fence{}
			}
		case f.length > 0:
			cut(at)
			open = f
		case afterBlank && !space(uint16(line[0])):
			cut(at)
		}
		afterBlank = strings.TrimSpace(line) == ""
		at = next
	}
	cut(len(src))
	return all
}

// fence is the beginning of a fenced block of code.
type fence struct {
	char   byte
	length int
}

// fenceAt reads a fence in the first line of s; without one its length is 0.
func fenceAt(s string) fence {
	line, _, _ := strings.Cut(s, "\n")
	line = unindented(line)
	if line == "" || line[0] != '`' && line[0] != '~' {
		return fence{}
	}
	f := fence{line[0], leading(line, line[0])}
	if f.length < 3 || f.char == '`' && strings.Contains(line[f.length:], "`") {
		return fence{}
	}
	return f
}

func (f fence) closedBy(line string) bool {
	line = unindented(line)
	n := leading(line, f.char)
	return n >= f.length && strings.TrimSpace(line[n:]) == ""
}

// unindented takes off as many blanks as a fence may have before it.
func unindented(line string) string {
	return line[min(leading(line, ' '), 3):]
}

func leading(s string, c byte) int {
	n := 0
	for n < len(s) && s[n] == c {
		n++
	}
	return n
}

// deepLine has more markers of quotes and lists at its start than are shown nested.
var deepLine = lazyregexp.New(`(?m)^(?:[ \t]*(?:>|(?:[-+*]|[0-9]+[.)])(?:[ \t]|$))){` + strconv.Itoa(maxDepth+1) + `}.*`)

// tooDeep finds such a line that is not a rule: goldmark's time and memory grow with the square of
// the markers.
func tooDeep(src string) bool {
	return slices.ContainsFunc(deepLine.FindAllString(src, -1), func(line string) bool {
		return strings.Trim(line, "- \t") != "" && strings.Trim(line, "* \t") != ""
	})
}
