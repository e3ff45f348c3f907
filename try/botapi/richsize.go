package botapi

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// sizeOfMarkdown counts blocks roughly as Telegram does: the blocks of GFM (paragraph, heading,
// code, quote, list, table, rule, HTML), and each item of a list and each row of a table, at any
// depth. A list and its items are one level together, as are a table and its rows. Lines of a
// paragraph and cells do not count. Extensions of Telegram's Markdown (details, math) count as the
// paragraphs and the HTML that they are in GFM. The length is the source's: markup counts, which is
// stricter than Telegram.
func sizeOfMarkdown(markdown string) richSize {
	size := richSize{characters: utf8.RuneCountInString(markdown)}
	source := []byte(markdown)
	md := goldmark.New(goldmark.WithExtensions(extension.GFM))
	size.addMarkdown(md.Parser().Parse(text.NewReader(source)), 0, source)
	return size
}

func (r *richSize) addMarkdown(n ast.Node, depth int, source []byte) {
	switch n.Kind() {
	case ast.KindDocument, extast.KindTableCell, ast.KindTextBlock:
	case ast.KindListItem:
		r.enter(depth)
	case extast.KindTableHeader, extast.KindTableRow:
		r.enter(depth)
		r.columns = max(r.columns, n.ChildCount())
	default:
		if n.Type() == ast.TypeBlock {
			depth++
			r.enter(depth)
		}
	}
	r.visible = r.visible || shows(n)
	r.thinking = r.thinking || thinks(n, source)
	for child := n.FirstChild(); child != nil; child = child.NextSibling() {
		r.addMarkdown(child, depth, source)
	}
}

// shows says that a node alone is something to see.
func shows(n ast.Node) bool {
	switch n.Kind() {
	case ast.KindText, ast.KindString, ast.KindCodeSpan, ast.KindAutoLink, ast.KindImage, ast.KindThematicBreak, ast.KindHTMLBlock:
		return true
	case ast.KindCodeBlock, ast.KindFencedCodeBlock:
		return n.Lines().Len() > 0
	}
	return false
}

func thinks(n ast.Node, source []byte) bool {
	var html []byte
	switch n := n.(type) {
	case *ast.RawHTML:
		html = n.Segments.Value(source)
	case *ast.HTMLBlock:
		html = n.Lines().Value(source)
	}
	return strings.Contains(strings.ToLower(string(html)), "<tg-thinking")
}

var htmlTag = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9-]*)[^>]*>`)

// Block tags of https://core.telegram.org/bots/api#rich-message-formatting-options: tags that hold
// others, tags that are counted in one of them, tags without content.
var (
	nestingTags = strings.Fields("p h1 h2 h3 h4 h5 h6 pre blockquote ul ol table details aside figure footer tg-math-block tg-collage tg-slideshow")
	innerTags   = strings.Fields("li tr")
	aloneTags   = strings.Fields("hr img video audio tg-map")
)

// sizeOfHTML counts block tags; a text outside of all of them is one more block. The length is the
// source's.
func sizeOfHTML(html string) richSize {
	size := richSize{characters: utf8.RuneCountInString(html)}
	depth, cells := 0, 0
	for _, m := range htmlTag.FindAllStringSubmatch(html, -1) {
		closing, tag := m[1] != "", strings.ToLower(m[2])
		switch {
		case tag == "td" || tag == "th":
			if !closing {
				cells++
				size.columns = max(size.columns, cells)
			}
		case slices.Contains(nestingTags, tag) && closing:
			depth--
		case closing:
		case slices.Contains(nestingTags, tag):
			depth++
			size.enter(depth)
		case slices.Contains(innerTags, tag):
			cells = 0
			size.enter(depth)
		case slices.Contains(aloneTags, tag):
			size.enter(depth + 1)
			size.visible = true
		case tag == "tg-thinking":
			size.thinking = true
		}
	}
	bare := htmlTag.ReplaceAllString(html, "")
	size.visible = size.visible || !blank(bare)
	if size.blocks == 0 {
		size.enter(1)
	}
	return size
}

// richInput is an InputRichBlock, as far as it counts.
type richInput struct {
	Type    string      `json:"type"`
	Text    any         `json:"text"`
	Summary any         `json:"summary"`
	Blocks  []richInput `json:"blocks"`
	Items   []struct {
		Blocks []richInput `json:"blocks"`
	} `json:"items"`
	Cells [][]struct {
		Text any `json:"text"`
	} `json:"cells"`
}

func sizeOfBlocks(raw json.RawMessage) (size richSize, refusal *apiError) {
	var blocks []richInput
	if err := json.Unmarshal(raw, &blocks); err != nil {
		return size, badRequest("can't parse InputRichBlock: %v", err)
	}
	size.addBlocks(blocks, 1)
	return size, nil
}

func (r *richSize) addBlocks(blocks []richInput, depth int) {
	for _, b := range blocks {
		r.enter(depth)
		r.characters += letters(b.Text) + letters(b.Summary)
		r.thinking = r.thinking || b.Type == "thinking"
		r.visible = r.visible || b.Type == "divider"
		r.addBlocks(b.Blocks, depth+1)
		for _, item := range b.Items {
			r.enter(depth)
			r.addBlocks(item.Blocks, depth+1)
		}
		for _, row := range b.Cells {
			r.enter(depth)
			r.columns = max(r.columns, len(row))
			for _, cell := range row {
				r.characters += letters(cell.Text)
			}
		}
	}
	r.visible = r.visible || r.characters > 0
}

// letters counts the characters of a RichText: a string, a list of them, or an object around one.
func letters(rich any) (n int) {
	switch v := rich.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		for _, part := range v {
			n += letters(part)
		}
	case map[string]any:
		return letters(v["text"])
	}
	return n
}
