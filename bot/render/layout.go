package render

import (
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/gobolditalic"
	"golang.org/x/image/font/gofont/goitalic"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/text/unicode/norm"
)

// Sizes of a picture in pixels. Telegram scales a photo down to 1280 on its long side: what is wider than that, because
// it has so many columns, has to be zoomed.
const (
	fontSize   = 26
	lineHeight = 36
	cellPad    = 18 // beside the text of a cell
	rowPad     = 12 // above and below it
	margin     = 24 // around the table
	goodWidth  = 1280
	maxWidth   = 4000
	maxHeight  = 4000
	maxArea    = 6 << 20
	maxRatio   = 15 // core.telegram.org/bots/api#sendphoto: at most 20
	maxWord    = 280
)

// style is how a word is drawn.
type style uint8

const (
	plainStyle style = iota
	boldStyle
	italicStyle
	boldItalicStyle
	codeStyle
	styles
)

// word is a stretch of text that is drawn at once; glued says that no blank is before it.
type word struct {
	text   string
	style  style
	struck bool
	glued  bool
	width  int
}

// tableLayout says where everything of a table is drawn.
type tableLayout struct {
	columns []int      // widths of the text of the columns
	heights []int      // of the rows
	cells   [][][]line // by row and column
	width   int
	height  int
}

// line is one line of a cell.
type line struct {
	words []word
	width int
}

// fonts are the Go fonts: Latin, Greek, Cyrillic and a few signs. They are used by one goroutine.
type fonts struct {
	parsed [styles]*sfnt.Font
	faces  [styles]font.Face
	blank  int
	buf    sfnt.Buffer
}

func newFonts() (*fonts, error) {
	f := &fonts{}
	for i, data := range [styles][]byte{goregular.TTF, gobold.TTF, goitalic.TTF, gobolditalic.TTF, gomono.TTF} {
		var err error
		if f.parsed[i], err = opentype.Parse(data); err != nil {
			return nil, fmt.Errorf("read a font: %w", err)
		}
		size := float64(fontSize)
		if style(i) == codeStyle {
			size-- // its letters look larger
		}
		if f.faces[i], err = opentype.NewFace(f.parsed[i], &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone}); err != nil {
			return nil, fmt.Errorf("size a font: %w", err)
		}
	}
	f.blank = font.MeasureString(f.faces[plainStyle], " ").Ceil()
	return f, nil
}

// draws says that a font has all of s. What is not drawn at all needs no glyph.
func (f *fonts) draws(s string, st style) bool {
	for _, r := range s {
		if i, err := f.parsed[st].GlyphIndex(&f.buf, r); err != nil || i == 0 {
			return false
		}
	}
	return true
}

func (f *fonts) width(s string, st style) int {
	return font.MeasureString(f.faces[st], s).Ceil()
}

// words cuts a cell at its blanks, where the style changes and at signs; false if something in it cannot be drawn.
func (f *fonts) words(t Text, head bool) ([]word, bool) {
	var all []word
	var now strings.Builder
	var st, glued = word{}, false
	flush := func() bool {
		if now.Len() == 0 {
			return true
		}
		w := st
		w.text, w.glued = norm.NFC.String(now.String()), glued
		now.Reset()
		glued = true
		w.width = f.width(w.text, w.style)
		all = append(all, w)
		return f.draws(w.text, w.style)
	}
	at := 0
	for _, r := range t.Text {
		next := styleAt(t.Entities, at, head)
		at += units(string(r))
		if _, ok := signs[r]; ok || next != st || unicode.IsSpace(r) {
			if !flush() {
				return nil, false
			}
			st = next
		}
		switch _, ok := signs[r]; {
		case ok:
			all = append(all, word{text: string(r), glued: glued, width: signSize})
			glued = true
		case unicode.IsSpace(r):
			glued = false
		case r == '\u2011': // a hyphen that does not break
			now.WriteByte('-')
		case !ignored(r):
			now.WriteRune(r)
		}
	}
	return all, flush()
}

// ignored are characters that only say how their neighbours look or break.
func ignored(r rune) bool {
	return r == '\u200B' || r == '\u2060' || r == '\uFEFF' || r == '\u00AD' || r == '\uFE0F' || r == '\uFE0E'
}

