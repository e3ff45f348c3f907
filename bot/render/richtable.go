package render

import (
	"math"
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

// table writes a table row by row; a page that ends in it is followed by one that repeats its head. One with too many
// columns, or with rows that fill a page, is shown as it would be without rich messages.
func (r *rich) table(t *east.Table, depth int) {
	var rows []string
	widest := 0
	m := markdown{source: r.source, writer: &writer{}}
	for row := t.FirstChild(); row != nil; row = row.NextSibling() {
		rows = append(rows, r.row(row, &m, depth))
		widest = max(widest, len(rows[len(rows)-1]))
	}
	if len(rows) == 0 {
		return
	}
	if len(t.Alignments) > richColumns || widest+len(rows[0]) > r.capacity()/2 {
		r.wideTable(t, depth)
		return
	}
	r.apart(2)
	if !r.push(frame{open: rows[0] + "\n" + delimiter(t.Alignments), gap: 1, blocks: 2, depth: 1}) {
		r.wideTable(t, depth)
		return
	}
	for _, row := range rows[1:] {
		r.write([]string{row}, 1)
	}
	r.pop()
	r.apart(2)
}

func (r *rich) row(row ast.Node, m *markdown, depth int) string {
	var b strings.Builder
	b.WriteByte('|')
	for c := row.FirstChild(); c != nil; c = c.NextSibling() {
		cell := strings.ReplaceAll(r.text(c.FirstChild(), true, depth), "\n", " ")
		if extra := m.excess(row); c.NextSibling() == nil && extra != "" {
			cell += escaped("|" + extra)
		}
		b.WriteString(" " + cell + " |")
	}
	return b.String()
}

func delimiter(aligns []east.Alignment) string {
	var b strings.Builder
	b.WriteByte('|')
	for _, a := range aligns {
		switch a {
		case east.AlignLeft:
			b.WriteString(":--|")
		case east.AlignRight:
			b.WriteString("--:|")
		case east.AlignCenter:
			b.WriteString(":-:|")
		default:
			b.WriteString("---|")
		}
	}
	return b.String()
}

// wideTable is a file of its own, or code as it is written.
func (r *rich) wideTable(t *east.Table, depth int) {
	m := markdown{source: r.source, writer: &writer{room: maxGrowth(len(r.source))}}
	g := newGrid(m.rows(t, depth), t.Alignments)
	if r.answer.takes(0, g.part) {
		r.attach(r.answer.list[len(r.answer.list)-1].part)
		return
	}
	r.prose(targets(g.listed(math.MaxInt)))
}
