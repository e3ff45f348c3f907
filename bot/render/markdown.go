package render

import (
	"strconv"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

const (
	// maxSource is where Markdown gives up formatting. goldmark takes time that grows with the square of some inputs
	// (seconds for 100 KB of "![]("); an answer is never this long, a pasted log may be.
	maxSource = 96 << 10
	// maxDepth bounds the recursion; deeper blocks are shown as they are written.
	maxDepth = 64

	itemIndent = "   "
	ruleLine   = "──────────"
)

// Markdown turns an agent's GitHub-flavoured Markdown into text and entities: headings become bold lines, lists get
// bullets and numbers, tables are aligned (or listed when too wide for a phone), code keeps its language. HTML is
// shown as text. Terminal escapes are removed. It never fails: what it cannot format it shows as written.
func Markdown(src string) (out Text) {
	src = clean(src)
	if len(src) > maxSource || tooDeep(src) {
		return Plain(src)
	}
	// goldmark is foreign code over foreign bytes; an answer without formatting is better than no answer.
	defer func() {
		if recover() != nil {
			out = Plain(src)
		}
	}()
	source := []byte(src)
	m := markdown{source: source, writer: &writer{}}
	m.blocks(goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source)), 2, 0)
	if out = m.result(); out.Blank() {
		return Plain(src) // nothing but markup, such as a lone fence
	}
	return out
}

// tooDeep finds lines with absurdly many block markers: goldmark's time grows with the square of the nesting.
func tooDeep(src string) bool {
	for line := range strings.Lines(src) {
		markers := len(line) - len(strings.TrimLeft(line, "> \t-*+"))
		if markers > 4*maxDepth && strings.ContainsAny(line[:markers], ">") {
			return true
		}
	}
	return false
}

type markdown struct {
	*writer
	source []byte
}

// blocks writes the children of n, gap line ends between them.
func (m *markdown) blocks(n ast.Node, gap, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
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
