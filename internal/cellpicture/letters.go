package cellpicture

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/go-text/typesetting/font/opentype"
	xdraw "golang.org/x/image/draw"
	"golang.org/x/text/unicode/norm"

	"ccbot/internal/systemfont"
)

// The fonts, packed by gzip -9n.
//
//go:embed fonts/*.ttf.gz
var fonts embed.FS

// Of the built-in fonts, in parts of their size: how wide a letter is, and how far one reaches
// above and below its line.
const (
	advance = 1233. / 2048
	above   = 1901. / 2048
	below   = 483. / 2048
	slant   = .2 // of italic letters
)

// Sizes of a glyph of another font, in widths of a cell.
const (
	otherSize = 1.8 // a Chinese letter is as wide as it is high
	emojiSize = 2
)

// glyphSet are the glyphs of one picture.
type glyphSet struct {
	// of the built-in fonts, and of the fonts of the machine
	regular, bold, others map[rune]systemfont.Glyph
}

// read reads the glyphs of all characters that are not drawn by hand.
func (l *glyphSet) read(p Picture, width int) (err error) {
	var all, bold []rune
	for _, line := range p.Lines {
		for _, cell := range line {
			if text := composed(cell); !isByHand(text, cell) {
				all = append(all, []rune(text)...)
				if cell.Bold {
					bold = append(bold, []rune(text)...)
				}
			}
		}
	}
	if l.regular, err = builtIn("DejaVuSansMono", all); err != nil {
		return err
	}
	if l.bold, err = builtIn("DejaVuSansMono-Bold", bold); err != nil {
		return err
	}
	missing := slices.DeleteFunc(distinct(all), func(r rune) bool {
		_, has := l.regular[r]
		return has || unicode.Is(unicode.Cf, r)
	})
	// Icons of private fonts have no meaning in any other font, and searching for them would read
	// all fonts.
	missing = slices.DeleteFunc(missing, func(r rune) bool { return unicode.Is(unicode.Co, r) })
	if p.Fonts != nil && len(missing) > 0 {
		l.others = p.Fonts.Find(missing, emojiSize*width)
	}
	return nil
}

// builtIn reads glyphs of one of the built-in fonts.
func builtIn(name string, all []rune) (map[rune]systemfont.Glyph, error) {
	if len(all) == 0 {
		return nil, nil
	}
	packed, err := fonts.Open("fonts/" + name + ".ttf.gz")
	if err != nil {
		return nil, err
	}
	unzipped, err := gzip.NewReader(packed)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(unzipped)
	if err != nil {
		return nil, err
	}
	found, err := systemfont.Read(bytes.NewReader(data), int64(len(data)), distinct(all), 0)
	if err != nil {
		return nil, fmt.Errorf("read a font: %w", err)
	}
	return found, nil
}

func distinct(all []rune) []rune {
	all = slices.Clone(all)
	slices.Sort(all)
	return slices.Compact(all)
}

// composed returns the characters of a cell as fonts have them: composed, and without a choice
// between text and emoji.
func composed(cell Cell) string {
	return norm.NFC.String(strings.TrimRight(strings.TrimSpace(cell.Text), "\uFE0F\uFE0E"))
}

// glyph returns the glyph of a character and its size in widths of a cell.
func (l *glyphSet) glyph(r rune, isBold bool) (g systemfont.Glyph, size float64, ok bool) {
	if g, ok = l.bold[r]; ok && isBold {
		return g, 1 / advance, true
	}
	if g, ok = l.regular[r]; ok {
		return g, 1 / advance, true
	}
	g, ok = l.others[r]
	return g, otherSize, ok
}

// text draws a letter and its accents. If frames are allowed, it leaves out the characters that are
// joined to the letter.
func (c *canvas) text(text string, cell Cell, at image.Rectangle, ink color.RGBA, width int) error {
	for i, r := range text {
		g, size, ok := c.letters.glyph(r, cell.Bold)
		switch joined := i > 0 && !unicode.Is(unicode.M, r) || unicode.Is(unicode.Cf, r); {
		case c.frames && (joined || !ok && i > 0):
		case !ok:
			return ErrGlyph
		case g.Bitmap != nil:
			c.emoji(g.Bitmap, at)
		default:
			c.glyph(g, size*float64(width), cell.Italic, at, ink, width)
		}
	}
	return nil
}

// emoji draws a bitmap in the middle of a cell, and not beyond it.
func (c *canvas) emoji(bitmap image.Image, at image.Rectangle) {
	size := bitmap.Bounds().Size()
	if size.X > at.Dx() { // a terminal shows some emoji in one column
		size = image.Pt(at.Dx(), max(size.Y*at.Dx()/size.X, 1))
	}
	corner := at.Min.Add(at.Size().Sub(size).Div(2))
	here := image.Rectangle{corner, corner.Add(size)}
	scaled := image.NewRGBA(here)
	xdraw.ApproxBiLinear.Scale(scaled, here, bitmap, bitmap.Bounds(), xdraw.Src, nil)
	draw.Draw(c.image, here.Intersect(at), scaled, here.Intersect(at).Min, draw.Over)
}

// glyph draws one glyph in a cell: on its line, in the middle of its columns, and not beyond them.
func (c *canvas) glyph(g systemfont.Glyph, em float64, isItalic bool, at image.Rectangle, ink color.RGBA, width int) {
	own := float64(width) / advance // the size of the built-in fonts, which the line stands for
	base := (float64(at.Dy())-(above+below)*own)/2 + above*own
	wide := float64(g.Advance) * em
	if w := float64(at.Dx()); wide > w {
		em, wide = em*w/wide, w
	}
	x := (float64(at.Dx()) - wide) / 2
	point := func(p opentype.SegmentPoint) (float32, float32) {
		px, py := float64(p.X)*em, float64(p.Y)*em
		if isItalic {
			px -= slant * (py + em/3)
		}
		return float32(x + px), float32(math.Round(base) + py)
	}
	c.shape.Reset(at.Dx(), at.Dy())
	for _, s := range g.Outline {
		x0, y0 := point(s.Args[0])
		x1, y1 := point(s.Args[1])
		x2, y2 := point(s.Args[2])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			c.shape.ClosePath()
			c.shape.MoveTo(x0, y0)
		case opentype.SegmentOpLineTo:
			c.shape.LineTo(x0, y0)
		case opentype.SegmentOpQuadTo:
			c.shape.QuadTo(x0, y0, x1, y1)
		case opentype.SegmentOpCubeTo:
			c.shape.CubeTo(x0, y0, x1, y1, x2, y2)
		}
	}
	c.shape.ClosePath()
	c.shape.Draw(c.image, at, image.NewUniform(ink), image.Point{})
}

// isByHand reports whether no font draws the text of a cell.
func isByHand(text string, cell Cell) bool {
	r, size := utf8.DecodeRuneInString(text)
	_, hasSign := signs[r]
	return size == len(text) && (hasSign && cell.Wide || marks[r].shapes != nil || isOnGrid(r))
}
