package render

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMarkdown(t *testing.T) {
	for _, tt := range renderCases() {
		t.Run(tt.name, func(t *testing.T) {
			got := Markdown(tt.in)
			assert.Equal(t, tt.entities, show(got))
			assert.Empty(t, faults(got))
		})
	}
}

// Inputs for which a Markdown parser or a recursive walk takes very long or goes very deep.
func TestMarkdownOfHostileInput(t *testing.T) {
	for _, piece := range []string{">", "> ", "- ", "1) ", "[", "![](", "*a ", "_a*b", "`", "`a` ", "|a", "<a", "&", "www.", "~~a", "\n", "a@"} {
		t.Run(piece, func(t *testing.T) {
			src := "text " + strings.Repeat(piece, 8000/len(piece))
			got := Markdown(src)
			assert.Contains(t, got.Text, "text")
			assert.NotEmpty(t, got.Split(Limit))
		})
	}
	long := strings.Repeat("**a** ", maxSource/6+1)
	assert.Equal(t, Plain(long), Markdown(long), "too long to be formatted")
}

// hostile returns some n bytes each for which a Markdown parser takes the square of its usual time,
// goes very deep, or writes the same again and again.
func hostile(n int) map[string]string {
	all := map[string]string{
		"square table":   strings.Repeat("|a", n/8) + "|\n" + strings.Repeat("|-", n/8) + "|\n" + strings.Repeat("|x\n", n/8),
		"tables":         strings.Repeat(strings.Repeat("|a", 30)+"|\n"+strings.Repeat("|-", 30)+"|\n"+strings.Repeat("|x\n", 30)+"\n", n/240),
		"long head":      "|" + strings.Repeat("a", n/2) + "|b|\n|-|-|\n" + strings.Repeat("|x|y|\n", n/12),
		"long heads":     strings.Repeat("|"+strings.Repeat("a", 1000)+"|b|\n|-|-|\n"+strings.Repeat("|x|y|\n", 160)+"\n", n/2000),
		"long address":   "[a]: " + strings.Repeat("x", n/2) + "\n\n" + strings.Repeat("[a] ", n/8),
		"long addresses": strings.Repeat("[a]: http://"+strings.Repeat("x", 2000)+"\n\n"+strings.Repeat("[a] ", 500)+"\n\n", n/4000),
		"deep list":      strings.Repeat("- ", n/4) + "a\n" + strings.Repeat("b\n", n/4),
		"deep numbers":   strings.Repeat("1. ", n/6) + "a\n" + strings.Repeat("b\n", n/4),
		"deep quote":     strings.Repeat("> ", 60) + "a\n" + strings.Repeat("b\n", n/2),
		"brackets":       strings.Repeat("[", n/2) + strings.Repeat("]", n/2),
		"images":         strings.Repeat("![", n/8) + strings.Repeat("](abc)", n/8),
		"styles":         strings.Repeat("*a **a ", n/14) + strings.Repeat("b** b*", n/14),
	}
	for _, piece := range []string{">", "> ", "- ", "-\n", "1) ", "[", "![](", "[a](", "[a]: b\n", "*a ", "_a*b", "**a*", "`", "`a` ", "|a", "|",
		"<a", "<", "&", "www.", "~~a", "\n", "a@", "*_", "    - a\n", "> - a\n", "a**b__c", "```\n", "**a** "} {
		all[piece] = strings.Repeat(piece, n/len(piece))
		line := strings.Repeat(piece, 2000/len(piece)) + "\n"
		all[piece+" in lines"] = strings.Repeat(line, n/len(line))
	}
	return all
}

// A table that would be filled up is shown as it is written, one that only misses some cells is a
// table.
func TestTinyTable(t *testing.T) {
	src := strings.Repeat("|a", 300) + "|\n" + strings.Repeat("|-", 300) + "|\n" + strings.Repeat("|x\n", 300)
	assert.Equal(t, show(Pre(strings.TrimSpace(src), "")), show(Markdown(src)))
	got := Markdown("before\n\n" + src + "\nafter")
	assert.Equal(t, show(Join(Plain("before\n\n"), Pre(strings.TrimSpace(src), ""), Plain("\n\nafter"))), show(got))
	assert.Equal(t, "⟨pre A │ B\n──┼──\n1 │\n2 │\n3 │\n4 │\n5 │⟩", show(Markdown("A|B\n-|-\n1\n2\n3\n4\n5")))
}

