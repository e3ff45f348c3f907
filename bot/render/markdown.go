package render

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

const (
	// maxSource is the length above which Markdown is not formatted; an answer is never this long,
	// a pasted log may be.
	maxSource = 96 << 10
	// maxDepth bounds the recursion; deeper blocks are shown as they are written.
	maxDepth = 64

	itemIndent = "   "
	ruleLine   = "──────────"
)

// Markdown turns an agent's GitHub-flavoured Markdown into text and entities: headings become bold
// lines, lists get bullets and numbers, tables are aligned (or listed when too wide for a phone),
// code keeps its language, formulas are code. HTML is shown as text, but for the titles of sections
// that fold. Terminal escapes are removed. It never fails: source that it cannot format is shown as
// written. It hides nothing: sections fold, and content becomes a file, in an answer only, see
// Entities. Its time and memory grow with the length of src, for any content: a long source is
// formatted in pieces, so that a link by reference finds its address only in its own piece.
func Markdown(src string) Text {
	src = clean(src)
	if len(src) > maxSource {
		return Plain(src)
	}
	return formatter{size: maxPiece, parser: newParser(), answer: &attachments{}}.format(src)
}

// formatter formats a source in pieces.
type formatter struct {
	size   int
	parser parser.Parser
	answer *attachments
}

func (f formatter) format(src string) Text {
	list := pieces(src, f.size)
	if len(list) == 1 {
		return f.piece(list[0])
	}
	var all []Text
	add := func(t Text) {
		all = append(all, t)
		f.answer.base += t.Length()
	}
	for _, p := range list {
		if blank(p.text) {
			continue
		}
		if len(all) > 0 {
			add(Plain(p.gap))
		}
		p.text = strings.Trim(p.text, "\n")
		add(f.piece(p))
	}
	return Join(all...)
}

// piece is a piece with its formatting, or as it is written.
func (f formatter) piece(p piece) (out Text) {
	if !p.parsed(f.size) {
		if f.answer.takesTable(p.text) {
			return Text{}
		}
		return Plain(p.text)
	}
	// goldmark is foreign code over foreign bytes; an answer without formatting is better than no
	// answer.
	files := len(f.answer.list)
	defer func() {
		if recover() != nil {
			f.answer.list = f.answer.list[:files]
			out = Plain(p.text)
		}
	}()
	source := []byte(p.text)
	m := markdown{source: source, writer: &writer{room: maxGrowth(len(source))}, answer: f.answer}
	m.blocks(f.parser.Parse(text.NewReader(source)), 2, 0)
	if out = m.result(); m.room < 0 || out.Blank() && len(f.answer.list) == files {
		f.answer.list = f.answer.list[:files]
		return Plain(p.text) // it became absurdly long; or nothing but markup, such as a lone fence
	}
	return out
}

func newParser() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(
		parser.WithParagraphTransformers(util.Prioritized(hugeTables{}, beforeTables)),
		parser.WithBlockParsers(util.Prioritized(formulaBlocks{}, beforeEscapes)),
		parser.WithInlineParsers(util.Prioritized(formulas{}, beforeEscapes)))).Parser()
}

// maxGrowth is how long a source of n bytes may become, with its links. A few bytes may name a long
// address, or the head of a column, again and again.
func maxGrowth(n int) int { return 8*n + 4<<10 }

type markdown struct {
	*writer
	source []byte
	answer *attachments
}

// blocks writes the children of n, gap line ends between them.
func (m *markdown) blocks(n ast.Node, gap, depth int) {
	for c := n.FirstChild(); c != nil && m.room >= 0; c = c.NextSibling() {
		if depth > maxDepth {
			m.apart(gap)
			m.write(string(c.Text(m.source))) //nolint:staticcheck // the only way to the raw text of any subtree
			continue
		}
		m.block(c, gap, depth+1)
	}
}

func (m *markdown) block(n ast.Node, gap, depth int) {
	switch n := n.(type) {
	case *ast.Heading:
		m.apart(2)
		m.as(entity{Type: bold}, func() { m.inlines(n, depth) })
		m.lineEnds(2)
	case *ast.ThematicBreak:
		m.ownLine(gap)
		m.write(ruleLine)
	case *ast.FencedCodeBlock:
		m.fenced(n, gap)
	case *ast.CodeBlock:
		m.code(string(n.Lines().Value(m.source)), "", "", gap)
	case *formulaBlock:
		m.code(n.source(), "math", "", gap)
	case *ast.HTMLBlock:
		m.apart(gap)
		m.write(htmlBody(n, m.source))
	case *ast.LinkReferenceDefinition:
		m.definition(n, gap)
	case *ast.Blockquote:
		m.quotation(n, gap, depth)
	case *ast.List:
		m.items(n, gap, depth)
	case *east.Table:
		m.table(n, gap, depth)
	default: // paragraphs, and blocks this program does not know
		m.apart(gap)
		m.inlines(n, depth)
	}
}

// fenced shows the rest of the info string after the language (a path, a line number) as a separate
// line.
func (m *markdown) fenced(n *ast.FencedCodeBlock, gap int) {
	lang, rest := fenceInfo(n, m.source)
	if rest != "" {
		m.apart(gap)
		m.write(rest)
		gap = 1
	}
	m.code(string(n.Lines().Value(m.source)), lang, rest, gap)
}

