package render

import (
	"bytes"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxTable is the widest table, in columns, that is drawn as one; a phone scrolls or wraps what is wider.
const maxTable = 60

// table draws a small table in monospace. A wide one becomes a picture or a file in an answer, else a list, one paragraph
// per row, each cell behind its column's name: a wrapped table cannot be read.
func (m *markdown) table(t *east.Table, gap, depth int) {
	rows := m.rows(t, depth)
	if len(rows) == 0 {
		return
	}
	g := newGrid(rows, t.Alignments)
	if m.answer != nil {
		m.ownLine(gap)
		if m.answer.takes(m.units, g.part) {
			return
		}
	}
	if g.fits() {
		m.ownLine(gap)
		m.as(entity{Type: pre}, func() { m.raw(drawn(g)) })
		return
	}
	m.listed(rows, gap, math.MaxInt)
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

// excess is what a row has beyond the columns of the head. Markdown drops it, but an answer with a | inside code has
// text there.
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
	out := inner.result()
	out.Text = strings.ReplaceAll(out.Text, "\n", " ")
	return out
}

func drawn(g grid) string {
	var b strings.Builder
	for n, row := range g.rows {
		var line strings.Builder
		for i, width := range g.widths {
			if i > 0 {
				line.WriteString(" │ ")
			}
			var c Text
			if i < len(row) {
				c = row[i]
			}
			line.WriteString(padded(c.Text, width, g.align(i)))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n == g.heads-1 {
			b.WriteString(headRule(g.widths) + "\n")
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func headRule(widths []int) string {
	rules := make([]string, len(widths))
	for i, w := range widths {
		rules[i] = strings.Repeat("─", w)
	}
	return strings.Join(rules, "─┼─")
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

// listed writes a table as a list, one paragraph per row, each cell behind its column's name; no more than enough units.
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
			if c.Text == "" && (n > 0 || filled(rows[1:], i)) {
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

func filled(rows [][]Text, column int) bool {
	return slices.ContainsFunc(rows, func(row []Text) bool { return column < len(row) && row[column].Text != "" })
}

// insert writes a text that has entities of its own; it has no line ends.
func (m *markdown) insert(t Text) {
	m.startLine()
	for _, e := range t.Entities {
		e.Offset += m.units
		m.list = append(m.list, e)
	}
	m.write(t.Text)
}
