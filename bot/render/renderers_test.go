package render

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"ccbot/try/botapi"
)

func renderers() map[string]func(src string, room int) []Part {
	return map[string]func(src string, room int) []Part{"entities": Entities, "rich": Rich}
}

func TestRenderers(t *testing.T) {
	for _, tt := range renderCases() {
		t.Run(tt.name, func(t *testing.T) {
			parts := Rich(tt.in, 0)
			assert.Empty(t, wrong(parts, 0))
			var rich, seen string
			for _, p := range parts {
				rich += p.Rich
				seen += show(p.Text)
			}
			assert.Equal(t, tt.rich, rich)
			if tt.rich == "" {
				assert.Equal(t, strings.TrimSpace(tt.entities), seen, "a text without formatting")
			}
			parts = Entities(tt.in, 0)
			assert.Empty(t, wrong(parts, 0))
			seen = ""
			for _, p := range parts {
				if p.File == nil {
					seen += show(p.Text)
				}
			}
			if len(parts) == 1 && parts[0].File == nil {
				assert.Equal(t, strings.TrimSpace(tt.entities), strings.TrimSpace(seen))
			}
		})
	}
}

// A part for a server without rich messages is the result of Entities.
func TestRichMarkdownMeansTheSame(t *testing.T) {
	for _, tt := range renderCases() {
		t.Run(tt.name, func(t *testing.T) {
			if tt.rich != "" && !strings.Contains(tt.in, "<b>c$") && !strings.Contains(tt.in, "(b)") { // a formula's < and the marks in an address have other names
				assert.Equal(t, looks(unlinked(Markdown(tt.in))), looks(unlinked(Markdown(tt.rich))))
			}
		})
	}
}

// unlinked has no links whose text is their address, because they are not searched in every place.
func unlinked(t Text) Text {
	return Text{t.Text, slices.DeleteFunc(slices.Clone(t.Entities), func(e entity) bool {
		return e.Type == link && t.Text[prefix(t.Text, e.Offset):prefix(t.Text, end(e))] == e.URL
	})}
}

// wrong lists the faults for which a chat would refuse an answer's parts.
func wrong(parts []Part, room int) []string {
	var out []string
	for i, p := range parts {
		first := 0
		if i == 0 {
			first = room
		}
		out = append(out, faults(p.Text)...)
		switch {
		case p.File != nil && (len(p.File.Data) == 0 || p.File.Name == "" || strings.ContainsAny(p.File.Name, "/\\\n")):
			out = append(out, fmt.Sprintf("%d: a bad file %q", i, p.File.Name))
		case p.File != nil && p.Text.Length() > max(0, maxCaption-first):
			out = append(out, fmt.Sprintf("%d: a caption of %d", i, p.Text.Length()))
		case p.File != nil && p.Rich != "":
			out = append(out, fmt.Sprintf("%d: a file and rich", i))
		case p.File == nil && (p.Text.Blank() || p.Text.Length() > Limit-first || len(p.Text.Entities) > maxEntities):
			out = append(out, fmt.Sprintf("%d: a text of %d", i, p.Text.Length()))
		case p.Rich != "":
			out = append(out, wrongRich(p.Rich, first)...)
		}
	}
	return out
}

// wrongRich lists the content of a rich message that Telegram would refuse, or take for more than
// text. It asks a parser that knows nothing of this package's.
func wrongRich(src string, room int) []string {
	var out []string
	if n := utf8.RuneCountInString(src); n > richLimit-room {
		out = append(out, fmt.Sprintf("%d characters", n))
	}
	source := []byte(src)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(source))
	blocks, depth := 0, 0
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if n.Kind() == ast.KindDocument || n.Kind() == ast.KindText {
			return ast.WalkContinue, nil
		}
		if !entering {
			depth--
			return ast.WalkContinue, nil
		}
		if depth++; depth > 16 {
			out = append(out, fmt.Sprintf("%d levels", depth))
		}
		if n.Type() == ast.TypeBlock && n.Kind() != east.KindTableCell {
			blocks++
		}
		out = append(out, active(n, source)...)
		return ast.WalkContinue, nil
	})
	if blocks > richBlocks {
		out = append(out, fmt.Sprintf("%d blocks", blocks))
	}
	return out
}

// active describes the parts of a node that would be more than text.
func active(n ast.Node, source []byte) []string {
	switch n := n.(type) {
	case *ast.RawHTML:
		return []string{"html: " + string(n.Segments.Value(source))}
	case *ast.HTMLBlock:
		return []string{"html: " + htmlBody(n, source)}
	case *ast.Image:
		return []string{"picture: " + string(n.Destination)}
	case *ast.Link:
		if !opens(string(n.Destination)) {
			return []string{"link: " + string(n.Destination)}
		}
	case *east.Table:
		if len(n.Alignments) > richColumns {
			return []string{fmt.Sprintf("%d columns", len(n.Alignments))}
		}
	case *ast.Text:
		if said := string(n.Segment.Value(source)); !n.IsRaw() && (strings.Contains(said, "||") || strings.Contains(said, "==")) {
			return []string{"marks: " + said}
		}
	}
	return nil
}

