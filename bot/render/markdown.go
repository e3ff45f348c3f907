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
	// maxSource is where Markdown gives up formatting; an answer is never this long, a pasted log may be.
	maxSource = 96 << 10
	// maxDepth bounds the recursion; deeper blocks are shown as they are written.
	maxDepth = 64

	itemIndent = "   "
	ruleLine   = "──────────"
)

// Markdown turns an agent's GitHub-flavoured Markdown into text and entities: headings become bold lines, lists get
// bullets and numbers, tables are aligned (or listed when too wide for a phone), code keeps its language. HTML is
// shown as text. Terminal escapes are removed. It never fails: what it cannot format it shows as written. Its time and
// memory grow with the length of src, whatever is in it: a long one is formatted in pieces, so that a link by reference
// finds its address only in its own.
func Markdown(src string) Text {
	src = clean(src)
	if len(src) > maxSource {
		return Plain(src)
	}
	return inPieces(src, maxPiece)
}

func inPieces(src string, size int) Text {
	list := pieces(src, size)
	if len(list) == 1 {
		return list[0].format(size)
	}
	var all []Text
	for _, p := range list {
		if blank(p.text) {
			continue
		}
		if len(all) > 0 {
			all = append(all, Plain(p.gap))
		}
		p.text = strings.Trim(p.text, "\n")
		all = append(all, p.format(size))
	}
	return Join(all...)
}

// format is the piece with its formatting, or as it is written.
func (p piece) format(size int) (out Text) {
	if !p.parsed(size) {
		return Plain(p.text)
	}
	// goldmark is foreign code over foreign bytes; an answer without formatting is better than no answer.
	defer func() {
		if recover() != nil {
			out = Plain(p.text)
		}
	}()
	source := []byte(p.text)
	m := markdown{source: source, writer: &writer{room: maxGrowth(len(source))}}
	m.blocks(newParser().Parse(text.NewReader(source)), 2, 0)
	if out = m.result(); m.room < 0 || out.Blank() {
		return Plain(p.text) // it became absurdly long; or nothing but markup, such as a lone fence
	}
	return out
}

func newParser() parser.Parser {
	return goldmark.New(goldmark.WithExtensions(extension.GFM), goldmark.WithParserOptions(
		parser.WithParagraphTransformers(util.Prioritized(hugeTables{}, beforeTables)))).Parser()
}

// maxGrowth is how long a source of n bytes may become, with its links. A few bytes may name a long address, or the head of a
// column, again and again.
func maxGrowth(n int) int { return 8*n + 4<<10 }

type markdown struct {
	*writer
	source []byte
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
		m.code(n.Lines(), "", gap)
	case *ast.HTMLBlock:
		m.html(n, gap)
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

// fenced shows what the info string says beyond a language (a path, a line number) as a line of its own.
func (m *markdown) fenced(n *ast.FencedCodeBlock, gap int) {
	var info string
	if n.Info != nil {
		info = strings.TrimSpace(string(n.Info.Segment.Value(m.source)))
	}
	first, rest, _ := strings.Cut(info, " ")
	lang := language(first)
	if lang == "" || blank(string(n.Lines().Value(m.source))) {
		rest = info
	}
	if rest = unescape(strings.TrimSpace(rest)); rest != "" {
		m.apart(gap)
		m.write(rest)
		gap = 1
	}
	m.code(n.Lines(), lang, gap)
}

// code writes a block of code. It begins at the margin even inside a list: a block is one entity.
func (m *markdown) code(lines *text.Segments, lang string, gap int) {
	body := strings.TrimRight(string(lines.Value(m.source)), "\n")
	if body == "" {
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

func (m *markdown) html(n *ast.HTMLBlock, gap int) {
	m.apart(gap)
	body := string(n.Lines().Value(m.source))
	if n.HasClosure() {
		body += string(n.ClosureLine.Value(m.source))
	}
	m.write(strings.TrimRight(body, "\n"))
}

// definition shows "[x]: address" as written: it may be meant as text, and nothing of an answer may vanish.
func (m *markdown) definition(n ast.Node, gap int) {
	if _, follows := n.PreviousSibling().(*ast.LinkReferenceDefinition); follows {
		gap = 1
	}
	m.apart(gap)
	m.write(strings.TrimRight(string(n.Lines().Value(m.source)), "\n"))
}

// quotation: quotes cannot be nested in Telegram, an inner one gets a mark in front of its lines.
func (m *markdown) quotation(n ast.Node, gap, depth int) {
	m.ownLine(gap)
	indent := m.indent
	if m.quotes > 0 {
		m.indent += "> "
	}
	m.quotes++
	m.marker = true // the quote's own first line needs no distance
	m.as(entity{Type: quote}, func() { m.blocks(n, 2, depth) })
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
		case isTask(item):
			mark = "" // the check box stands in its place
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

func isTask(item ast.Node) bool {
	first := item.FirstChild()
	if first == nil || first.FirstChild() == nil {
		return false
	}
	_, ok := first.FirstChild().(*east.TaskCheckBox)
	return ok
}
