package glyph

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"
)

func TestHides(t *testing.T) {
	tests := []struct {
		name, text, seen string // seen is empty if nothing is hidden
	}{
		{"words", "ls -la ~/x\ngrep 'ü' | 日本語 ✅ 👍🏽 🇩🇪 é हिन्दी สวัสดี שָׁ", ""},
		{"forty blanks", "a" + strings.Repeat(" ", 40) + "b", ""},
		{"forty-one", "a" + strings.Repeat(" ", 41) + "b", "a⟨41×␠⟩b"},
		{"a blank at the end", "./deploy \\ \n --dry-run\n  ", "./deploy \\⟨1×␠⟩\n --dry-run\n⟨2×␠⟩"},
		{"eight empty lines", "a" + strings.Repeat("\n", 9) + "b", ""},
		{"nine", "a" + strings.Repeat("\n", 10) + "b", "a\n⟨9×⏎⟩\nb"},
		{"nine at the start", strings.Repeat("\n", 9) + "b", "⟨9×⏎⟩\nb"},
		{"another blank", "./deploy\u00a0--dry-run\u3000", "./deploy⟨U+00A0⟩--dry-run⟨U+3000⟩"},
		{"an emoji and its colour", "⚠\ufe0f 1\ufe0f\u20e3", "⚠⟨U+FE0F⟩ 1⟨U+FE0F⟩⟨U+20E3⟩"},
		{"a family", "👨\u200d👩", "👨⟨U+200D⟩👩"},
		{"soft hyphen", "r\u00adm", "r⟨U+00AD⟩m"},
		{"byte order mark", "\ufeffls", "⟨U+FEFF⟩ls"},
		{"C1", "a\u009bb", "a⟨U+009B⟩b"},
		{"not UTF-8", "a\xffb\ufffd", "a⟨0xFF⟩b⟨U+FFFD⟩"},
		{"private", "a\ue000b", "a⟨U+E000⟩b"},
		{"not assigned yet", "a\u0378b\U000E01F0", "a⟨U+0378⟩b⟨U+E01F0⟩"},
		{"a selector of ideographs", "葛\U000E0100", "葛⟨U+E0100⟩"},
		{"mongolian", "a\u180eb", "a⟨U+180E⟩b"},
		{"Hangul filler", "a\u115fb", "a⟨U+115F⟩b"},
		{"line separator", "ls\u2028rm", "ls⟨U+2028⟩rm"},
		{"a mark on ASCII", "i\u0307 e\u0301 ;\u0301", "i⟨U+0307⟩ e⟨U+0301⟩ ;⟨U+0301⟩"},
		{"a mark on nothing", "\u0e34 ก", "⟨U+0E34⟩ ก"},
		{"too many marks", "ก" + strings.Repeat("\u0e34", 5), "ก" + strings.Repeat("\u0e34", 4) + "⟨U+0E34⟩"},
		{"not composed", "и\u0306 か\u3099 \u1112\u1161", "⟨U+0438⟩⟨U+0306⟩ ⟨U+304B⟩⟨U+3099⟩ ⟨U+1112⟩⟨U+1161⟩"},
		{"another semicolon", "ls\u037e rm", "ls⟨U+037E⟩ rm"},
		{"an imitated sign", "a⟨U+00A0⟩b ⇥ ⏎", "a⟨U+27E8⟩U+00A0⟩b ⟨U+21E5⟩ ⟨U+23CE⟩"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.seen != "", Hides(tt.text))
			if tt.seen == "" {
				tt.seen = tt.text
			}
			assert.Equal(t, tt.seen, Signs(tt.text))
		})
	}
	assert.Equal(t, "⇥   ⇥   x⇥   y", Signs("\t\tx\ty"))
	assert.False(t, Hides("\t\tx\ty\t"), "a tab has a sign")
}