// fenceInfo reads an info string: a language, and the rest.
func fenceInfo(n *ast.FencedCodeBlock, source []byte) (lang, rest string) {
	var info string
	if n.Info != nil {
		info = strings.TrimSpace(string(n.Info.Segment.Value(source)))
	}
	first, rest, _ := strings.Cut(info, " ")
	lang = language(first)
	if lang == "" || blank(string(n.Lines().Value(source))) {
		rest = info
	}
	return lang, unescape(strings.TrimSpace(rest))
}

// code writes a block of code, or has it become a file. It begins at the margin even inside a list:
// a block is one entity.
func (m *markdown) code(body, lang, name string, gap int) {
	body = strings.TrimRight(body, "\n")
	if body == "" {
		return
	}
	if _, at := m.trimmed(); m.answer.takes(at, func(caption int) (Part, bool) { return codeFile(spread(body), lang, name, caption) }) {
		return
	}
	m.ownLine(gap)
	m.as(entity{Type: pre, Language: lang}, func() { m.raw(body) })
}

// language is name when it looks like the name of a language, else nothing.
func language(name string) string {
	strange := func(r rune) bool {
		return !('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("+-#._", r))
	}
	if len(name) > 32 || strings.IndexFunc(name, strange) >= 0 {
		return ""
	}
	return name
}

func htmlBody(n *ast.HTMLBlock, source []byte) string {
	body := string(n.Lines().Value(source))
	if n.HasClosure() {
		body += string(n.ClosureLine.Value(source))
	}
	return strings.TrimRight(body, "\n")
}

// definition shows "[x]: address" as written: it may be meant as text, and nothing of an answer may
// vanish.
func (m *markdown) definition(n ast.Node, gap int) {
	if _, follows := n.PreviousSibling().(*ast.LinkReferenceDefinition); follows {
		gap = 1
	}
	m.apart(gap)
	m.write(strings.TrimRight(string(n.Lines().Value(m.source)), "\n"))
}

// quotation: quotes cannot be nested in Telegram, an inner one gets a mark in front of its lines. A
// long one is folded in an answer.
func (m *markdown) quotation(n ast.Node, gap, depth int) {
	m.ownLine(gap)
	indent := m.indent
	if m.quotes > 0 {
		m.indent += "> "
	}
	m.quotes++
	m.marker = true // the quote's own first line needs no distance
	from := m.text.Len()
	m.as(entity{Type: quote}, func() { m.blocks(n, 2, depth) })
	said := m.text.String()[from:]
	isLong := strings.Count(said, "\n") >= 6 || len(said) > 800 // Telegram shows three lines of a folded one
	if last := len(m.list) - 1; last >= 0 && m.answer.most > 0 && isLong {
		m.list[last].Type = quoteX
	}
	m.quotes--
	m.marker = false
	m.indent = indent
}

func (m *markdown) items(l *ast.List, gap, depth int) {
	between := 2
	if l.IsTight {
		between = 1
	}
	if _, nested := l.Parent().(*ast.ListItem); nested {
		gap = 1
	}
	m.ownLine(gap)
	number := l.Start
	for item := l.FirstChild(); item != nil; item = item.NextSibling() {
		if item != l.FirstChild() {
			m.lineEnds(between)
		}
		mark := "• "
		switch {
		case itemBox(item) != nil:
			mark = "" // the check box replaces it
		case l.IsOrdered():
			mark = strconv.Itoa(number) + string(rune(l.Marker)) + " "
		}
		number++
		m.item(item, mark, between, depth)
	}
}

func (m *markdown) item(n ast.Node, mark string, gap, depth int) {
	m.write(mark)
	m.marker = mark != ""
	indent := m.indent
	if mark == "" {
		m.startLine()
	}
	m.indent += itemIndent
	m.blocks(n, gap, depth)
	m.marker = false
	m.indent = indent
}

// startLine writes the indentation now, before a deeper one is set for the lines that follow.
func (m *markdown) startLine() {
	if m.newlines > 0 {
		m.raw(m.indent)
	}
	m.newlines, m.marker = 0, true
}

// writer builds the text. It knows where lines begin, so that nested blocks are indented and blocks
// are apart by the right number of line ends.
type writer struct {
	text     strings.Builder
	units    int    // length so far in UTF-16 units
	newlines int    // line ends at the end of the text
	indent   string // put before the first character of a line
	marker   bool   // a list marker was just written: its item continues in the same line
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

// apart makes sure that n line ends separate the written text from the next; none at the very
// beginning and none between a list marker and its item.
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

// as calls body and marks its text with e.
func (w *writer) as(e entity, body func()) {
	w.room -= len(e.URL)
	from := w.units
	body()
	if e.Offset, e.Length = from, w.units-from; e.Length > 0 {
		w.list = append(w.list, e)
	}
}

// result is the written text, without line ends at either end.
func (w *writer) result() Text {
	text, limit := w.trimmed()
	for i := range w.list { // entities lie inside the text
		e := &w.list[i]
		e.Length = min(end(*e), limit) - e.Offset
	}
	return formatted(text, w.list)
}

// trimmed is the text without the blanks at its end, and its length.
func (w *writer) trimmed() (text string, length int) {
	s := w.text.String()
	text = strings.TrimRight(s, "\n ")
	return text, w.units - (len(s) - len(text)) // only one-unit characters are trimmed
}
