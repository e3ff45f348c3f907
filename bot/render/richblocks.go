package render

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// rich writes a parsed answer as Markdown again, in a form that Telegram reads as meant: one
// spelling for each thing, and nothing of the text is markup.
type rich struct {
	*pages
	parser parser.Parser
	source []byte
	room   int // bytes that the piece may still become
	answer *attachments
	ended  ended
	before string // the prefix of a flattened item
}

// blocks writes the children of n, gap line ends between them.
func (r *rich) blocks(n ast.Node, gap, depth int) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c != n.FirstChild() {
			r.apart(gap)
		}
		if depth > maxDepth {
			r.prose(string(c.Text(r.source))) //nolint:staticcheck // the only way to the raw text of any subtree
			continue
		}
		r.block(c, depth+1)
	}
}

func (r *rich) block(n ast.Node, depth int) {
	switch n := n.(type) {
	case *ast.Heading:
		r.heading(n, depth)
	case *ast.ThematicBreak:
		r.apart(2)
		r.write([]string{"***"}, 1) // after the mark of an item, dashes would be part of it
		r.apart(2)
	case *ast.FencedCodeBlock:
		lang, rest := fenceInfo(n, r.source)
		r.prose(rest)
		r.code(string(n.Lines().Value(r.source)), lang)
	case *ast.CodeBlock:
		r.code(string(n.Lines().Value(r.source)), "")
	case *formulaBlock:
		r.code(latex(n.source()), "math")
	case *ast.HTMLBlock:
		r.apart(2)
		r.prose(htmlBody(n, r.source))
	case *ast.LinkReferenceDefinition:
		r.prose(strings.TrimRight(string(n.Lines().Value(r.source)), "\n"))
	case *ast.Blockquote:
		r.apart(2)
		inside := func() { r.blocks(n, 2, depth) }
		if !r.within(frame{first: "> ", rest: "> ", blocks: 1, depth: 1}, inside) {
			inside()
		}
		r.apart(2)
	case *ast.List:
		r.list(n, depth)
	case *east.Table:
		r.table(n, depth)
	default: // paragraphs, and blocks this program does not know
		r.paragraph(n, depth)
	}
}

// within writes something inside a frame. If that would be too deep, it writes nothing and returns
// false.
func (r *rich) within(f frame, inside func()) bool {
	if !r.push(f) {
		return false
	}
	inside()
	r.pop()
	return true
}

func (r *rich) heading(n *ast.Heading, depth int) {
	if text := strings.ReplaceAll(r.text(n.FirstChild(), depth), "\n", " "); !blank(text) {
		r.apart(2)
		r.lines([]string{strings.Repeat("#", n.Level) + " " + text}, n, depth)
		r.apart(2)
	}
}

func (r *rich) paragraph(n ast.Node, depth int) {
	text := r.text(n.FirstChild(), depth)
	switch {
	case text == "" && itemBox(n.Parent()) != nil && n.PreviousSibling() == nil:
		r.write(nil, 0) // the box alone
		return
	case text == "" && r.before == "":
		return
	}
	lines := strings.Split(text, "\n")
	lines[0] = r.before + lines[0]
	r.before = ""
	r.lines(broken(lines), n, depth)
}

// broken has the sign of a break at the end of each line but the last: without it Telegram makes
// one line of them.
func broken(lines []string) []string {
	out := make([]string, 0, len(lines))
	for _, l := range lines {
		if l = strings.TrimRight(l, " "); l != "" {
			out = append(out, l+"  ")
		}
	}
	if len(out) == 0 {
		return nil
	}
	out[len(out)-1] = strings.TrimRight(out[len(out)-1], " ")
	return out
}

// lines writes the text of a block if that fits, and else as plain text.
func (r *rich) lines(lines []string, n ast.Node, depth int) {
	switch {
	case len(lines) == 0:
	case r.cost(lines) <= r.capacity():
		r.write(lines, 1)
	default:
		t, _ := r.plain(n.FirstChild(), depth)
		r.prose(t.Text)
	}
}

