package glyph

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestHides(t *testing.T) {
	tests := []struct {
		name, text, seen string // seen is text where nothing is hidden
	}{
		{"words", "ls -la ~/x\n\tgrep 'ü' | 日本語 ⚠️ ❤️ 1️⃣ é", ""},
		{"forty blanks", "a" + strings.Repeat(" ", 40) + "b", ""},
		{"forty-one", "a" + strings.Repeat(" ", 41) + "b", "a⟨41×␠⟩b"},
		{"eight empty lines", "a" + strings.Repeat("\n", 9) + "b", ""},
		{"nine", "a" + strings.Repeat("\n", 10) + "b", "a\n⟨9×⏎⟩\nb"},
		{"nine at the start", strings.Repeat("\n", 9) + "b", "⟨9×⏎⟩\nb"},
		{"a family", "👨\u200d👩", ""},
		{"a joiner behind a letter", "a\u200d👩", "a⟨U+200D⟩👩"},
		{"soft hyphen", "r\u00adm", "r⟨U+00AD⟩m"},
		{"byte order mark", "\ufeffls", "⟨U+FEFF⟩ls"},
		{"C1", "a\u009bb", "a⟨U+009B⟩b"},
		{"not UTF-8", "a\xffb", "a⟨0xFF⟩b"},
		{"private", "a\ue000b", "a⟨U+E000⟩b"},
		{"a selector of ideographs", "葛\U000E0100", "葛⟨U+E0100⟩"},
		{"mongolian", "a\u180eb", "a⟨U+180E⟩b"},
		{"Hangul filler", "a\u115fb", "a⟨U+115F⟩b"},
		{"line separator", "ls\u2028rm", "ls⟨U+2028⟩rm"},
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
}

func TestP9_WhatIsVisibleHidesNothing(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		piece := rapid.OneOf(
			rapid.SampledFrom([]string{"a", ";", "\n", "\t", " ", "\u00a0", "\u3000", "\u202e", "\u200b", "\r", "\x1b[8m", "⚠️", "\ufe0f", "\xff", "日"}),
			rapid.Map(rapid.IntRange(1, 60), func(n int) string { return strings.Repeat(" ", n) }),
			rapid.Map(rapid.IntRange(1, 20), func(n int) string { return strings.Repeat("\n", n) }),
			rapid.Map(rapid.IntRange(1, 20), func(n int) string { return strings.Repeat(" \t\n", n) }),
		)
		s := strings.Join(rapid.SliceOfN(piece, 0, 12).Draw(rt, "pieces"), "")
		seen := Signs(s)
		require.False(t, Hides(seen), "%q", seen)
		require.Equal(t, !Hides(s), seen == s, "%q became %q", s, seen)
		words := func(s string) string {
			for _, sign := range []string{"×␠⟩", "⟨0xFF", "×⏎⟩"} {
				s = strings.ReplaceAll(s, sign, "")
			}
			return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !strings.ContainsRune("a;日", r) }), "")
		}
		require.Equal(t, words(s), words(seen), "nothing is lost")
	})
}
