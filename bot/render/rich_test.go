package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
)

func tableOf(doc ast.Node) *east.Table {
	t, _ := doc.FirstChild().(*east.Table)
	return t
}

// rich is the Markdown of an answer that has nothing else.
func richOf(t *testing.T, src string, room int) []string {
	t.Helper()
	parts := Rich(src, room)
	assert.Empty(t, wrong(parts, room))
	var out []string
	for _, p := range parts {
		require.Nil(t, p.File)
		out = append(out, p.Rich)
	}
	return out
}

func TestRichCode(t *testing.T) {
	src := "a\n\n```go\n" + numbered(6000) + "```\n\nb"
	got := richOf(t, src, 3000)
	require.Len(t, got, 2)
	all := ""
	for i, p := range got {
		p = strings.TrimSuffix(strings.TrimPrefix(p, "a\n\n"), "\n\nb")
		body, ok := strings.CutPrefix(p, "```go\n")
		assert.True(t, ok, "part %d begins in the language of the code", i)
		body, ok = strings.CutSuffix(body, "```")
		assert.True(t, ok, "part %d closes it", i)
		all += body
	}
	assert.Equal(t, numbered(6000), all)
}

func TestRichTable(t *testing.T) {
	got := richOf(t, table(3, 900, ""), 0)
	require.Len(t, got, 3, "of 500 blocks at most")
	rows := 0
	for _, p := range got {
		body, ok := strings.CutPrefix(p, "| 0.0 | 0.1 | 0.2 |\n|---|---|---|\n")
		assert.True(t, ok, "the head is repeated")
		rows += strings.Count(body, "\n") + 1
	}
	assert.Equal(t, 900, rows)

	parts := Rich("a\n\n"+table(21, 2, "")+"\n\nb", 0)
	require.Len(t, parts, 3)
	assert.Equal(t, "table.png", parts[1].File.Name, "with more columns than Telegram draws")
}

func TestRichLists(t *testing.T) {
	var src strings.Builder
	for i := range 600 {
		fmt.Fprintf(&src, "%d. item %d\n", i+5, i)
	}
	got := richOf(t, src.String(), 0)
	require.Greater(t, len(got), 2)
	next := 5
	for _, p := range got {
		assert.True(t, strings.HasPrefix(p, fmt.Sprintf("%d. item %d\n", next, next-5)), "goes on with its number")
		next += strings.Count(p, "item")
	}
	assert.Equal(t, 605, next)

	got = richOf(t, "- [x] a\n"+strings.Repeat("\n  b\n", 500)+"  - c\n- d", 0)
	require.Len(t, got, 2)
	assert.True(t, strings.HasPrefix(got[0], "- [x] a\n\n  b\n"))
	assert.True(t, strings.HasPrefix(got[1], "- b\n\n  b\n"), "the box is shown once")
	assert.True(t, strings.HasSuffix(got[1], "\n  - c\n\n- d"))
	// Below a box only its text is a separate block.
	got = richOf(t, "- [x] a\n"+strings.Repeat("\n  b\n", 437)+"\n  > c\n  > ```\n  > <x>\n  > <y>\n  > ```", 0)
	require.Len(t, got, 2)
	assert.True(t, strings.HasPrefix(got[1], "- > "), got[1])
}

func TestRichDepth(t *testing.T) {
	var src strings.Builder
	for i := range 30 {
		fmt.Fprintf(&src, "%s- item%d\n", strings.Repeat("  ", i), i)
	}
	got := richOf(t, src.String(), 0)
	require.Len(t, got, 1)
	assert.Contains(t, got[0], "        - item4\n")
	assert.Contains(t, got[0], "• item29", "what is deeper is shown without being deeper")
	got = richOf(t, strings.Repeat("> ", 40)+"**a**", 0)
	assert.Equal(t, []string{strings.Repeat("> ", richDepth) + "**a**"}, got)
}

// Lines without any markup that are longer than a message.
func TestRichText(t *testing.T) {
	for _, filler := range []string{"word ", "x", "*", "<", "😀", "a\n", "a\n\n"} {
		src := strings.Repeat(filler, 90_000/len(filler))
		parts := Rich(src, 300)
		assert.Empty(t, wrong(parts, 300), filler)
		if parts[0].File != nil {
			assert.Equal(t, "a\n\n", filler, "more paragraphs than a few messages hold")
			assert.Equal(t, src, string(parts[0].File.Data))
			continue
		}
		assert.Equal(t, strings.Count(src, filler[:1]), strings.Count(contents(unescaped(parts)), filler[:1]), filler)
	}
}

func unescaped(parts []Part) []Part {
	for i, p := range parts {
		parts[i].Rich = unescape(p.Rich)
	}
	return parts
}

// An answer that a plain message shows as well is one: it is read everywhere, and keeps the size of
// its letters.
func TestPlainAnswersAreNotRich(t *testing.T) {
	short := "Done. See https://x.org for 5 * 3 and snake_case.\n\nNothing else."
	parts := Rich(short, 200)
	require.Len(t, parts, 1)
	assert.Empty(t, parts[0].Rich)
	assert.Equal(t, Markdown(short), parts[0].Text)
	assert.NotEmpty(t, Rich(short+" **b**", 200)[0].Rich)
	assert.NotEmpty(t, Rich(strings.Repeat("a sentence. ", 400), 0)[0].Rich, "longer than one message")
}

func TestLiteral(t *testing.T) {
	for _, s := range []string{"a*b_c [d](e) <f> `g` $h$ #i", "# a\n- b", "1. a", "**", "  a", "x\u202e||y||"} {
		got := Markdown("**x** " + Literal(s))
		assert.Equal(t, strings.TrimSpace(strings.ReplaceAll(s, "  ", "\u00a0\u00a0")), strings.TrimSpace(strings.TrimPrefix(got.Text, "x ")), s)
		assert.Len(t, got.Entities, 1, s)
		assert.Empty(t, wrongRich(Literal(s), 0))
	}
}

// A rich message of marks alone would be refused.
func TestMarksAloneAreNotRich(t *testing.T) {
	for _, src := range []string{"-", "- \n- ", "1.", "* [ ] ", "---"} {
		for _, p := range Rich(src, 0) {
			assert.Empty(t, p.Rich, "%q", src)
			assert.False(t, p.Text.Blank(), "%q", src)
		}
	}
}