// prose writes text without formatting.
func (r *rich) prose(s string) {
	s = r.before + s
	r.before = ""
	r.chunks(Plain(s), r.capacity()/2)
	r.apart(2)
}

// chunks writes text in blocks of at most size units, or in smaller ones if its escaped form does
// not fit.
func (r *rich) chunks(t Text, size int) {
	for i, part := range t.Split(size) {
		if i > 0 {
			r.apart(2)
		}
		for j, paragraph := range strings.Split(part.Text, "\n\n") {
			if j > 0 {
				r.apart(2)
			}
			lines := broken(strings.Split(escapedLines(paragraph), "\n"))
			switch {
			case len(lines) == 0:
			case size > 64 && r.cost(lines) > r.capacity():
				r.chunks(Text{Text: paragraph}, size/4)
			default:
				r.write(lines, 1)
			}
		}
	}
}

// code writes a block of code line by line, so that it may continue on the next page.
func (r *rich) code(body, lang string) {
	body = strings.TrimRight(body, "\n")
	if blank(body) {
		return
	}
	fence := strings.Repeat("`", max(3, longestRun(body, '`')+1))
	if len(fence) > 100 {
		r.prose(body)
		return
	}
	r.apart(2)
	r.push(frame{open: fence + lang, shut: fence, gap: 1, blocks: 1}) // which is never too deep
	most := r.capacity() / 2
	for line := range strings.SplitSeq(body, "\n") {
		for len(line) > most {
			n := most
			for !utf8.RuneStart(line[n]) {
				n--
			}
			r.write([]string{line[:n]}, 0)
			line = line[n:]
		}
		r.write([]string{line}, 0)
	}
	r.pop()
	r.apart(2)
}

func (r *rich) list(l *ast.List, depth int) {
	between := 2
	if l.IsTight {
		between = 1
	}
	if _, nested := l.Parent().(*ast.ListItem); !nested {
		r.apart(2)
	}
	number, e := l.Start, r.ended
	other := e.writes > 0 && e.writes == r.writes && e.depth == len(r.stack) && e.ordered == l.IsOrdered() && !e.other
	items := func() {
		for item := l.FirstChild(); item != nil; item = item.NextSibling() {
			if item != l.FirstChild() {
				r.apart(between)
			}
			r.item(item, marker(l, number, other), between, depth)
			number++
		}
	}
	if !r.within(frame{blocks: 1, depth: 1}, items) {
		items()
	}
	r.apart(between)
	r.ended = ended{l.IsOrdered(), other, len(r.stack), r.writes}
}

// ended is the list that was written last. One of the same kind directly after it needs other
// marks; otherwise they would be one.
type ended struct {
	ordered, other bool
	depth, writes  int
}

func marker(l *ast.List, number int, other bool) string {
	switch {
	case l.IsOrdered() && other:
		return strconv.Itoa(number) + ") "
	case l.IsOrdered():
		return strconv.Itoa(number) + ". "
	case other:
		return "+ "
	}
	return "- "
}

func (r *rich) item(n ast.Node, mark string, gap, depth int) {
	f := frame{first: mark, rest: strings.Repeat(" ", len(mark)), again: mark, blocks: 1, depth: 1}
	box := ""
	if b := itemBox(n); b != nil {
		f.first += map[bool]string{true: "[x] ", false: "[ ] "}[b.IsChecked]
		box = map[bool]string{true: "☑ ", false: "☐ "}[b.IsChecked]
	}
	if r.within(f, func() { r.blocks(n, gap, depth) }) {
		return
	}
	r.before = strings.Replace(escaped(strings.TrimSpace(mark)), "&#45;", "•", 1) + " " + box
	r.blocks(n, gap, depth)
	r.before = ""
}

