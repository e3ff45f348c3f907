package render

import (
	"strings"
)

// writer builds the text. It knows where lines begin, so that nested blocks are indented and blocks are apart by the
// right number of line ends.
type writer struct {
	text     strings.Builder
	units    int    // length so far in UTF-16 units
	newlines int    // line ends at the end of the text
	indent   string // put before the first character of a line
	marker   bool   // a list marker was just written: its item goes on in the same line
	quotes   int    // depth of quotations
	room     int    // bytes that may still come; below 0 it is given up, and nothing more is written
	list     []entity
}

// write adds text as it is; lines after a line end get the indentation.
func (w *writer) write(s string) {
	for line := range strings.Lines(s) {
		if line != "\n" && w.newlines > 0 {
			w.raw(w.indent)
		}
		w.raw(line)
	}
}

func (w *writer) raw(s string) {
	if s == "" || w.room < 0 {
		return
	}
	s = spread(s)
	w.room -= len(s)
	w.text.WriteString(s)
	w.units += units(s)
	w.marker = false
	if trimmed := strings.TrimRight(s, "\n"); trimmed == "" {
		w.newlines += len(s)
	} else {
		w.newlines = len(s) - len(trimmed)
	}
}

// apart makes sure that n line ends separate what was written from what comes; nothing at the very beginning and
// nothing between a list marker and its item.
func (w *writer) apart(n int) {
	if !w.marker {
		w.lineEnds(n)
	}
}

// ownLine is for blocks that cannot share a line with a list marker.
func (w *writer) ownLine(n int) {
	if w.marker {
		n = 1
	}
	w.lineEnds(n)
}

func (w *writer) lineEnds(n int) {
	if w.units > 0 && w.newlines < n {
		w.raw(strings.Repeat("\n", n-w.newlines))
	}
}

// as writes what body writes and marks it with e.
func (w *writer) as(e entity, body func()) {
	w.room -= len(e.URL)
	from := w.units
	body()
	if e.Offset, e.Length = from, w.units-from; e.Length > 0 {
		w.list = append(w.list, e)
	}
}

// result is what was written, without line ends at either end.
func (w *writer) result() Text {
	return formatted(strings.TrimRight(w.text.String(), "\n "), w.clipped())
}

// clipped keeps entities inside the text when its end is trimmed.
func (w *writer) clipped() []entity {
	s := w.text.String()
	limit := w.units - (len(s) - len(strings.TrimRight(s, "\n "))) // only one-unit characters are trimmed
	for i := range w.list {
		e := &w.list[i]
		e.Length = min(end(*e), limit) - e.Offset
	}
	return w.list
}
