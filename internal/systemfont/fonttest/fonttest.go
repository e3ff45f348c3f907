// Package fonttest has small fonts for tests, so that no test depends on the fonts of the machine.
// tools/test-fonts.sh makes them; fonts/LICENSE has their licences.
package fonttest

import (
	"bytes"
	"embed"
	"maps"

	"ccbot/internal/systemfont"
)

// Names of the fonts.
const (
	Outlines = "outlines.ttf" // TrueType, with 中文语한국어é
	// CFF, with the Japanese, Korean, and both Chinese forms of 骨, and 한
	Collection = "collection.ttc"
	Emoji      = "emoji.ttf" // bitmaps of 🙂🚀⏰
)

//go:embed fonts/*.ttf fonts/*.ttc
var files embed.FS

// File returns the content of a font.
func File(name string) []byte {
	data, err := files.ReadFile("fonts/" + name)
	if err != nil {
		panic(err) // it is a part of this package
	}
	return data
}

// Fonts lists the test fonts that a machine has.
type Fonts []string

// Find returns the glyphs that the fonts have.
func (f Fonts) Find(letters []rune, pixels int) map[rune]systemfont.Glyph {
	found := make(map[rune]systemfont.Glyph)
	for _, name := range f {
		data := File(name)
		glyphs, err := systemfont.Read(bytes.NewReader(data), int64(len(data)), letters, pixels)
		if err != nil {
			panic(err)
		}
		maps.Copy(found, glyphs)
	}
	return found
}