// nasty writes Markdown that is hard to cut: deep, broken, long, and of all scripts.
type nasty struct {
	t     *rapid.T
	out   strings.Builder
	words []string // in order
	loose []string // whose order may change: heads of tables, which are named in each row, and info strings
}

// bits are the parts of a line, in addition to words.
var bits = rapid.SampledFrom([]string{
	"**", "*", "_", "~~", "`", "``", " `c` ", "[l](https://x.org/a_b)", "![p](http://x.org/p.png)", "[", "](", ")", "<b>", "<tg-button data=\"x\">", "</details>",
	"<br>", "&amp;", "&#60;", "&lt;x&gt;", "\\", "||", "==", "$x^2$", "$5", "$$", "#", "- ", "1. ", "> ", "|", "tg://user?id=1", "@name", "/cmd",
	"👩‍👩‍👧‍👦", "🇩🇪", "❤️", "e\u0301\u0302\u0303", "语言", "שלום", "مرحبا", "\u202e", "\u200b", "\u00a0", "\t", "\x1b[31m", "\x1b]8;;http://y\x07", "\xff", "\r",
})

func (n *nasty) pick(what string, most int) int { return rapid.IntRange(0, most).Draw(n.t, what) }

func (n *nasty) word() string {
	w := fmt.Sprintf("w%dw", len(n.words))
	n.words = append(n.words, w)
	return w
}

func (n *nasty) free() string {
	w := fmt.Sprintf("f%df", len(n.loose))
	n.loose = append(n.loose, w)
	return w
}

func (n *nasty) line(most int) string {
	var b strings.Builder
	for range n.pick("line", most) {
		if n.pick("word", 2) > 0 {
			b.WriteString(n.free() + " ")
		} else {
			b.WriteString(bits.Draw(n.t, "bit"))
		}
	}
	return b.String()
}

func (n *nasty) blocks(prefix string, depth int) {
	for range n.pick("blocks", 5) {
		n.block(prefix, depth)
	}
}

func (n *nasty) put(prefix, line string) { n.out.WriteString(prefix + line + "\n") }

func (n *nasty) block(prefix string, depth int) {
	kind := n.pick("kind", 11)
	if depth > 14 {
		kind %= 6
	}
	switch kind {
	case 0:
		n.put(prefix, strings.Repeat("#", n.pick("level", 7))+" "+n.line(6))
	case 1:
		n.fence(prefix)
	case 2:
		n.table(prefix)
	case 3:
		n.put(prefix, n.line(3)+strings.Repeat(rapid.SampledFrom([]string{"x", "*a ", "`a` ", "|", "[", "$", "😀", "a ", "_", "<"}).Draw(n.t, "filler"), n.pick("long", 9000)))
	case 4:
		n.put(prefix, "$$\n"+prefix+n.line(4)+"\n"+prefix+"$$")
	case 5, 6:
		for range n.pick("lines", 4) {
			n.put(prefix, n.line(8))
		}
	case 7:
		n.put(prefix, "> "+n.line(4))
		n.blocks(prefix+"> ", depth+1)
	case 8, 9:
		for i := range n.pick("items", 4) {
			mark := []string{"- ", fmt.Sprintf("%d. ", i+7), "- [x] "}[n.pick("mark", 2)]
			n.put(prefix, mark+n.line(4))
			n.blocks(prefix+strings.Repeat(" ", min(len(mark), 3)), depth+1)
		}
	case 10:
		n.put(prefix, "<details><summary>"+n.line(3)+"</summary>")
		n.blocks(prefix, depth+1)
		if n.pick("closed", 4) > 0 {
			n.put(prefix, "</details>")
		}
	default:
		n.put(prefix, "---")
	}
	n.put(prefix, "")
}

func (n *nasty) fence(prefix string) {
	marks := strings.Repeat("`", 3+n.pick("marks", 2))
	n.put(prefix, marks+rapid.SampledFrom([]string{"", "go", "diff", "go a.go", "1:2:x", "<b>"}).Draw(n.t, "info"))
	for range n.pick("code", 90) {
		n.put(prefix, n.word()+" x</details>"+rapid.SampledFrom([]string{"", "```", "~~~", "    ", "语", "<tg-button>"}).Draw(n.t, "end"))
	}
	if n.pick("closed", 5) > 0 {
		n.put(prefix, marks)
	}
}

func (n *nasty) table(prefix string) {
	columns, rows := 1+n.pick("columns", 24), n.pick("rows", 5)
	if n.pick("long", 9) == 0 {
		rows += 38
	}
	row := func(cell func() string) {
		cells := make([]string, columns)
		for i := range cells {
			cells[i] = cell()
		}
		n.put(prefix, "|"+strings.Join(cells, "|")+"|")
	}
	row(n.free)
	row(func() string { return ":-" })
	for range rows {
		row(func() string { return n.word() + rapid.SampledFrom([]string{"", "", "✅", "`c`"}).Draw(n.t, "cell") })
	}
	if n.pick("strange cell", 3) == 0 {
		row(func() string { return strings.ReplaceAll(n.line(2), "|", "") })
	}
}

