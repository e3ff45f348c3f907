package render

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// spelling is a way to write the marks of formatting. One that reads well may mean something else next to other marks;
// then the next one is tried.
type spelling struct {
	bold, italic, strike string
	math                 bool // formulas are drawn, else they are code
}

// spellings, the best one first; the last one formats nothing but links and code.
var spellings = []spelling{
	{"**", "*", "~~", true}, {"__", "_", "~~", true}, {"**", "_", "~~", true}, {"__", "*", "~~", true}, {"**", "*", "~~", false}, {},
}

// text is the Markdown of what follows in a block from its node n on, in the first spelling that means the same.
func (r *rich) text(n ast.Node, table bool, depth int) string {
	want, ok := r.plain(n, depth)
	switch {
	case !ok:
		return escapedLines(want.Text)
	case want.Blank():
		return ""
	}
	r.room -= len(want.Text)
	for _, e := range want.Entities {
		r.room -= len(e.URL)
	}
	for i, s := range spellings {
		last := i == len(spellings)-1
		if r.means(r.spelled(n, s, false, depth), want, last) {
			return r.spelled(n, s, table, depth)
		}
	}
	return escapedLines(want.Text)
}

// plain is what a message without rich formatting would show of it. It is false if that became absurdly long; then it is
// the text as it is written.
func (r *rich) plain(n ast.Node, depth int) (Text, bool) {
	m := markdown{source: r.source, writer: &writer{room: r.room}}
	first := n
	for ; n != nil && m.room >= 0; n = n.NextSibling() {
		if box, ok := n.(*east.TaskCheckBox); !ok || !marksItem(box) {
			m.inline(n, depth)
		}
	}
	if m.room < 0 {
		return Text{Text: strings.TrimRight(string(first.Parent().Lines().Value(r.source)), "\n")}, false
	}
	return m.result(), true
}

// means reads what was written, and says whether it is the same text; with the same formatting, unless any will do.
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
	gotText, gotMarks := skeleton(got)
	wantText, wantMarks := skeleton(want)
	return gotText == wantText && (any || slices.Equal(gotMarks, wantMarks))
}

// mark is formatting of the letters from one to another.
type mark struct {
	kind     string
	from, to int
}

// skeleton is a text without its blanks, and its formatting by letters.
func skeleton(t Text) (string, []mark) {
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
	var marks []mark
	for _, e := range t.Entities {
		if m := (mark{string(e.Type), index[e.Offset], index[end(e)]}); m.from < m.to {
			marks = append(marks, m)
		}
	}
	return b.String(), marks
}

// inlineMarkdown writes the text of a block.
type inlineMarkdown struct {
	out    strings.Builder
	said   strings.Builder // text that is not written yet: what may be markup depends on its neighbours
	source []byte
	spelling
	table bool            // no line ends, and bars are escaped
	on    map[string]bool // the marks that are open
	last  rune
}

func (r *rich) spelled(n ast.Node, s spelling, table bool, depth int) string {
	m := inlineMarkdown{source: r.source, spelling: s, table: table, on: map[string]bool{}}
	for ; n != nil; n = n.NextSibling() {
		m.inline(n, depth)
	}
	m.flush()
	return strings.TrimRight(m.out.String(), "\n ")
}

func (m *inlineMarkdown) children(n ast.Node, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if depth > maxDepth {
			m.say(string(c.Text(m.source))) //nolint:staticcheck // the only way to the raw text of any subtree
			continue
		}
		m.inline(c, depth+1)
	}
}

func (m *inlineMarkdown) inline(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Text:
		m.textNode(n)
	case *ast.String:
		m.say(string(n.Value))
	case *ast.CodeSpan:
		m.mark(span(spanBody(n, m.source), m.table))
	case *ast.Emphasis:
		kind := m.italic
		if n.Level >= 2 {
			kind = m.bold
		}
		m.styled(kind, n, depth)
	case *east.Strikethrough:
		m.styled(m.strike, n, depth)
	case *ast.Link:
		m.link(string(n.Destination), "", n, depth)
	case *ast.AutoLink:
		m.autoLink(n)
	case *ast.Image: // as a link: Telegram would fetch it
		m.link(string(n.Destination), "🖼 ", n, depth)
	case *ast.RawHTML:
		m.rawHTML(string(n.Segments.Value(m.source)))
	case *east.TaskCheckBox:
		if !marksItem(n) {
			m.say(map[bool]string{true: "☑ ", false: "☐ "}[n.IsChecked])
		}
	case *formula:
		m.formula(n.body)
	default:
		m.children(n, depth)
	}
}

// marksItem says that a box was written with the mark of its item.
func marksItem(box *east.TaskCheckBox) bool { return itemBox(box.Parent().Parent()) == box }

func (m *inlineMarkdown) textNode(n *ast.Text) {
	raw := string(n.Segment.Value(m.source))
	if !n.IsRaw() {
		raw = unescape(raw)
	}
	m.say(raw)
	if n.SoftLineBreak() || n.HardLineBreak() {
		m.say("\n")
	}
}

// say writes text. Its line ends stay, though Markdown would make blanks of them.
func (m *inlineMarkdown) say(s string) { m.said.WriteString(s) }

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
			m.out.WriteString(map[bool]string{false: "\n", true: " "}[m.table])
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

func (m *inlineMarkdown) styled(kind string, n ast.Node, depth int) {
	if kind == "" || m.on[kind] {
		m.children(n, depth)
		return
	}
	m.on[kind] = true
	m.mark(kind)
	m.children(n, depth)
	m.mark(kind)
	delete(m.on, kind)
}

func (m *inlineMarkdown) rawHTML(tag string) {
	if isBreak(tag) {
		tag = "\n"
	}
	m.say(tag)
}

func (m *inlineMarkdown) autoLink(n *ast.AutoLink) {
	target, label := autoTarget(n, m.source), string(n.Label(m.source))
	if !opens(target) || m.on["["] {
		m.say(label)
		return
	}
	m.mark("[")
	m.say(label)
	m.mark("](" + address(target) + ")")
}

// link writes a link whose target is safe to tap on. Any other is text, with the target behind its label.
func (m *inlineMarkdown) link(target, sign string, n ast.Node, depth int) {
	target = unescape(target)
	linked := opens(target) && !m.on["["]
	if linked {
		m.on["["] = true
		m.mark("[")
	}
	m.say(sign)
	m.children(n, depth)
	if linked {
		m.mark("](" + address(target) + ")")
		delete(m.on, "[")
	}
	label := markdown{source: m.source, writer: &writer{room: maxGrowth(len(m.source))}} // it was shown before
	label.inlines(n, depth)
	switch shown := sign + label.text.String(); {
	case blank(shown):
		m.say(target)
	case !opens(target) && target != "" && !strings.Contains(shown, target):
		m.say(" (" + target + ")")
	}
}

// formula writes LaTeX so that Telegram draws it.
func (m *inlineMarkdown) formula(body string) {
	if !m.math || strings.ContainsAny(body, "$`|\n") {
		m.mark(span(body, m.table))
		return
	}
	m.mark("$" + body + "$")
}

// latex writes a formula without what a parser of HTML would look at.
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