func TestPieces(t *testing.T) {
	code := "```go\n" + strings.Repeat("a\n\n", 10) + "```\n"
	tests := []struct {
		name, in string
		want     []piece
	}{
		{"short", "a\n\nb", []piece{{"a\n\nb", ""}}},
		{"paragraphs", "aaaa aaaa\n\nbbbb bbbb\n\ncccc", []piece{{"aaaa aaaa\n\n", ""}, {"bbbb bbbb\n\ncccc", "\n\n"}}},
		{"an item with more in it", "- aaaa\n\n  bb\n\ncccccccc\n", []piece{{"- aaaa\n\n  bb\n\n", ""}, {"cccccccc\n", "\n\n"}}},
		{"lines", "aaaaaaaaa\nbbbbbbbbb\nccccccccc\n", []piece{{"aaaaaaaaa\nbbbbbbbbb\n", ""}, {"ccccccccc\n", "\n"}}},
		{"a long line", "a\n" + strings.Repeat("b", 30) + "\nc", []piece{{"a\n", ""}, {strings.Repeat("b", 30) + "\n", "\n"}, {"c", "\n"}}},
		{"a long fence", "a\n" + code + "b", []piece{{"a\n", ""}, {code, "\n\n"}, {"b", "\n\n"}}},
		{"a fence not closed", "a\n~~~\n" + strings.Repeat("```\n\n", 5), []piece{{"a\n", ""}, {"~~~\n" + strings.Repeat("```\n\n", 5), "\n\n"}}},
		{"a fence that is none", "``` a`\n\nbbbbbbbbb\n\n    ```\nb", []piece{{"``` a`\n\n", ""}, {"bbbbbbbbb\n\n    ```\nb", "\n\n"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, pieces(tt.in, 20))
		})
	}
}

// Text that is formatted in pieces is complete and in order, even if they are small.
func TestPiecesLoseNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, words := soup(t)
		src = clean(src)
		size := rapid.IntRange(1, 100).Draw(t, "size")
		whole := ""
		for _, p := range pieces(src, size) {
			whole += p.text
			if len(p.text) > size && p.parsed(size) && fenceAt(p.text).length == 0 && !isParsedTable(p.text) {
				t.Fatalf("%q is parsed", p.text)
			}
		}
		assert.Equal(t, src, whole)
		got := formatter{size: size, parser: newParser(), answer: &attachments{}}.format(src)
		if bad := faults(got); len(bad) > 0 {
			t.Fatalf("%q → %q: %v", src, show(got), bad)
		}
		shown := show(got)
		for _, w := range words {
			_, behind, ok := strings.Cut(shown, w)
			if !ok && !strings.Contains(show(got), w) {
				t.Fatalf("%q is lost: %q → %q", w, src, shown)
			}
			if ok {
				shown = behind
			}
		}
	})
}

func TestLongAnswerIsFormattedCompletely(t *testing.T) {
	var src, want strings.Builder
	for i := 0; src.Len() < 20<<10; i++ {
		fmt.Fprintf(&src, "## Step %d\n\nSome **bold %d** words.\n\n%d. an item\n\n", i, i, i)
		fmt.Fprintf(&want, "⟨bold Step %d⟩\n\nSome ⟨bold bold %d⟩ words.\n\n%d. an item\n\n", i, i, i)
	}
	assert.Equal(t, strings.TrimSpace(want.String()), show(Markdown(src.String())))
	code := strings.Repeat("a\n\n  [b](\n", 4000)
	assert.Equal(t, "a\n\n"+show(Pre(strings.TrimSpace(code), "go"))+"\n\nb", show(Markdown("a\n```go\n"+code+"```\nb")))
}

