package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// maxHeads is how much the names of columns may add to a table that is listed, in bytes: each row repeats them.
const maxHeads = 64 << 10

// beforeTables is the place of hugeTables among goldmark's own: link references have 100, tables 200.
const beforeTables = 150

// hugeTables keeps goldmark from tables that are none: a row is filled up to the width of the head, so that 20 KB of
// source would have nine million cells. Those are shown as code, as they are written.
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

// isDelimiter says that a line may be the one below the head of a table.
func isDelimiter(line []byte) bool {
	return bytes.IndexByte(line, '-') >= 0 && len(bytes.Trim(line, "|:- \t\n")) == 0
}

// isHuge says whether a table with its delimiter in line i has many more cells than bytes, most of which are not written
// then, or repeats too much of its head.
func isHuge(lines *text.Segments, i int, source []byte) bool {
	delimiter, head, last := lines.At(i), lines.At(i-1), lines.At(lines.Len()-1)
	columns := bytes.Count(bytes.Trim(delimiter.Value(source), "| \t\n"), []byte("|")) + 1
	rows, size := lines.Len()-i, last.Stop-head.Start
	return columns*rows > 2*size || head.Len()*rows > maxHeads
}
