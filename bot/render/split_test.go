package render

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"
)

func TestSplit(t *testing.T) {
	family := "👩‍👩‍👧‍👦" // 11 units, one character for people
	tests := []struct {
		name  string
		in    Text
		limit int
		want  []string
	}{
		{"fits", Plain("abc"), 3, []string{"abc"}},
		{"empty", Text{}, 10, nil},
		{"blank", Plain(" \n\u200b\u2800\n "), 4, nil},
		{"blank stretch", Plain("a" + strings.Repeat("\n", 50) + "b"), 10, []string{"a", "b"}},
		{"paragraph first", Plain("aa bb\n\ncc\ndd ee"), 14, []string{"aa bb", "cc\ndd ee"}},
		{"then line", Plain("aa bb\ncc dd ee"), 12, []string{"aa bb", "cc dd ee"}},
		{"then word", Plain("aa bb cc dd"), 9, []string{"aa bb cc", "dd"}},
		{"then character", Plain("abcdefgh"), 4, []string{"abcd", "efgh"}},
		{"no tiny part", Plain("a\n\nbbbbb bbbbbb bbbbbb"), 16, []string{"a\n\nbbbbb bbbbbb", "bbbbbb"}},
		{"surrogate pair", Plain("a😀😀😀"), 4, []string{"a😀", "😀😀"}},
		{"a family stays together", Plain("abc" + family + family), 16, []string{"abc" + family, family}},
		{"longer than a part", Plain(family), 6, []string{"👩\u200d👩\u200d", "👧\u200d👦"}},
		{"entity goes on", Bold("aaa bbb"), 5, []string{"⟨bold aaa⟩", "⟨bold bbb⟩"}},
		{"code keeps language and indentation", Pre("a\n  b\n\n  c", "go"), 7, []string{"⟨pre:go a\n  b⟩", "⟨pre:go   c⟩"}},
		{"block is not cut when it fits", Join(Plain("aaaa\n\n"), Pre("bbb\nccc", "")), 10, []string{"aaaa", "⟨pre bbb\nccc⟩"}},
		{"limit too small", Plain("ab😀"), 0, []string{"ab", "😀"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range tt.in.Split(tt.limit) {
				got = append(got, show(p))
			}
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestSplitByEntities(t *testing.T) {
	parts := Markdown(strings.Repeat("`a` ", 250)).Split(Limit)
	assert.Len(t, parts, 3)
	for _, p := range parts {
		assert.LessOrEqual(t, len(p.Entities), maxEntities)
	}
}

// checkSplit: parts are within the limit, visible and valid; they are pieces of the text in order,
// with nothing but invisible characters between them; and every visible character keeps its
// formatting.
func checkSplit(t *rapid.T, whole Text, limit int) {
	rest := whole.Text
	var seen []styled
	for _, p := range whole.Split(limit) {
		before, after, ok := strings.Cut(rest, p.Text)
		if !ok || !blank(before) {
			t.Fatalf("%q is not what follows in %q", p.Text, rest)
		}
		rest = after
		if p.Length() > limit || p.Blank() || len(p.Entities) > maxEntities {
			t.Fatalf("bad part %q, limit %d", show(p), limit)
		}
		if bad := faults(p); len(bad) > 0 {
			t.Fatalf("%q: %v", show(p), bad)
		}
		seen = append(seen, looks(p)...)
	}
	if !blank(rest) {
		t.Fatalf("lost at the end: %q", rest)
	}
	assert.Equal(t, looks(whole), seen)
}

func TestP5_SplitProperties(t *testing.T) {
	kinds := []entity{{Type: bold}, {Type: italic}, {Type: code}, {Type: pre, Language: "go"}, {Type: quote}, {Type: quoteX}, {Type: link, URL: "http://x"}}
	rapid.Check(t, func(t *rapid.T) {
		text := clean(rapid.StringOf(rapid.OneOf(rapid.Rune(), rapid.SampledFrom([]rune(" \n\n  a😀\u200d👩\u0301")))).Draw(t, "text"))
		var list []entity
		for range rapid.IntRange(0, 8).Draw(t, "entities") { // crossing, nested, outside: anything a caller may make
			e := rapid.SampledFrom(kinds).Draw(t, "kind")
			runes := []rune(text)
			from := rapid.IntRange(0, len(runes)).Draw(t, "from")
			to := rapid.IntRange(from, len(runes)).Draw(t, "to")
			e.Offset, e.Length = units(string(runes[:from])), units(string(runes[from:to]))
			list = append(list, e)
		}
		whole := formatted(text, list)
		if bad := faults(whole); len(bad) > 0 {
			t.Fatalf("%q: %v", show(whole), bad)
		}
		checkSplit(t, whole, rapid.IntRange(2, 60).Draw(t, "limit"))
	})
}

func TestTextParts(t *testing.T) {
	got := Join(Bold("a😀"), Plain(" b "), Code("c"), Pre("d\x1b[31m", "go"), Quote("e"), Italic("f"), Bold(""))
	assert.Equal(t, "⟨bold a😀⟩ b ⟨code c⟩⟨pre:go d⟩⟨blockquote e⟩⟨italic f⟩", show(got))
	assert.Equal(t, 10, got.Length())
	assert.Empty(t, faults(got))
	assert.True(t, Plain("\u200b \n").Blank())
	assert.False(t, Plain(".").Blank())
}
