package render

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// spelling is a way to write the marks of formatting. A readable spelling may mean something else
// next to other marks; then the next one is tried.
type spelling struct {
	bold, italic, strike string
	math                 bool // formulas are drawn, else they are code
}

// spellings, the best one first; the last one formats nothing but links and code.
var spellings = []spelling{
	{"**", "*", "~~", true}, {"__", "_", "~~", true}, {"**", "_", "~~", true}, {"__", "*", "~~", true}, {"**", "*", "~~", false}, {},
}

// text is the Markdown of a block from its node n on.
func (r *rich) text(n ast.Node, depth int) string {
	said, ok := r.plain(n, depth)
	if !ok {
		return escapedLines(said.Text)
	}
	return r.spell(said, false)
}

// spell writes a text as plain gives it in the first spelling that means the same.
func (r *rich) spell(said Text, table bool) string {
	if said.Blank() {
		return ""
	}
	r.room -= len(said.Text)
	for _, e := range said.Entities {
		r.room -= len(e.URL)
	}
	want := formatted(said.Text, said.Entities)
	for i, s := range spellings {
		if r.room >= 0 && r.means(spelled(said, s, false), want, i == len(spellings)-1) {
			return spelled(said, s, table)
		}
	}
	return escapedLines(said.Text)
}

// plain returns the content of a message without rich formatting, each of its entities inside
// another or apart. It is false if that became absurdly long; then it is the text as written.
func (r *rich) plain(n ast.Node, depth int) (Text, bool) {
	m := markdown{source: r.source, writer: &writer{room: r.room}}
	first := n
	for ; n != nil && m.room >= 0; n = n.NextSibling() {
		// A box that was written with the mark of its item is not text.
		if box, ok := n.(*east.TaskCheckBox); !ok || itemBox(box.Parent().Parent()) != box {
			m.inline(n, depth)
		}
	}
	if m.room < 0 {
		return Text{Text: strings.TrimRight(string(first.Parent().Lines().Value(r.source)), "\n")}, false
	}
	return Text{Text: m.text.String(), Entities: m.list}, true
}

// means reads the written form, and reports whether it is the same text; with the same formatting,
// unless any will do.
func (r *rich) means(written string, want Text, any bool) bool {
	source := []byte(written)
	first := r.parser.Parse(text.NewReader(source)).FirstChild()
	if first == nil {
		return want.Blank()
	}
	if _, ok := first.(*ast.Paragraph); !ok || first.NextSibling() != nil {
		return false
	}
	got, _ := (&rich{source: source, room: maxGrowth(len(source))}).plain(first.FirstChild(), 0)
	gotText, gotMarks := skeleton(formatted(got.Text, got.Entities))
	wantText, wantMarks := skeleton(want)
	return gotText == wantText && (any || slices.Equal(gotMarks, wantMarks))
}

// formatRange is formatting of the letters from one to another.
type formatRange struct {
	kind     string
	from, to int
}

// skeleton is a text without its blanks, and its formatting by letters.
func skeleton(t Text) (string, []formatRange) {
	var b strings.Builder
	index := make([]int, 0, t.Length()+1) // of the letter at each unit
	letters := 0
	for _, r := range t.Text {
		for range units(string(r)) {
			index = append(index, letters)
		}
		if !unicode.IsSpace(r) {
			b.WriteRune(r)
			letters++
		}
	}
	index = append(index, letters)
	var marks []formatRange
	for _, e := range t.Entities {
		if m := (formatRange{string(e.Type), index[e.Offset], index[end(e)]}); m.from < m.to {
			marks = append(marks, m)
		}
	}
	return b.String(), marks
}

// inlineMarkdown writes the text of a block.
type inlineMarkdown struct {
	out  strings.Builder
	said strings.Builder // unwritten text: its neighbours decide whether it is markup
	rest string          // the remaining text, from the unit at on
	at   int
	spelling
	table bool            // bars are also escaped in code
	on    map[string]bool // the marks that are open
	last  rune
}

// spelled is a text as plain gives it. Its line ends stay, though Markdown would make blanks of
// them.
func spelled(t Text, s spelling, table bool) string {
	m := inlineMarkdown{rest: t.Text, spelling: s, table: table, on: map[string]bool{}}
	list := slices.Clone(t.Entities)
	slices.Reverse(list) // of two entities of the same letters the outer one was written last
	slices.SortStableFunc(list, func(a, b entity) int {
		return cmp.Or(cmp.Compare(a.Offset, b.Offset), cmp.Compare(b.Length, a.Length))
	})
	m.writeText(list, t.Length())
	m.flush()
	return strings.TrimRight(m.out.String(), "\n ")
}

// writeText writes the text up to a unit, with the entities in it, and returns the later entities.
func (m *inlineMarkdown) writeText(list []entity, to int) (behind []entity) {
	for len(list) > 0 && list[0].Offset < to {
		m.said.WriteString(m.next(list[0].Offset))
		list = m.marked(list[0], list[1:])
	}
	m.said.WriteString(m.next(to))
	return list
}

// next is the text up to a unit.
func (m *inlineMarkdown) next(to int) (s string) {
	n := prefix(m.rest, to-m.at)
	s, m.rest, m.at = m.rest[:n], m.rest[n:], to
	return s
}

// marked writes an entity with its content. Formulas are written so that Telegram draws them.
func (m *inlineMarkdown) marked(e entity, list []entity) (behind []entity) {
	var open, shut string
	switch e.Type {
	case code:
		body := m.next(end(e))
		if e.Language == "" || !m.math || strings.ContainsAny(body, "$`|\n") {
			m.mark(span(body, m.table))
		} else {
			m.mark("$" + body + "$")
		}
		return list
	case link:
		open, shut = "[", "]("+address(e.URL)+")"
	case bold:
		open, shut = m.bold, m.bold
	case italic:
		open, shut = m.italic, m.italic
	case strike:
		open, shut = m.strike, m.strike
	}
	if open == "" || m.on[open] {
		return m.writeText(list, end(e))
	}
	m.on[open] = true
	m.mark(open)
	behind = m.writeText(list, end(e))
	m.mark(shut)
	delete(m.on, open)
	return behind
}

func (m *inlineMarkdown) flush() {
	said := spread(m.said.String())
	m.said.Reset()
	for l := range strings.Lines(said) {
		body, ends := strings.CutSuffix(l, "\n")
		starts := m.out.Len() == 0 || strings.HasSuffix(m.out.String(), "\n")
		if starts && !m.table {
			trimmed := strings.TrimLeft(body, " ")
			m.out.WriteString(strings.Repeat(referenceTo('\u00a0'), len(body)-len(trimmed)))
			body = trimmed
		}
		escape(&m.out, body, starts && !m.table, m.last)
		if body != "" {
			m.last, _ = utf8.DecodeLastRuneInString(body)
		}
		if ends && !starts || ends && body != "" { // an empty line would end the block
			m.out.WriteByte('\n')
			m.last = 0
		}
	}
}

// mark writes markup.
func (m *inlineMarkdown) mark(s string) {
	m.flush()
	m.out.WriteString(s)
	m.last = 0
}

// latex writes a formula without characters that are special in HTML.
func latex(s string) string {
	return strings.NewReplacer("<", `\lt `, "&", "& ", "&  ", "& ").Replace(s)
}

func escapedLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = escaped(l)
	}
	return strings.Join(lines, "\n")
}
