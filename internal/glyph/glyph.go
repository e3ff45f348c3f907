package glyph

import (
	"strings"
	"unicode"
)

// dot stands for a character that cannot be seen.
const dot = '·'

// Name shows a name. A dot replaces each invisible character, every blank but U+0020, and a mark
// without a letter or a number before it. Only U+FE0F stays, once and right after an emoji, which
// it colours. Joiners are dots as well: 👩·💻.
func Name(s string) string {
	before := rune(0)
	return strings.Map(func(r rune) rune {
		colours := r == '\uFE0F' && emoji(before)
		loose := unicode.IsMark(r) && !unicode.In(before, unicode.L, unicode.N, unicode.M)
		before = r
		if colours || r == ' ' || !Unseen(r) && !unicode.IsSpace(r) && !loose {
			return r
		}
		before = dot
		return dot
	}, s)
}

// Unseen reports whether a character is invisible: a control or format character (which may turn
// the direction or join others), a line separator, a variation selector, a tag, a blank letter, or
// a code point that Unicode has not assigned. Characters for private use are visible, and so are
// blanks, which move the text after them.
func Unseen(r rune) bool {
	if r >= ' ' && r <= '~' { // nearly every character; whole files are checked
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector, blankLetters) ||
		!unicode.IsGraphic(r) && !unicode.Is(unicode.Co, r)
}

// blankLetters are the characters that Unicode counts as letters, marks or symbols, although they
// are blank.
var blankLetters = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // braille without a dot
		{Lo: 0x2D7F, Hi: 0x2D7F, Stride: 1}, // joins consonants
		{Lo: 0x303F, Hi: 0x303F, Stride: 1}, // half of an ideograph's space
		{Lo: 0xFFFC, Hi: 0xFFFC, Stride: 1}, // stands for an object
	},
	R32: []unicode.Range32{
		{Lo: 0x1107F, Hi: 0x1107F, Stride: 1}, // joins numbers
		{Lo: 0x13441, Hi: 0x13442, Stride: 1}, // blank hieroglyphs
		{Lo: 0x16FE4, Hi: 0x16FE4, Stride: 1}, // a filler
		{Lo: 0x1D159, Hi: 0x1D159, Stride: 1}, // a note without a head
	},
}

// scattered are the emoji of other blocks. The keys # and 0 to 9 are not among them.
var scattered = &unicode.RangeTable{R16: []unicode.Range16{
	{Lo: 0x00A9, Hi: 0x00AE, Stride: 5}, {Lo: 0x203C, Hi: 0x2049, Stride: 13}, {Lo: 0x2122, Hi: 0x2139, Stride: 23},
	{Lo: 0x2194, Hi: 0x2199, Stride: 1}, {Lo: 0x21A9, Hi: 0x21AA, Stride: 1}, {Lo: 0x24C2, Hi: 0x24C2, Stride: 1},
	{Lo: 0x25AA, Hi: 0x25AB, Stride: 1}, {Lo: 0x25B6, Hi: 0x25C0, Stride: 10}, {Lo: 0x25FB, Hi: 0x25FE, Stride: 1},
	{Lo: 0x2934, Hi: 0x2935, Stride: 1}, {Lo: 0x2B05, Hi: 0x2B07, Stride: 1}, {Lo: 0x2B1B, Hi: 0x2B1C, Stride: 1},
	{Lo: 0x2B50, Hi: 0x2B55, Stride: 5}, {Lo: 0x3030, Hi: 0x303D, Stride: 13}, {Lo: 0x3297, Hi: 0x3299, Stride: 2},
}, LatinOffset: 1}

// emoji reports whether r is one of them, or a symbol of the blocks that emoji are in.
func emoji(r rune) bool {
	block := r >= '\u2300' && r <= '\u23FF' || r >= '\u2600' && r <= '\u27BF' || r >= '\U0001F000' && r <= '\U0001FAFF'
	return block && unicode.Is(unicode.So, r) || unicode.Is(scattered, r)
}
