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
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/font/gofont/gomonobold"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
	"golang.org/x/text/unicode/norm"
)

// Sizes in pixels: of a cell, and of what is left free around all cells.
const (
	Width  = 16
	Height = 36
	Margin = 24
)

const (
	fontSize = 26
	baseline = 26 // from the top of a cell
	stroke   = 2  // the width of a line
)

// ErrGlyph says that a character cannot be drawn.
var ErrGlyph = errors.New("no font has it")

// Cell is one character and how it looks.
type Cell struct {
	Text  string // one character, or several that no font joins; "" and " " are blank
	Wide  bool   // it takes two columns
	Bold  bool
	Ink   color.RGBA // zero: the picture's
	Paper color.RGBA // zero: the picture's
}

// Line gives the characters of a text of one line, all in one style.
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

// Picture is what is drawn.
type Picture struct {
	Lines      [][]Cell
	Ink, Paper color.RGBA
	Text       string // stays in the PNG, so that one that is kept can be searched
}

// Size is the size in pixels of a picture with so many columns and lines.
func Size(columns, lines int) image.Point {
	return image.Pt(columns*Width+2*Margin, lines*Height+2*Margin)
}

// columns are those of the longest line.
func (p Picture) columns() (most int) {
	for _, line := range p.Lines {
		columns := 0
		for _, c := range line {
			columns += c.columns()
		}
		most = max(most, columns)
	}
	return most
}

// PNG draws it. The error is ErrGlyph for what cannot be drawn.
func (p Picture) PNG() ([]byte, error) {
	c := canvas{RGBA: image.NewRGBA(image.Rectangle{Max: Size(p.columns(), len(p.Lines))}), ink: p.Ink}
	c.fill(c.Bounds(), p.Paper)
	at := image.Pt(Margin, Margin)
	for _, line := range p.Lines {
		for _, cell := range line {
			here := image.Rectangle{at, at.Add(image.Pt(cell.columns()*Width, Height))}
			if err := c.cell(cell, here); err != nil {
				return nil, fmt.Errorf("draw %q: %w", cell.Text, err)
			}
			at.X = here.Max.X
		}
		at = image.Pt(Margin, at.Y+Height)
	}
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed} // Telegram packs it anew
	if err := enc.Encode(&b, c.RGBA); err != nil {
		return nil, err
	}
	return described(b.Bytes(), p.Text), nil
}

// canvas is used by one goroutine.
type canvas struct {
	*image.RGBA
	ink   color.RGBA
	faces [2]face
	shape vector.Rasterizer
	buf   sfnt.Buffer
}

// face is one of the Go fonts: Latin, Greek, Cyrillic and a few signs.
type face struct {
	font.Face
	font *sfnt.Font
}

func (c *canvas) fill(r image.Rectangle, ink color.RGBA) {
	draw.Draw(c.RGBA, r, image.NewUniform(ink), image.Point{}, draw.Src)
}

func (c *canvas) cell(cell Cell, at image.Rectangle) error {
	if cell.Paper != (color.RGBA{}) {
		c.fill(at, cell.Paper)
	}
	ink := cmp.Or(cell.Ink, c.ink)
	r, size := utf8.DecodeRuneInString(cell.Text)
	if size < len(cell.Text) {
		r = utf8.RuneError // no sign and no box
	}
	arms, isBox := boxes[r]
	sign, isSign := signs[r]
	switch {
	case strings.TrimSpace(cell.Text) == "":
	case isBox:
		c.box(arms, at, ink)
	case isSign:
		c.sign(sign, at)
	default:
		return c.text(cell, at, ink)
	}
	return nil
}

func (c *canvas) text(cell Cell, at image.Rectangle, ink color.RGBA) error {
	f, err := c.face(cell.Bold)
	if err != nil {
		return err
	}
	for _, r := range cell.Text {
		if i, err := f.font.GlyphIndex(&c.buf, r); err != nil || i == 0 {
			return ErrGlyph
		}
	}
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: f, Dot: fixed.P(at.Min.X, at.Min.Y+baseline)}
	d.DrawString(cell.Text)
	return nil
}

// face reads a font when it is first needed.
func (c *canvas) face(bold bool) (*face, error) {
	n, data := 0, gomono.TTF
	if bold {
		n, data = 1, gomonobold.TTF
	}
	f := &c.faces[n]
	if f.Face != nil {
		return f, nil
	}
	var err error
	if f.font, err = opentype.Parse(data); err != nil {
		return nil, fmt.Errorf("read a font: %w", err)
	}
	f.Face, err = opentype.NewFace(f.font, &opentype.FaceOptions{Size: fontSize, DPI: 72, Hinting: font.HintingNone})
	return f, err
}

// boxes are the arms of box drawings: left, right, up, down. Drawn here they meet those of the next cell.
var boxes = map[rune][4]bool{
	'─': {true, true, false, false}, '│': {false, false, true, true}, '┼': {true, true, true, true},
	'┌': {false, true, false, true}, '┐': {true, false, false, true}, '└': {false, true, true, false}, '┘': {true, false, true, false},
	'├': {false, true, true, true}, '┤': {true, false, true, true}, '┬': {true, true, false, true}, '┴': {true, true, true, false},
}

func (c *canvas) box(arms [4]bool, at image.Rectangle, ink color.RGBA) {
	middle := image.Rect(0, 0, stroke, stroke).Add(at.Min).Add(image.Pt(Width/2-stroke/2, Height/2-stroke/2))
	for i, to := range [4]image.Rectangle{
		{image.Pt(at.Min.X, middle.Min.Y), middle.Max}, {middle.Min, image.Pt(at.Max.X, middle.Max.Y)},
		{image.Pt(middle.Min.X, at.Min.Y), middle.Max}, {middle.Min, image.Pt(middle.Max.X, at.Max.Y)},
	} {
		if arms[i] {
			c.fill(to, ink)
		}
	}
}

// described puts a text into a PNG, behind its header (PNG, 11.3.3.4: iTXt, not compressed).
func described(data []byte, text string) []byte {
	const header = 8 + 25 // the signature and IHDR
	body := "iTXtDescription\x00\x00\x00\x00\x00" + strings.ReplaceAll(text, "\x00", "")
	out := append([]byte(nil), data[:header]...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(body)-len("iTXt")))
	out = append(out, body...)
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(body)))
	return append(out, data[header:]...)
}