// contents is all that a chat gets of an answer, one after the other.
func contents(parts []Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Rich != "" {
			b.WriteString(p.Rich)
			continue
		}
		b.WriteString(show(p.Text))
		if p.File != nil {
			b.Write(p.File.Data)
		}
	}
	return b.String()
}

// TestP5_RenderersLoseNothing: and the strict stand-in of the Bot API accepts each part as it is.
func TestP5_RenderersLoseNothing(t *testing.T) {
	sent := accepting(t, botapi.Options{Rich: true})
	rapid.Check(t, func(t *rapid.T) {
		n := nasty{t: t}
		n.blocks("", 0)
		src, room := n.out.String(), rapid.IntRange(0, 600).Draw(t, "room")
		for name, r := range renderers() {
			parts := r(src, room)
			if bad := wrong(parts, room); len(bad) > 0 {
				t.Fatalf("%s: %v: %q", name, bad, src)
			}
			all := contents(parts)
			for _, w := range n.loose {
				if !strings.Contains(all, w) {
					t.Fatalf("%s: %q is lost of %q → %q", name, w, src, all)
				}
			}
			rest := all
			for _, w := range n.words {
				_, behind, ok := strings.Cut(rest, w)
				if !ok {
					t.Fatalf("%s: %q is lost, or comes too early, of %q → %q", name, w, src, all)
				}
				rest = behind
			}
			for _, p := range parts {
				if _, err := sent(p); err != nil {
					t.Fatalf("%s: %q %q: %v", name, p.Rich, show(p.Text), err)
				}
			}
		}
	})
}

// A rich message shows the answer letter by letter.
func TestP5_RichMarkdownKeepsEveryLetter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, _ := soup(t)
		src = strings.ReplaceAll(src, "www.", "") // an address that is found in other words is shown in another way
		want, got := letters(Markdown(src)), ""
		for _, p := range Rich(src, 0) {
			if p.Rich == "" {
				got += letters(p.Text)
			} else {
				got += letters(Markdown(p.Rich))
			}
		}
		if want != got {
			t.Fatalf("%q: %q → %q", src, want, got)
		}
	})
}

// letters leaves out invisible characters, and the marks of lists.
func letters(t Text) string {
	var b strings.Builder
	for _, s := range looks(t) {
		switch s.char {
		case '•':
		case ')':
			b.WriteRune('.')
		default:
			b.WriteRune(s.char)
		}
	}
	return b.String()
}

func TestSameSourceHasSameParts(t *testing.T) {
	src := "# a\n\n| " + strings.Repeat("long words ", 9) + " | b |\n|-|-|\n| c | d |\n\n```go\n" + strings.Repeat("x\n", 90) + "```\n\n> " + strings.Repeat("q\n> ", 20)
	for name, r := range renderers() {
		assert.Equal(t, r(src, 100), r(src, 100), name)
	}
}

func TestRenderersGrowLinearly(t *testing.T) {
	const n = 2 * maxPiece
	twice := hostile(2 * n)
	for name, r := range renderers() {
		cost := func(src string) float64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			r(src, 0)
			runtime.ReadMemStats(&after)
			return float64(after.TotalAlloc - before.TotalAlloc)
		}
		cost("warm up")
		for piece, src := range hostile(n) {
			t.Run(name+"/"+piece, func(t *testing.T) {
				once := cost(src)
				assert.Less(t, once, 8000.0*n, "bytes")
				assert.Less(t, cost(twice[piece]), 3*once+(1<<20))
			})
		}
	}
}

// An answer of a megabyte is a file.
func TestTooLongAnswer(t *testing.T) {
	long := strings.Repeat("# a\n\nSome **bold** text, and `code`.\n\n", 1<<20/38)
	many := strings.Repeat("`a` ", 20_000)
	for name, r := range renderers() {
		t.Run(name, func(t *testing.T) {
			parts := r(long, 300)
			assert.Empty(t, wrong(parts, 300))
			assert.Len(t, parts, 1)
			assert.Equal(t, File{Name: "answer.md", Data: []byte(long)}, *parts[0].File)
			assert.True(t, strings.HasPrefix(show(parts[0].Text), "⟨bold a⟩\n\nSome ⟨bold bold⟩"))
			assert.LessOrEqual(t, len(r(many, 0)), maxParts)
		})
	}
}

func FuzzRenderers(f *testing.F) {
	for _, tt := range renderCases() {
		f.Add(tt.in, 0)
	}
	f.Fuzz(func(t *testing.T, src string, room int) {
		room = min(max(room, 0), 1000)
		for name, r := range renderers() {
			assert.Empty(t, wrong(r(src, room), room), name)
		}
	})
}
