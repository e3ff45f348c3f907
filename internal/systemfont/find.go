package systemfont

import (
	"maps"
	"runtime/debug"
	"slices"
	"unicode"

	"golang.org/x/sys/unix"
)

// firstEmoji is the first character that is taken from a font of emoji even if another font has it.
const firstEmoji = 0x1F000

// Find returns the glyphs that the fonts have of some characters. A bitmap is scaled to a height in
// pixels.
func (f *Folders) Find(letters []rune, pixels int) map[rune]Glyph {
	found := make(map[rune]Glyph)
	letters = letters[:min(len(letters), maxLetters)]
	if len(f.paths) == 0 || len(letters) == 0 {
		return found
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	coloured, others := []candidate{}, []candidate{}
	for _, c := range f.candidates() {
		if c.emoji {
			coloured = append(coloured, c)
		} else {
			others = append(others, c)
		}
	}
	f.ask(coloured, letters, firstEmoji, pixels, found)
	f.ask(others, letters, 0, pixels, found)
	f.ask(coloured, letters, 0, pixels, found)
	// Reading Noto CJK takes 20 MB, which would stay with an idle bot until its next collection.
	debug.FreeOSMemory()
	return found
}

// ask adds the glyphs of those characters from a first one on that are not found yet.
func (f *Folders) ask(files []candidate, letters []rune, first rune, pixels int, found map[rune]Glyph) {
	for _, c := range files {
		missing := slices.DeleteFunc(slices.Clone(letters), func(r rune) bool {
			_, has := found[r]
			return has || r < first
		})
		if len(missing) == 0 {
			return
		}
		glyphs, err := f.read(c.path, missing, pixels)
		if err != nil {
			continue
		}
		maps.DeleteFunc(glyphs, func(_ rune, g Glyph) bool { return g.Empty() })
		maps.Copy(found, glyphs)
	}
}

func (f *Folders) read(path string, letters []rune, pixels int) (map[rune]Glyph, error) {
	file, err := f.open(path, unix.S_IFREG)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	return Read(file, info.Size(), letters, pixels)
}

// Package returns the Debian package of a font that has a character; "" if none is known.
func Package(r rune) string {
	switch {
	case r > 0x1FFFF || unicode.Is(unicode.Co, r) || !unicode.IsGraphic(r):
		return ""
	case unicode.Is(rare, r):
		return "fonts-noto-cjk"
	case unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana, unicode.Bopomofo),
		r >= 0x3000 && r <= 0x33FF, r >= 0xFF00 && r <= 0xFFEF:
		return Chinese
	case unicode.Is(emoji, r):
		return "fonts-noto-color-emoji"
	}
	return "fonts-noto-core"
}

// rare has Chinese and Korean characters that the package Chinese lacks: extension A of Unicode's
// Chinese block, and parts of Korean syllables.
var rare = &unicode.RangeTable{R16: []unicode.Range16{{0x1100, 0x11FF, 1}, {0x3400, 0x4DBF, 1}}}

// emoji has the characters from firstEmoji on that the emoji font of Debian 12 has. The blocks
// between them are symbols.
var emoji = &unicode.RangeTable{R32: []unicode.Range32{{0x1F004, 0x1F004, 1}, {0x1F0CF, 0x1F0CF, 1}, {0x1F170, 0x1F19A, 1},
	{0x1F1E6, 0x1F64F, 1}, {0x1F680, 0x1F6FF, 1}, {0x1F7E0, 0x1F7F0, 1}, {0x1F900, 0x1F9FF, 1}, {0x1FA70, 0x1FAFF, 1}}}

// Chinese is the Debian package of a small font with Chinese, Japanese and Korean characters.
const Chinese = "fonts-wqy-microhei"