func styleAt(list []entity, at int, head bool) word {
	var w word
	strong, slanted, mono := head, false, false
	for _, e := range list {
		if e.Offset > at || end(e) <= at {
			continue
		}
		switch e.Type {
		case bold:
			strong = true
		case italic:
			slanted = true
		case code, pre:
			mono = true
		case strike:
			w.struck = true
		}
	}
	switch {
	case mono:
		w.style = codeStyle
	case strong && slanted:
		w.style = boldItalicStyle
	case strong:
		w.style = boldStyle
	case slanted:
		w.style = italicStyle
	}
	return w
}

// layout places a table; false if it cannot be drawn, or not so that it can be read.
func (f *fonts) layout(g grid) (*tableLayout, bool) {
	cells := make([][][]word, len(g.rows))
	natural, least := make([]int, len(g.widths)), make([]int, len(g.widths))
	for i, row := range g.rows {
		cells[i] = make([][]word, len(g.widths))
		for j, c := range row {
			words, ok := f.words(c, i == 0)
			if !ok {
				return nil, false
			}
			cells[i][j] = words
			whole, longest := f.extent(words)
			natural[j], least[j] = max(natural[j], whole), max(least[j], min(longest, maxWord))
		}
	}
	around := 2*margin + 2*cellPad*len(g.widths)
	l := &tableLayout{columns: fit(natural, least, goodWidth-around), width: around, height: 2 * margin}
	for _, w := range l.columns {
		l.width += w
	}
	for _, row := range cells {
		lines, height := make([][]line, len(row)), lineHeight
		for j, words := range row {
			lines[j] = f.wrap(words, l.columns[j])
			height = max(height, len(lines[j])*lineHeight)
		}
		l.cells = append(l.cells, lines)
		l.heights = append(l.heights, height+2*rowPad)
		l.height += height + 2*rowPad
	}
	return l, l.width <= maxWidth && l.height <= maxHeight && l.width*l.height <= maxArea &&
		l.width <= maxRatio*l.height && l.height <= maxRatio*l.width
}

// extent is how wide words are in one line, and how wide is the longest stretch of them that has no blank.
func (f *fonts) extent(words []word) (whole, longest int) {
	stretch := 0
	for i, w := range words {
		if i > 0 && !w.glued {
			whole += f.blank
			stretch = 0
		}
		whole += w.width
		stretch += w.width
		longest = max(longest, stretch)
	}
	return whole, longest
}

// fit shares the width among the columns: each has what its longest word needs, and those with more to say have more of
// what is left.
func fit(natural, least []int, width int) []int {
	whole, needed := 0, 0
	for i := range natural {
		whole += natural[i]
		needed += least[i]
	}
	if whole <= width {
		return natural
	}
	columns := make([]int, len(natural))
	for i := range natural {
		columns[i] = least[i]
		if wish := whole - needed; wish > 0 && width > needed {
			columns[i] += (width - needed) * (natural[i] - least[i]) / wish
		}
	}
	return columns
}

// wrap breaks words into lines; one that is longer than a line is broken too.
func (f *fonts) wrap(words []word, width int) []line {
	var lines []line
	var now line
	for i := 0; i < len(words); i++ {
		w := words[i]
		gap := 0
		if len(now.words) > 0 && !w.glued {
			gap = f.blank
		}
		stretch := w.width // of all that is glued together
		for _, next := range words[i+1:] {
			if !next.glued {
				break
			}
			stretch += next.width
		}
		if len(now.words) > 0 && (now.width+gap+stretch > width && !w.glued || now.width+gap+w.width > width) {
			lines = append(lines, now)
			now, gap = line{}, 0
		}
		for now.width+gap+w.width > width && len([]rune(w.text)) > 1 {
			head, rest := f.broken(w, width-now.width-gap)
			now.words = append(now.words, head)
			now.width += gap + head.width
			lines = append(lines, now)
			now, gap, w = line{}, 0, rest
		}
		now.words = append(now.words, w)
		now.width += gap + w.width
	}
	if len(now.words) > 0 {
		lines = append(lines, now)
	}
	return lines
}

// broken is as much of a word as fits, one letter at least, and the rest of it. A path is broken behind one of its signs.
func (f *fonts) broken(w word, width int) (head, rest word) {
	letters := []rune(w.text)
	n := 1
	for n < len(letters)-1 && f.width(string(letters[:n+1]), w.style) <= width {
		n++
	}
	for i := n; i > n/2; i-- {
		if strings.ContainsRune("/_-.:,=&?", letters[i-1]) {
			n = i
			break
		}
	}
	head, rest = w, w
	head.text, rest.text = string(letters[:n]), string(letters[n:])
	head.width, rest.width = f.width(head.text, w.style), f.width(rest.text, w.style)
	rest.glued = true
	return head, rest
}
