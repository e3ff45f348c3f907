package render

import (
	"encoding/csv"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	east "github.com/yuin/goldmark/extension/ast"
)

const (
	maxPictureRows    = 40 // rows and columns of a picture that can still be read on a phone
	maxPictureColumns = 30
	maxListedCells    = 60 // cells of a table with links that are listed; longer ones become a file
)

// grid is a table; each cell is a text of one line.
type grid struct {
	rows   [][]Text
	aligns []east.Alignment
	widths []int // in columns of a terminal, where Chinese and emoji take two
	heads  int   // how many rows are the head
}

func newGrid(rows [][]Text, aligns []east.Alignment) grid {
	return grid{rows: rows, aligns: aligns, widths: columnWidths(rows), heads: 1}
}

// fits says that a phone shows the table in monospace as one.
func (g grid) fits() bool { return g.width() <= maxTable && !g.linked() }

// width is how many columns of a terminal the table takes.
func (g grid) width() int {
	total := 3 * (len(g.widths) - 1)
	for _, w := range g.widths {
		total += w
	}
	return total
}

// linked finds a cell with a link: there are no links inside code and in pictures, and its target would be lost.
func (g grid) linked() bool {
	for _, row := range g.rows {
		for _, c := range row {
			if slices.ContainsFunc(c.Entities, func(e entity) bool { return e.Type == link && !strings.Contains(c.Text, e.URL) }) {
				return true
			}
		}
	}
	return false
}

func (g grid) align(column int) east.Alignment {
	if column < len(g.aligns) {
		return g.aligns[column]
	}
	return east.AlignNone
}

// part is the table as a message of its own: a picture if it can be read, else a file. It is false for one that is better
// shown in the text.
func (g grid) part(caption int) (Part, bool) {
	size := len(g.rows) - 1
	switch {
	case g.fits() && len(drawn(g)) <= longCode, g.linked() && size*len(g.widths) <= maxListedCells:
		return Part{}, false
	case size > maxPictureRows || len(g.widths) > maxPictureColumns:
		return g.file("table.csv", g.csv(), caption), true
	case g.linked():
		return g.file("table.md", g.markdown(), caption), true
	}
	if data, ok := picture(g); ok {
		return Part{File: &File{Name: "table.png", Data: data, Photo: true}}, true
	}
	return g.file("table.md", g.markdown(), caption), true
}

// file has the size of the table and its beginning as its caption.
func (g grid) file(name, data string, caption int) Part {
	label := Plain(fmt.Sprintf("▦ %d × %d", len(g.widths), len(g.rows)-1))
	return filePart(name, data, label, g.listed(someText), caption)
}

// listed is the table as a list, or its beginning if that is more than enough units.
func (g grid) listed(enough int) Text {
	m := markdown{writer: &writer{room: 1 << 20}}
	m.listed(g.rows, 2, enough)
	return m.result()
}

// csv has all cells as text. A cell that a spreadsheet would take for a formula gets a quote, as people do it by hand.
func (g grid) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	for _, row := range g.rows {
		cells := make([]string, len(row))
		for i, c := range row {
			cells[i] = inert(targets(c))
		}
		_ = w.Write(cells) // to a strings.Builder: it cannot fail
	}
	w.Flush()
	if strings.IndexFunc(b.String(), func(r rune) bool { return r > '~' }) >= 0 {
		return "\uFEFF" + b.String() // else a spreadsheet takes it for Latin
	}
	return b.String()
}

func inert(cell string) string {
	switch {
	case cell == "":
		return cell
	case strings.IndexByte("=@", cell[0]) >= 0,
		strings.IndexByte("+-", cell[0]) >= 0 && strings.Trim(cell, "+-0123456789.,%eE ") != "":
		return "'" + cell
	}
	return cell
}

// markdown is the table as Markdown, its columns aligned.
func (g grid) markdown() string {
	cells := make([][]Text, len(g.rows))
	for i, row := range g.rows {
		for _, c := range row {
			cells[i] = append(cells[i], Text{Text: strings.ReplaceAll(targets(c), "|", `\|`)})
		}
	}
	widths := columnWidths(cells)
	var b strings.Builder
	for i, row := range cells {
		b.WriteString(piped(row, widths, " ", g.align))
		if i == 0 {
			rule := make([]Text, len(widths))
			for j, w := range widths {
				rule[j] = Text{Text: strings.Repeat("-", max(w, 1))}
			}
			b.WriteString(piped(rule, widths, "-", g.align))
		}
	}
	return b.String()
}

func piped(row []Text, widths []int, blank string, align func(int) east.Alignment) string {
	var b strings.Builder
	for i, w := range widths {
		var c Text
		if i < len(row) {
			c = row[i]
		}
		b.WriteString("|" + blank + padded(c.Text, max(w, 1), align(i)) + blank)
	}
	return b.String() + "|\n"
}

// targets is a text with the addresses of its links behind them.
func targets(t Text) string {
	var b strings.Builder
	at, rest := 0, t.Text
	for _, e := range t.Entities {
		if e.Type != link || end(e) < at {
			continue
		}
		n := prefix(rest, end(e)-at)
		b.WriteString(rest[:n])
		if !strings.Contains(t.Text, e.URL) {
			b.WriteString(" (" + e.URL + ")")
		}
		at, rest = end(e), rest[n:]
	}
	return b.String() + rest
}

// prefix is how many bytes of s are its first n units.
func prefix(s string, n int) int {
	at := 0
	for i, r := range s {
		if at >= n {
			return i
		}
		at += units(string(r))
	}
	return len(s)
}

func columnWidths(rows [][]Text) []int {
	var widths []int
	for _, row := range rows {
		for i, c := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c.Text))
		}
	}
	return widths
}
