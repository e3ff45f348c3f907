package render

import (
	"math"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
)

// table writes a table row by row; a page that ends in it is followed by one that repeats its head.
// A table with too many columns, or with rows that fill a page, is a file, or text.
func (r *rich) table(t *east.Table, depth int) {
	m := markdown{source: r.source, writer: &writer{room: maxGrowth(len(r.source))}}
	g := newGrid(m.rows(t, depth), t.Alignments)
	if len(g.rows) == 0 {
		return
	}
	rows := make([]string, len(g.rows))
	widest := 0
	for i, row := range g.rows {
		rows[i] = "|"
		for _, cell := range row {
			rows[i] += " " + r.spell(cell, true) + " |"
		}
		widest = max(widest, len(rows[i]))
	}
	head := frame{open: rows[0] + "\n" + delimiter(t.Alignments), gap: 1, blocks: 2, depth: 1}
	fits := len(t.Alignments) <= richColumns && widest+len(rows[0]) <= r.capacity()/2
	if fits {
		r.apart(2)
	}
	switch {
	case fits && r.within(head, func() {
		for _, row := range rows[1:] {
			r.write([]string{row}, 1)
		}
	}):
		r.apart(2)
	case r.answer.takes(0, g.part):
		r.attach(r.answer.list[len(r.answer.list)-1].part)
	default:
		r.prose(targets(g.listed(math.MaxInt)))
	}
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
