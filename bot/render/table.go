package render

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxTable is the widest table, in columns, that is drawn as one; a phone scrolls or wraps a wider
// one.
const maxTable = 60

// table draws a small table in monospace. A wide table becomes a picture or a file in an answer,
// otherwise a list, one paragraph per row, each cell after its column's name: a wrapped table
// cannot be read.
func (m *markdown) table(t *east.Table, gap, depth int) {
	rows := m.rows(t, depth)
	if len(rows) == 0 {
		return
	}
	g := newGrid(rows, t.Alignments)
	switch _, at := m.trimmed(); {
	case m.answer.takes(at, g.part):
	case g.fits():
		m.ownLine(gap)
		m.as(entity{Type: pre}, func() { m.raw(drawn(g)) })
	default:
		m.listed(rows, gap, math.MaxInt)
	}
}

func (m *markdown) rows(t *east.Table, depth int) [][]Text {
	var rows [][]Text
	for r := t.FirstChild(); r != nil && m.room >= 0; r = r.NextSibling() {
		var row []Text
		for c := r.FirstChild(); c != nil; c = c.NextSibling() {
			row = append(row, m.cell(c, depth))
		}
		if extra := m.excess(r); extra != "" && len(row) > 0 {
			row[len(row)-1] = Join(row[len(row)-1], Plain("|"+extra))
		}
		rows = append(rows, row)
	}
	return rows
}

// excess returns a row's text beyond the columns of the head. Markdown drops it, but an answer with
// a | inside code has text there.
func (m *markdown) excess(row ast.Node) string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := bytes.Cut(m.source[last.Lines().At(0).Stop:], []byte("\n"))
	return unescape(strings.Trim(string(rest), "| \t"))
}

// cell renders a cell on its own, to one line.
func (m *markdown) cell(c ast.Node, depth int) Text {
	inner := markdown{source: m.source, writer: &writer{quotes: m.quotes, room: m.room}}
	inner.inlines(c, depth)
	if inner.room < 0 { // its links became absurdly long
		return Text{Text: string(c.Lines().Value(m.source))}
	}
	return Text{Text: strings.ReplaceAll(inner.text.String(), "\n", " "), Entities: inner.list}
}

