package cellpicture

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/image/vector"
	"golang.org/x/text/unicode/norm"

	"ccbot/internal/systemfont"
)

// Sizes in pixels: of a cell, and of what is left free around all cells. A picture may have others.
const (
	Width  = 16
	Height = 36
	Margin = 24
)

// ErrGlyph says that a character cannot be drawn.
var ErrGlyph = errors.New("no font has it")

// Cell is one character and how it looks.
type Cell struct {
	Text      string // one character, or several that no font joins; "" and " " are blank
	Wide      bool   // it takes two columns
	Bold      bool
	Italic    bool
	Underline bool
	Strike    bool
	Ink       color.RGBA // zero: the picture's
	Paper     color.RGBA // zero: the picture's
}

// Line returns the characters of a one-line text, all in one style.
func Line(text string, style Cell) (line []Cell) {
	for text != "" {
		letter, width := ansi.FirstGraphemeCluster(text, ansi.GraphemeWidth)
		text = text[len(letter):]
		style.Text, style.Wide = norm.NFC.String(strings.TrimRight(letter, "\uFE0F\uFE0E")), width > 1
		line = append(line, style)
	}
	return line
}

func (c Cell) columns() int {
	if c.Wide {
		return 2
	}
	return 1
}

// Grid is the size of a cell, and of what is left free around all cells, in pixels.
type Grid struct{ Width, Height, Margin int }

// Size returns the size in pixels of a picture with the given columns and lines.
func (g Grid) Size(columns, lines int) image.Point {
	return image.Pt(columns*g.Width+2*g.Margin, lines*g.Height+2*g.Margin)
}

// Picture is the text to draw.
type Picture struct {
	Lines      [][]Cell
	Ink, Paper color.RGBA
	Text       string // stays in the PNG, so that one that is kept can be searched
	Grid       Grid   // zero: Width, Height and Margin
	// Columns is the least width, in cells.
	Columns int
	// Fonts has the characters that the built-in fonts lack. With it, a frame stands for a
	// character that no font has; if it is nil, such a character is ErrGlyph.
	Fonts Fonts
}

// Fonts finds the glyphs of characters. A bitmap has a height in pixels. A character without a font
// is not in the map.
type Fonts interface {
	Find(letters []rune, pixels int) map[rune]systemfont.Glyph
}

// Drawn is a finished picture.
type Drawn struct {
	Image   *image.RGBA
	Missing []rune // the characters that frames stand for
	text    string
}

// Size is Grid.Size for the usual grid.
func Size(columns, lines int) image.Point { return Grid{Width, Height, Margin}.Size(columns, lines) }

// Columns is the width of a line, in cells.
func Columns(line []Cell) (columns int) {
	for _, c := range line {
		columns += c.columns()
	}
	return columns
}

// Draw draws the picture. The error is ErrGlyph for a character that cannot be drawn.
func (p Picture) Draw() (*Drawn, error) {
	g, columns := cmp.Or(p.Grid, Grid{Width, Height, Margin}), p.Columns
	for _, line := range p.Lines {
		columns = max(columns, Columns(line))
	}
	c := canvas{image: image.NewRGBA(image.Rectangle{Max: g.Size(columns, len(p.Lines))}), ink: p.Ink,
		stroke: max(g.Width/8, 1), frames: p.Fonts != nil}
	if err := c.letters.read(p, g.Width); err != nil {
		return nil, err
	}
	c.fill(c.image.Bounds(), p.Paper)
	at := image.Pt(g.Margin, g.Margin)
	for _, line := range p.Lines {
		for _, cell := range line {
			here := image.Rectangle{at, at.Add(image.Pt(cell.columns()*g.Width, g.Height))}
			if err := c.cell(cell, here, g.Width); err != nil {
				return nil, fmt.Errorf("draw %q: %w", cell.Text, err)
			}
			at.X = here.Max.X
		}
		at = image.Pt(g.Margin, at.Y+g.Height)
	}
	return &Drawn{Image: c.image, Missing: distinct(c.missing), text: p.Text}, nil
}

// PNG draws the picture and encodes it. The error is that of Draw.
func (p Picture) PNG() ([]byte, error) {
	d, err := p.Draw()
	if err != nil {
		return nil, err
	}
	return d.PNG()
}

// Packages returns the Debian packages of fonts with the missing characters.
func (d *Drawn) Packages() (all []string) {
	for _, r := range d.Missing {
		if name := systemfont.Package(r); name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// PNG encodes the picture.
func (d *Drawn) PNG() ([]byte, error) {
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed} // Telegram packs it again
	if err := enc.Encode(&b, d.Image); err != nil {
		return nil, err
	}
	return described(b.Bytes(), d.text), nil
}

// canvas is used by one goroutine.
type canvas struct {
	image   *image.RGBA
	ink     color.RGBA
	stroke  int // the width of a line
	letters glyphSet
	frames  bool   // a frame stands for a character that no font has
	missing []rune // these characters
	shape   vector.Rasterizer
}

func (c *canvas) fill(r image.Rectangle, ink color.RGBA) {
	draw.Draw(c.image, r, image.NewUniform(ink), image.Point{}, draw.Src)
}

// blend fills a part so that what is below shines through.
func (c *canvas) blend(r image.Rectangle, ink color.RGBA, alpha uint8) {
	draw.DrawMask(c.image, r, image.NewUniform(ink), image.Point{}, image.NewUniform(color.Alpha{alpha}), image.Point{}, draw.Over)
}

func (c *canvas) cell(cell Cell, at image.Rectangle, width int) error {
	if cell.Paper != (color.RGBA{}) {
		c.fill(at, cell.Paper)
	}
	ink := cmp.Or(cell.Ink, c.ink)
	y := at.Min.Y + at.Dy()*6/7
	if cell.Underline {
		c.fill(image.Rect(at.Min.X, y, at.Max.X, y+c.stroke), ink)
	}
	if text := composed(cell); text != "" {
		if err := c.character(text, cell, at, ink, width); err != nil {
			return err
		}
	}
	if cell.Strike {
		c.fill(image.Rect(at.Min.X, c.middle(at).Min.Y, at.Max.X, c.middle(at).Max.Y), ink)
	}
	return nil
}

func (c *canvas) character(text string, cell Cell, at image.Rectangle, ink color.RGBA, width int) error {
	r, size := utf8.DecodeRuneInString(text)
	sign, hasSign := signs[r]
	if mark, ok := marks[r]; ok {
		sign = mark
	}
	switch byHand := isByHand(text, cell); {
	case byHand && isOnGrid(r):
		c.onGrid(r, at, ink)
		return nil
	case byHand:
		c.sign(sign, at, ink)
		return nil
	}
	err := c.text(text, cell, at, ink, width)
	switch {
	case !errors.Is(err, ErrGlyph):
		return err
	case hasSign && size == len(text):
		c.sign(sign, at, ink)
	case c.frames:
		c.missing = append(c.missing, r)
		c.polygon(frame(.15, .2, .85, .8), at, ink)
	default:
		return err
	}
	return nil
}

// described inserts a text after the header of a PNG (PNG, 11.3.3.4: iTXt, not compressed).
func described(data []byte, text string) []byte {
	const header = 8 + 25 // the signature and IHDR
	body := "iTXtDescription\x00\x00\x00\x00\x00" + strings.ReplaceAll(text, "\x00", "")
	out := append([]byte(nil), data[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)-len("iTXt")))
	out = append(out, body...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(body)))
	return append(out, data[header:]...)
}
