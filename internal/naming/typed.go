package naming

import (
	"strings"

	"ccbot/internal/clip"
	"ccbot/internal/glyph"
)

// Quotes are the marks that keyboards write around a text; phones curve them.
const Quotes = "\"'“”„«»‘’"

// Typed returns a session's name from typed text.
func Typed(typed string) string {
	name := glyph.Visible(strings.Trim(typed, Quotes+" \t\n"))
	return clip.Runes(strings.Join(strings.Fields(name), "-"), MaxName)
}