func drawn(g grid) string {
	var b strings.Builder
	for n, row := range g.rows {
		b.WriteString(strings.TrimRight(g.line(row, " │ "), " ") + "\n")
		if n == g.heads-1 {
			b.WriteString(g.rule("─", "─┼─") + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

// line has the cells of a row side by side.
func (g grid) line(row []Text, between string) string {
	cells := make([]string, len(g.widths))
	for i, width := range g.widths {
		if i < len(row) {
			cells[i] = row[i].Text
		}
		cells[i] = padded(cells[i], width, g.aligns[i])
	}
	return strings.Join(cells, between)
}

// rule is the line below the head.
func (g grid) rule(sign, between string) string {
	cells := make([]string, len(g.widths))
	for i, width := range g.widths {
		cells[i] = strings.Repeat(sign, width)
	}
	return strings.Join(cells, between)
}

func padded(s string, width int, a east.Alignment) string {
	room := max(width-ansi.StringWidth(s), 0)
	left := 0
	switch a {
	case east.AlignRight:
		left = room
	case east.AlignCenter:
		left = room / 2
	}
	return strings.Repeat(" ", left) + s + strings.Repeat(" ", room-left)
}

// listed writes a table as a list, one paragraph per row, each cell after its column's name; no
// more than enough units.
func (m *markdown) listed(rows [][]Text, gap, enough int) {
	head := rows[0]
	if len(rows) == 1 {
		rows = [][]Text{nil, head} // only a head: show it
		head = nil
	}
	for n, row := range rows[1:] {
		switch {
		case m.units > enough:
			return
		case n == 0:
			m.apart(gap)
		default:
			m.lineEnds(2)
		}
		for i, c := range row {
			filled := func(row []Text) bool { return i < len(row) && row[i].Text != "" }
			if c.Text == "" && (n > 0 || slices.ContainsFunc(rows[1:], filled)) {
				continue // a column without any cell is named once
			}
			m.apart(1)
			if i < len(head) && head[i].Text != "" {
				m.as(entity{Type: bold}, func() { m.write(head[i].Text + ":") })
				m.write(" ")
			}
			m.insert(c)
		}
	}
}

// insert writes a text with its entities; it has no line ends.
func (m *markdown) insert(t Text) {
	m.startLine()
	for _, e := range t.Entities {
		e.Offset += m.units
		m.list = append(m.list, e)
	}
	m.write(t.Text)
}

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

// fits reports whether a phone shows the table in monospace as one.
func (g grid) fits() bool { return g.width() <= maxTable && !g.linked() }

// width returns how many columns of a terminal the table takes.
func (g grid) width() int {
	total := 3 * (len(g.widths) - 1)
	for _, w := range g.widths {
		total += w
	}
	return total
}

// linked finds a cell with a link: there are no links inside code and in pictures, and its target
// would be lost.
func (g grid) linked() bool {
	return slices.ContainsFunc(slices.Concat(g.rows...), func(c Text) bool {
		return slices.ContainsFunc(c.Entities, func(e entity) bool { return e.Type == link && !strings.Contains(c.Text, e.URL) })
	})
}

// part is the table as a separate message: a picture if it can be read, otherwise a file. It is
// false if the text shows it better.
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

// csv has all cells as text. A cell that a spreadsheet would take for a formula gets a quote, as
// people do it by hand.
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
		return "\uFEFF" + b.String() // otherwise a spreadsheet takes it for Latin
	}
	return b.String()
}

func inert(cell string) string {
	if strings.IndexAny(cell, "=@") == 0 || strings.IndexAny(cell, "+-") == 0 && strings.Trim(cell, "+-0123456789.,%eE ") != "" {
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
	wide := newGrid(cells, g.aligns)
	var b strings.Builder
	for i, row := range cells {
		b.WriteString("| " + wide.line(row, " | ") + " |\n")
		if i == 0 {
			b.WriteString("|-" + wide.rule("-", "-|-") + "-|\n")
		}
	}
	return b.String()
}

// targets is a text in which each link is followed by its address.
func targets(t Text) string {
	var b strings.Builder
	at, rest := 0, t.Text
	for _, e := range formatted(t.Text, t.Entities).Entities {
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

// prefix returns how many bytes of s are its first n units.
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
				widths = append(widths, 1)
			}
			widths[i] = max(widths[i], ansi.StringWidth(c.Text))
		}
	}
	return widths
}

// maxHeads is the maximum number of bytes that the names of columns may add to a listed table: each
// row repeats them.
const maxHeads = 64 << 10

// beforeTables is the place of hugeTables among goldmark's own: link references have 100, tables
// 200.
const beforeTables = 150

// hugeTables keeps goldmark from absurd tables: a row is filled up to the width of the head, so
// that 20 KB of source would have nine million cells. Those are shown as code, as written.
type hugeTables struct{}

// Transform is goldmark's: it is called for each paragraph, and a table is one until then.
func (hugeTables) Transform(p *ast.Paragraph, r text.Reader, _ parser.Context) {
	lines, source := p.Lines(), r.Source()
	for i := 1; i < lines.Len(); i++ {
		line := lines.At(i)
		if value := line.Value(source); !isDelimiter(value) || !isHuge(lines, i, source) {
			continue
		}
		code := ast.NewCodeBlock()
		code.SetLines(lines)
		p.Parent().ReplaceChild(p.Parent(), p, code)
		return
	}
}

// isDelimiter reports whether a line may be the one below the head of a table.
func isDelimiter(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t\n")) == 0
}

// isHuge reports whether a table with its delimiter in line i has many more cells than bytes, most
// of them unwritten, or repeats too much of its head.
func isHuge(lines *text.Segments, i int, source []byte) bool {
	delimiter, head, last := lines.At(i), lines.At(i-1), lines.At(lines.Len()-1)
	columns := bytes.Count(bytes.Trim(delimiter.Value(source), "| \t\n"), []byte("|")) + 1
	rows, size := lines.Len()-i, last.Stop-head.Start
	return columns*rows > 2*size || head.Len()*rows > maxHeads
}
