package render

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// Rich renders for a server that has rich messages (Bot API 10.1): tables, headings, lists of tasks, sections that fold,
// code and formulas as Telegram draws them. An answer without any formatting stays a plain text.
//
// Nothing that an agent quotes becomes active: pictures are links, HTML is text, links that act in Telegram (tg:) are
// text. The one exception are sections that fold.
type Rich struct{}

// Render implements Renderer.
func (Rich) Render(src string, room int) (parts []Part) {
	// goldmark is foreign code over foreign bytes.
	defer func() {
		if recover() != nil {
			parts = Entities{}.Render(src, room)
		}
	}()
	cleaned := clean(src)
	if len(cleaned) > maxSource {
		return []Part{longAnswer(cleaned, room)}
	}
	r := &rich{pages: newPages(room), parser: newParser(), answer: &attachments{room: room}}
	plain := true
	for _, p := range pieces(unfold(cleaned), maxPiece) {
		plain = r.piece(p) && plain
	}
	parts = withTexts(r.finish(), room)
	if len(parts) > maxParts {
		return []Part{longAnswer(cleaned, room)}
	}
	if len(parts) == 0 || plain && len(parts) == 1 && len(Markdown(cleaned).Split(Limit-room)) == 1 {
		return Entities{}.Render(src, room)
	}
	return parts
}

// piece writes a piece and says whether there was no formatting in it.
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
	writes, files := r.writes, r.answer.count()
	r.blocks(doc, 2, 0)
	if r.writes == writes && r.answer.count() == files {
		r.prose(p.text) // nothing but markup, such as a lone fence
		return true
	}
	return plain
}

// isPlain says that there are only paragraphs of text, with addresses at most, which Telegram finds by itself.
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

// forDrawing changes formulas to what Telegram takes.
func forDrawing(doc ast.Node) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if f, ok := n.(*formula); ok && entering {
			f.body = latex(strings.Join(strings.Fields(f.body), " "))
		}
		return ast.WalkContinue, nil
	})
}

// withTexts gives each part what a message without rich formatting would show of it, as much as it holds. A part in which
// nothing can be seen is left out.
func withTexts(parts []Part, room int) []Part {
	var shown []Part
	for _, p := range parts {
		if p.File == nil {
			texts := Markdown(p.Rich).Split(Limit - room)
			if len(texts) == 0 {
				continue
			}
			p.Text = texts[0]
			if len(texts) == 1 && isOnlyMarks(p.Text.Text) {
				p.Rich = ""
			}
		}
		shown = append(shown, p)
	}
	return shown
}

// isOnlyMarks says that there is nothing but the signs of lists and lines: Telegram refuses a rich message without
// content.
func isOnlyMarks(s string) bool {
	return strings.Trim(s, "•◦▪☐☑✅─—–-*.)0123456789 \t\n") == ""
}