// itemBox is the box of a task, when it is the mark of an item and not something in a heading.
func itemBox(n ast.Node) *east.TaskCheckBox {
	if n == nil || n.Kind() != ast.KindListItem || n.FirstChild() == nil || n.FirstChild().Kind() == ast.KindHeading {
		return nil
	}
	box, _ := n.FirstChild().FirstChild().(*east.TaskCheckBox)
	return box
}

// Rich is Entities for a server that has rich messages (Bot API 10.1): tables, headings, lists of
// tasks, code and formulas as Telegram draws them. An answer without any formatting stays a plain
// text.
//
// Nothing that an agent quotes becomes active: pictures are links, HTML is text, links that act in
// Telegram (tg:) are text.
func Rich(src string, room int) (parts []Part) {
	// goldmark is foreign code over foreign bytes.
	defer func() {
		if recover() != nil {
			parts = Entities(src, room)
		}
	}()
	cleaned := clean(src)
	if len(cleaned) > maxSource {
		return []Part{longAnswer(cleaned, room)}
	}
	r := &rich{pages: newPages(room), parser: newParser(), answer: &attachments{most: maxFiles, room: room}}
	plain := true
	for _, p := range pieces(cleaned, maxPiece) {
		plain = r.piece(p) && plain
	}
	parts = withTexts(r.finish(), room, Markdown)
	if len(parts) > maxParts {
		return []Part{longAnswer(cleaned, room)}
	}
	if len(parts) == 0 || plain && len(parts) == 1 && len(Markdown(cleaned).Split(Limit-room)) == 1 {
		return Entities(src, room)
	}
	return parts
}

// piece writes a piece and reports whether there was no formatting in it.
func (r *rich) piece(p piece) (plain bool) {
	r.apart(2)
	if !p.parsed(maxPiece) {
		if r.answer.takesTable(p.text) {
			r.attach(r.answer.list[len(r.answer.list)-1].part)
			return false
		}
		r.prose(p.text)
		return true
	}
	r.source = []byte(p.text)
	r.room = maxGrowth(len(p.text))
	doc := r.parser.Parse(text.NewReader(r.source))
	plain = isPlain(doc)
	forDrawing(doc)
	writes, files := r.writes, len(r.answer.list)
	r.blocks(doc, 2, 0)
	if r.writes == writes && len(r.answer.list) == files {
		r.prose(p.text) // nothing but markup, such as a lone fence
		return true
	}
	return plain
}

// isPlain reports whether there are only paragraphs of text, with addresses at most, which Telegram
// finds by itself.
func isPlain(doc ast.Node) bool {
	for block := doc.FirstChild(); block != nil; block = block.NextSibling() {
		if block.Kind() != ast.KindParagraph {
			return false
		}
		for n := block.FirstChild(); n != nil; n = n.NextSibling() {
			if k := n.Kind(); k != ast.KindText && k != ast.KindAutoLink && k != ast.KindString {
				return false
			}
		}
	}
	return true
}

// forDrawing changes formulas to Telegram's form.
func forDrawing(doc ast.Node) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if f, ok := n.(*formula); ok && entering {
			f.body = latex(strings.Join(strings.Fields(f.body), " "))
		}
		return ast.WalkContinue, nil
	})
}

// withTexts sets the text of each part: the plain form of its Markdown, as much as a message holds.
// plain returns that form. A part without visible content is left out.
func withTexts(parts []Part, room int, plain func(rich string) Text) []Part {
	var shown []Part
	for _, p := range parts {
		if p.File == nil {
			texts := plain(p.Rich).Split(Limit - room)
			if len(texts) == 0 {
				continue
			}
			p.Text = texts[0]
			// Telegram refuses a rich message of nothing but the signs of lists and lines.
			if len(texts) == 1 && strings.Trim(p.Text.Text, "•◦▪☐☑✅─—–-*.)0123456789 \t\n") == "" {
				p.Rich = ""
			}
		}
		shown = append(shown, p)
	}
	return shown
}
