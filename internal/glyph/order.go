package glyph

import (
	"strings"

	"golang.org/x/text/unicode/bidi"
)

// leftToRight is a mark without a width. In a text of Signs there is no other one.
const leftToRight = "\u200e"

// LeftToRight returns a text of Signs with a mark at both ends of each word in Hebrew, Arabic and
// similar letters. An app would otherwise draw the words and numbers around it from right to left:
// "x א 1" and "x 1 א" look the same.
func LeftToRight(signed string) string {
	var b strings.Builder
	inside := false
	for _, r := range signed {
		properties, _ := bidi.LookupRune(r)
		switch class := properties.Class(); {
		case class == bidi.R, class == bidi.AL, class == bidi.AN:
			if !inside {
				b.WriteString(leftToRight)
			}
			inside = true
		case inside && class != bidi.NSM: // a mark belongs to the letter before it
			b.WriteString(leftToRight)
			inside = false
		}
		b.WriteRune(r)
	}
	if inside {
		b.WriteString(leftToRight)
	}
	return b.String()
}