// TestP9_CharactersAreDrawnOrNamed asks about each code point: only letters, numbers,
// punctuation and symbols that are assigned stand for themselves.
func TestP9_CharactersAreDrawnOrNamed(t *testing.T) {
	blank := map[rune]bool{}
	for _, r := range hidden {
		for c := r[0]; c <= r[1]; c++ {
			blank[c] = true
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if !utf8.ValidRune(r) || r == '\n' || r == '\t' || r == ' ' {
			continue
		}
		seen := Signs("a" + string(r) + "b")
		itself := seen == "a"+string(r)+"b"
		if !itself {
			require.Equal(t, fmt.Sprintf("a⟨U+%04X⟩b", r), seen)
			require.True(t, r < '!' || r > '~', "%U is ASCII", r)
			continue
		}
		require.False(t, blank[r], "%U is not seen", r)
		require.True(t, unicode.In(r, unicode.L, unicode.N, unicode.P, unicode.S), "%U stands for itself", r)
	}
}

var signed = regexp.MustCompile(`⟨U\+([0-9A-F]+)⟩|⟨0x([0-9A-F]{2})⟩|⟨([0-9]+)×␠⟩|⟨([0-9]+)×⏎⟩\n?|⇥   `)

// read returns the text that a person reads in a text with signs.
func read(seen string) string {
	return signed.ReplaceAllStringFunc(seen, func(sign string) string {
		is := signed.FindStringSubmatch(sign)
		number := func(s string, base int) int { n, _ := strconv.ParseInt(s, base, 32); return int(n) }
		switch {
		case is[1] != "":
			return string(rune(number(is[1], 16)))
		case is[2] != "":
			return string([]byte{byte(number(is[2], 16))})
		case is[3] != "":
			return strings.Repeat(" ", number(is[3], 10))
		case is[4] != "":
			return strings.Repeat("\n", number(is[4], 10))
		}
		return "\t"
	})
}

// checkSigns fails unless the text can be read back from its signs, as they are and as a screen
// composes them, and no blank of them is at the end of a line.
func checkSigns(t require.TestingT, s string) {
	seen := Signs(s)
	require.Equal(t, s, read(seen), "%+q became %+q", s, seen)
	require.Equal(t, s, read(Block(s)), "%+q", s)
	require.False(t, strings.HasSuffix(Block(s), "\n"))
	require.Equal(t, s, read(norm.NFC.String(seen)), "%+q became %+q", s, seen)
	for line := range strings.SplitSeq(strings.ReplaceAll(seen, tab, "⇥"), "\n") {
		require.False(t, strings.HasSuffix(line, " "), "%q", seen)
	}
	require.Equal(t, !Hides(s), seen == strings.ReplaceAll(s, "\t", tab))
}

// TestP9_TwoTextsAreShownDifferently joins pieces that are easily mistaken for each other.
func TestP9_TwoTextsAreShownDifferently(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom([]string{"a", "е", ";", "\n", "\t", " ", "\u00a0", "\u3000", "\u202e", "\u200b", "\r", "\x1b[8m", "⚠️", "\ufe0f", "\xff",
				"\ufffd", "日", "⟨", "U+00A0⟩", "⟨1×␠⟩", "⟨9×⏎⟩", "⇥", "   ", "⏎", "\u0301", "\u0323", "\u0e34", "ก", "\u1161", "\u1112", "\u037e", "\u0378"}),
			rapid.Map(rapid.IntRange(1, 60), func(n int) string { return strings.Repeat(" ", n) }),
			rapid.Map(rapid.IntRange(1, 20), func(n int) string { return strings.Repeat("\n", n) }),
			rapid.Map(rapid.IntRange(1, 20), func(n int) string { return strings.Repeat(" \t\n", n) }),
			rapid.Map(rapid.Rune(), func(r rune) string { return string(r) }),
		)
		checkSigns(rt, strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces"), ""))
	})
}

func FuzzP9_Signs(f *testing.F) {
	f.Add("./deploy\u00a0--dry-run \\ \n\t⟨U+00A0⟩")
	f.Fuzz(func(t *testing.T, s string) { checkSigns(t, s) })
}
