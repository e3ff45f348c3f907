package glyph

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hidden are the ranges of characters that must not be shown, written down apart from the rule.
var hidden = [][2]rune{
	{0, 0x1F}, {0x7F, 0x9F}, {0xA0, 0xA0}, {0xAD, 0xAD}, {0x34F, 0x34F}, {0x61C, 0x61C}, {0x115F, 0x1160}, {0x1680, 0x1680},
	{0x17B4, 0x17B5}, {0x378, 0x379}, {0x180B, 0x180F}, {0x2000, 0x200F}, {0x2028, 0x202F}, {0x205F, 0x206F}, {0x2800, 0x2800}, {0x2D7F, 0x2D7F}, {0x3000, 0x3000}, {0x303F, 0x303F},
	{0x3164, 0x3164}, {0xFE00, 0xFE0F}, {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFC}, {0x1BCA0, 0x1BCA3},
	{0x1107F, 0x1107F}, {0x13441, 0x13442}, {0x16FE4, 0x16FE4}, {0x1D159, 0x1D159}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF}, {0x10FFFE, 0x10FFFF},
}

// TestP9_NameHidesNothing: each of them is a dot, alone and among letters.
func TestP9_NameHidesNothing(t *testing.T) {
	for _, r := range hidden {
		for c := r[0]; c <= r[1]; c++ {
			require.Equal(t, "·", Name(string(c)), "%U", c)
			require.Equal(t, "a·b", Name("a"+string(c)+"b"), "%U", c)
		}
	}
}

func TestName(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "api": "api", "my api-2.0_x/y": "my api-2.0_x/y", "каталог 東 عربي é": "каталог 東 عربي é",
		"e\u0301": "e\u0301", "\u0301e \u0301": "·e ·",
		"a\u202egpj.exe": "a·gpj.exe", "two\nlines\t": "two·lines·", "\x1b[31mred": "·[31mred",
		"❤\uFE0F": "❤\uFE0F", "🗂\uFE0F x": "🗂\uFE0F x", "❤\uFE0F\uFE0F": "❤\uFE0F·", "❤\uFE0E": "❤·", "▶\uFE0F": "▶\uFE0F", "↔\uFE0F ©\uFE0F": "↔\uFE0F ©\uFE0F", "▷\uFE0F": "▷·", "1\uFE0F\u20E3": "1··",
		"a\uFE0F": "a·", "…\uFE0F": "…·", "\u200b\uFE0F": "··", "·\uFE0F": "··", "│\uFE0F": "│·",
		"👩\u200d💻": "👩·💻", "👍🏽": "👍🏽", "🇩🇪": "🇩🇪", "🏴\U000E0067\U000E007F": "🏴··",
		"\uE0B0 icon": "\uE0B0 icon", "bad\xff": "bad\uFFFD",
	} {
		assert.Equal(t, want, Name(in), "%+q", in)
	}
}

func FuzzP9_Name(f *testing.F) {
	f.Add("❤\uFE0F\u200b")
	f.Fuzz(func(t *testing.T, s string) {
		shown := Name(s)
		require.True(t, utf8.ValidString(shown))
		require.Equal(t, utf8.RuneCountInString(s), utf8.RuneCountInString(shown))
		require.Equal(t, shown, Name(shown), "showing it twice is showing it once")
		bare := strings.ReplaceAll(shown, "\uFE0F", "")
		require.False(t, strings.ContainsFunc(bare, func(r rune) bool {
			return r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r))
		}), "%+q", shown)
	})
}
