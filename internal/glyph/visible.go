package glyph

import (
	"strings"
	"unicode"
)

// Visible removes from foreign words the invisible characters, and those that would turn around the
// following words on the screen. Names are shown by Name.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsControl(r):
			return ' '
		case unicode.Is(unicode.Cf, r) && r != '\u200d': // joiners make pictures
			return -1
		}
		return r
	}, text)
}
