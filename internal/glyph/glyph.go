package glyph

import (
	"strings"
	"unicode"
)

// dot stands for a character that cannot be seen.
const dot = '·'

// Name shows a name. A dot stands for each character that leaves no mark of its own, and for every blank that is not the
// plain one. Only U+FE0F stays, once and right behind an emoji, which it colours. Joiners are dots, too: 👩·💻.
func Name(s string) string {
	before := rune(0)
	return strings.Map(func(r rune) rune {
		colours := r == '\uFE0F' && emoji(before)
		before = r
		if colours || r == ' ' || !Unseen(r) && !unicode.IsSpace(r) {
			return r
		}
		return dot
	}, s)
}

// Unseen says that a character leaves no mark of its own: control and format characters (those that turn the direction
// and join among them), line separators, variation selectors, tags, blank letters, and what no font has yet. Characters
// for private use leave one, and so do blanks, which move what is behind them.
func Unseen(r rune) bool {
	switch {
	case r >= ' ' && r <= '~': // nearly all there is, and whole files are asked about
		return false
	case r == '\u2800', r == '\uFFFC', r == '\U00016FE4', r == '\U0001D159': // blank, though Unicode counts them as letters and symbols
		return true
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector) ||
		!unicode.IsGraphic(r) && !unicode.Is(unicode.Co, r)
}

// emoji says that r is a symbol of the blocks that emoji are in.
func emoji(r rune) bool {
	block := r >= '\u2300' && r <= '\u23FF' || r >= '\u2600' && r <= '\u27BF' || r >= '\U0001F000' && r <= '\U0001FAFF'
	return block && unicode.Is(unicode.So, r)
}