// fragments put together at random make every kind of broken Markdown.
var fragments = rapid.SampledFrom([]string{
	"# ", "\n# ", "**", "*", "_", "`", "``", "\n```go\n", "\n```\n", "\n", "\n\n", "\n> ", "\n- ", "\n  - ", "\n1. ", "\n- [x] ",
	"\n|", "|", "|-|-|\n", "\n|a|b|\n|-|:-:|\n|c|", "[l](https://x.org)", "[l](a.go)", "[", "]", "<b>", "</b>", "&amp;", "\\", "  \n",
	"\x1b[31m", "\x1b]", "\t", "    ", "\u200b", "\xff", "👩‍👩‍👧‍👦", "🇩🇪", "e\u0301", "语言", "😀", " ", " ", "~~", "---\n", "www.x.org ", "\r\n",
})

func soup(t *rapid.T) (src string, words []string) {
	var b strings.Builder
	for i := range rapid.IntRange(0, 60).Draw(t, "length") {
		if rapid.Bool().Draw(t, "word") {
			w := fmt.Sprintf("w%dw", i)
			words = append(words, w)
			b.WriteString(w)
		} else {
			b.WriteString(fragments.Draw(t, "fragment"))
		}
	}
	return b.String(), words
}

func TestMarkdownProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, words := soup(t)
		got := Markdown(src)
		if bad := faults(got); len(bad) > 0 {
			t.Fatalf("%q → %q: %v", src, show(got), bad)
		}
		shown := show(got) // a word of an info string is shown as the language of the block
		for _, w := range words {
			if !strings.Contains(shown, w) {
				t.Fatalf("%q is lost: %q → %q", w, src, shown)
			}
		}
		checkSplit(t, got, rapid.IntRange(2, 120).Draw(t, "limit"))
	})
}

func FuzzMarkdown(f *testing.F) {
	f.Add("# a\n\n- [ ] **b**\n```go\nx\n```\n|a|b|\n|-|-|\n|c|d|", 20)
	f.Add("> > a\n[x]: y\n[x](http://a.b) <i> &amp;\\", 4096)
	f.Fuzz(func(t *testing.T, src string, limit int) {
		got := Markdown(src)
		assert.Empty(t, faults(got))
		for _, p := range got.Split(limit % 5000) {
			assert.Empty(t, faults(p))
			assert.False(t, p.Blank())
		}
	})
}

// A long answer with code arrives whole: every block of code can be put together again from the
// parts.
func TestLongMarkdownRoundTrip(t *testing.T) {
	var src strings.Builder
	blocks := map[string]string{}
	for i := 0; src.Len() < 20_000; i++ {
		lang := fmt.Sprintf("lang%d", i)
		fmt.Fprintf(&src, "## Step %d\n\nSome **bold text %d** with `code` and words that fill the line.\n\n```%s\n", i, i, lang)
		for line := range 20 + 30*i {
			row := fmt.Sprintf("%sline %d of block %d 😀", strings.Repeat("  ", line%4), line, i)
			blocks[lang] += row + "\n"
			fmt.Fprintln(&src, row)
		}
		src.WriteString("```\n\n")
	}
	whole := Markdown(src.String())
	parts := whole.Split(Limit)
	require.Greater(t, len(parts), 4)
	got := map[string]string{}
	for _, p := range parts {
		assert.LessOrEqual(t, p.Length(), Limit)
		assert.Empty(t, faults(p))
		text := []rune(show(p))
		for _, block := range strings.Split(string(text), "⟨pre:")[1:] {
			body, _, _ := strings.Cut(block, "⟩")
			lang, body, _ := strings.Cut(body, " ")
			got[lang] += body + "\n"
		}
	}
	want := Text{}
	for lang, body := range blocks {
		assert.Equal(t, show(Plain(body)), got[lang], lang)
		want = Join(want, Plain(body))
	}
	var seen []styled
	for _, p := range parts {
		seen = append(seen, looks(p)...)
	}
	assert.Equal(t, looks(whole), seen)
}
