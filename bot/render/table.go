package render

import (
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// maxTable is the widest table, in columns, that is drawn as one; a phone scrolls or wraps what is wider.
const maxTable = 60

// table draws a small table in monospace. A wide one becomes a list, one paragraph per row, each cell behind its
// column's name: a wrapped table cannot be read.
func (m *markdown) table(t *east.Table, gap, depth int) {
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
	if len(rows) == 0 {
		return
	}
	widths := columnWidths(rows)
	total := 3 * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	if total <= maxTable && !linked(rows) {
		m.ownLine(gap)
		m.as(entity{Type: pre}, func() { m.raw(drawn(rows, widths, t.Alignments)) })
		return
	}
	m.listed(rows, gap)
}

// linked finds a cell with a link: there are no links inside code, and its target would be lost.
func linked(rows [][]Text) bool {
	for _, row := range rows {
		for _, c := range row {
			if slices.ContainsFunc(c.Entities, func(e entity) bool { return e.Type == link && !strings.Contains(c.Text, e.URL) }) {
				return true
			}
		}
	}
	return false
}

// excess is what a row has beyond the columns of the head. Markdown drops it, but an answer with a | inside code has
// text there.
func (m *markdown) excess(row ast.Node) string {
	last := row.LastChild()
	if last == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := strings.Cut(string(m.source[last.Lines().At(0).Stop:]), "\n")
	return strings.Trim(rest, "| \t")
}

// cell renders a cell on its own, to one line.
func (m *markdown) cell(c ast.Node, depth int) Text {
	inner := markdown{source: m.source, writer: &writer{quotes: m.quotes, room: m.room}}
	inner.inlines(c, depth)
	out := inner.result()
	out.Text = strings.ReplaceAll(out.Text, "\n", " ")
	return out
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

func drawn(rows [][]Text, widths []int, alignments []east.Alignment) string {
	var b strings.Builder
	for n, row := range rows {
		var line strings.Builder
		for i, width := range widths {
			if i > 0 {
				line.WriteString(" │ ")
			}
			var c Text
			if i < len(row) {
				c = row[i]
			}
			a := east.AlignNone
			if i < len(alignments) {
				a = alignments[i]
			}
			line.WriteString(padded(c.Text, width, a))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
		if n == 0 {
			b.WriteString(headRule(widths) + "\n")
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

func (m *markdown) listed(rows [][]Text, gap int) {
	head := rows[0]
	if len(rows) == 1 {
		rows = [][]Text{nil, head} // only a head: show it
		head = nil
	}
	for n, row := range rows[1:] {
		if n == 0 {
			m.apart(gap)
		} else {
			m.lineEnds(2)
		}
		for i, c := range row {
			if c.Text == "" {
				continue
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

// insert writes a text that has entities of its own; it has no line ends.
func (m *markdown) insert(t Text) {
	m.startLine()
	for _, e := range t.Entities {
		e.Offset += m.units
		m.list = append(m.list, e)
	}
	m.write(t.Text)
}
