package render

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

const (
	maxFormula      = 1000    // bytes of a formula in a line: longer source is text with two dollars in it
	maxFormulaBlock = 2 << 10 // bytes in which the end of a formula must come
	beforeEscapes   = 90      // before goldmark's own: a formula's backslashes are not escapes
)

var (
	kindFormula      = ast.NewNodeKind("Formula")
	kindFormulaBlock = ast.NewNodeKind("FormulaBlock")
)

// formula is LaTeX between $ and $, or \( and \).
type formula struct {
	ast.BaseInline
	body string
}

func (*formula) Kind() ast.NodeKind           { return kindFormula }
func (n *formula) Text(_ []byte) []byte       { return []byte(n.body) }
func (n *formula) Dump(source []byte, at int) { ast.DumpHelper(n, source, at, nil, nil) }

// formulaBlock is LaTeX on separate lines, between $$ and $$, or \[ and \].
type formulaBlock struct {
	ast.BaseBlock
	body   []string
	end    string // the closing sign
	closed bool
}

func (*formulaBlock) Kind() ast.NodeKind           { return kindFormulaBlock }
func (*formulaBlock) IsRaw() bool                  { return true }
func (n *formulaBlock) Text(_ []byte) []byte       { return []byte(n.source()) }
func (n *formulaBlock) Dump(source []byte, at int) { ast.DumpHelper(n, source, at, nil, nil) }
func (n *formulaBlock) source() string             { return strings.Trim(strings.Join(n.body, "\n"), "\n") }

// formulas reads formulas in a line. A dollar is a sign of money far more often: a formula begins
// and ends without blanks, stands apart from words and numbers, and has something in it that prose
// has not.
type formulas struct{}

func (formulas) Trigger() []byte { return []byte{'$', '\\'} }

func (formulas) Parse(_ ast.Node, r text.Reader, _ parser.Context) ast.Node {
	before := r.PrecendingCharacter()
	line, _ := r.PeekLine()
	line = bytes.TrimRight(line[:min(len(line), maxFormula)], "\n")
	opening, closing, ok := formulaMarks(line)
	if !ok || closing[0] == '$' && (wordly(before) || before == '$') {
		return nil
	}
	body := line[len(opening):]
	length := bytes.Index(body, []byte(closing))
	if length <= 0 {
		return nil
	}
	rest := body[length+len(closing):]
	body = body[:length]
	after, _ := utf8.DecodeRune(rest)
	if closing[0] == '$' && (len(rest) > 0 && wordly(after) || bytes.IndexByte(rest, '$') == 0) ||
		closing == "$" && !bytes.Equal(body, bytes.TrimSpace(body)) || bytes.IndexByte(body, '`') >= 0 || !mathematical(string(body)) {
		return nil
	}
	r.Advance(len(opening) + length + len(closing))
	return &formula{body: strings.TrimSpace(string(body))}
}

func formulaMarks(line []byte) (opening, closing string, ok bool) {
	for _, pair := range [][2]string{{"$$", "$$"}, {"$", "$"}, {`\(`, `\)`}, {`\[`, `\]`}} {
		if bytes.HasPrefix(line, []byte(pair[0])) {
			return pair[0], pair[1], true
		}
	}
	return "", "", false
}

func wordly(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// mathematical reports whether a text is a formula: something only formulas have, or a single
// letter.
func mathematical(body string) bool {
	body = strings.TrimSpace(body)
	return strings.ContainsAny(body, `\^_={}<>+*|`) && body != "" ||
		len(body) == 1 && unicode.IsLetter(rune(body[0])) || strings.Contains(body, "(") && strings.Contains(body, ")")
}

// formulaBlocks reads formulas on separate lines. A formula without an end is text.
type formulaBlocks struct{}

func (formulaBlocks) Trigger() []byte             { return []byte{'$', '\\'} }
func (formulaBlocks) CanInterruptParagraph() bool { return true }
func (formulaBlocks) CanAcceptIndentedLine() bool { return false }

func (formulaBlocks) Open(_ ast.Node, r text.Reader, _ parser.Context) (ast.Node, parser.State) {
	line, segment := r.PeekLine()
	line = bytes.TrimSpace(line)
	n := &formulaBlock{}
	switch {
	case bytes.HasPrefix(line, []byte("$$")):
		n.end = "$$"
	case bytes.HasPrefix(line, []byte(`\[`)):
		n.end = `\]`
	default:
		return nil, parser.NoChildren
	}
	body := string(line[2:])
	switch at := strings.Index(body, n.end); {
	case at > 0 && at == len(body)-len(n.end):
		n.closed = true
		body = body[:at]
	case at >= 0, !n.closes(r.Source()[segment.Stop:]):
		return nil, parser.NoChildren
	}
	n.body = append(n.body, strings.TrimSpace(body))
	r.AdvanceToEOL()
	return n, parser.NoChildren
}

// closes looks for the end, which comes before a blank line and not too far away.
func (n *formulaBlock) closes(source []byte) bool {
	source = source[:min(len(source), maxFormulaBlock)]
	for line := range bytes.Lines(source) {
		line = bytes.TrimLeft(bytes.TrimSpace(line), "> ")
		if len(line) == 0 {
			return false
		}
		if at := bytes.Index(line, []byte(n.end)); at >= 0 {
			return at == len(line)-len(n.end)
		}
	}
	return false
}

func (formulaBlocks) Continue(node ast.Node, r text.Reader, _ parser.Context) parser.State {
	n := node.(*formulaBlock)
	if n.closed {
		return parser.Close
	}
	line, _ := r.PeekLine()
	body, _, ends := strings.Cut(strings.TrimRight(string(line), " \t\n"), n.end)
	n.body = append(n.body, strings.TrimRight(body, " \t"))
	r.AdvanceToEOL()
	if ends {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

func (formulaBlocks) Close(ast.Node, text.Reader, parser.Context) {}
