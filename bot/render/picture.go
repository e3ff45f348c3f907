package render

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
	"golang.org/x/image/vector"
)

// The colours of a picture: dark on light, whatever the theme of the chat is, as code in a screenshot.
var (
	paper   = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	headInk = color.RGBA{0xE6, 0xEC, 0xF3, 0xFF}
	stripe  = color.RGBA{0xF6, 0xF8, 0xFA, 0xFF}
	ruleInk = color.RGBA{0xD8, 0xDE, 0xE4, 0xFF}
	ink     = color.RGBA{0x1F, 0x23, 0x28, 0xFF}
	codeInk = color.RGBA{0xE3, 0xE7, 0xEC, 0xFF} // behind code
)

// picture draws a table as a PNG; false if the fonts lack something of it, or if nobody could read it. The PNG holds the
// table as text, too, so that one that is kept can be searched.
func picture(g grid) ([]byte, bool) {
	if len(g.rows) < 2 || len(g.widths) == 0 {
		return nil, false
	}
	f, err := newFonts()
	if err != nil {
		return nil, false // then it is a file
	}
	l, ok := f.layout(g)
	if !ok {
		return nil, false
	}
	c := canvas{RGBA: image.NewRGBA(image.Rect(0, 0, l.width, l.height)), fonts: f}
	c.table(l, g.align)
	var b bytes.Buffer
	enc := png.Encoder{CompressionLevel: png.BestSpeed} // Telegram packs it anew
	if err := enc.Encode(&b, c.RGBA); err != nil {
		return nil, false
	}
	return described(b.Bytes(), g.markdown()), true
}

type canvas struct {
	*image.RGBA
	fonts *fonts
	shape vector.Rasterizer
}

func (c *canvas) fill(r image.Rectangle, ink color.RGBA) {
	draw.Draw(c.RGBA, r, image.NewUniform(ink), image.Point{}, draw.Src)
}

func (c *canvas) table(l *tableLayout, align func(int) east.Alignment) {
	c.fill(c.Bounds(), paper)
	y := margin
	for i, row := range l.cells {
		bottom := y + l.heights[i]
		switch {
		case i == 0:
			c.fill(image.Rect(margin, y, l.width-margin, bottom), headInk)
		case i%2 == 0:
			c.fill(image.Rect(margin, y, l.width-margin, bottom), stripe)
		}
		x := margin
		for j, lines := range row {
			c.cell(lines, image.Rect(x+cellPad, y+rowPad, x+cellPad+l.columns[j], bottom), align(j))
			x += l.columns[j] + 2*cellPad
		}
		c.fill(image.Rect(margin, bottom-1, l.width-margin, bottom), ruleInk)
		y = bottom
	}
	c.lines(l)
}

// lines draws the frame, and what is between the columns.
func (c *canvas) lines(l *tableLayout) {
	right, bottom := l.width-margin, l.height-margin
	x := margin
	for _, w := range l.columns {
		c.fill(image.Rect(x, margin, x+1, bottom), ruleInk)
		x += w + 2*cellPad
	}
	c.fill(image.Rect(right-1, margin, right, bottom), ruleInk)
	c.fill(image.Rect(margin, margin, right, margin+1), ruleInk)
}

func (c *canvas) cell(lines []line, at image.Rectangle, align east.Alignment) {
	for n, l := range lines {
		x := at.Min.X
		switch align {
		case east.AlignRight:
			x = at.Max.X - l.width
		case east.AlignCenter:
			x += (at.Dx() - l.width) / 2
		}
		for i, w := range l.words {
			if i > 0 && !w.glued {
				x += c.fonts.blank
			}
			c.word(w, x, at.Min.Y+n*lineHeight)
			x += w.width
		}
	}
}

func (c *canvas) word(w word, x, y int) {
	if s, ok := signs[firstRune(w.text)]; ok {
		s.trace(&c.shape)
		c.shape.Draw(c.RGBA, image.Rect(x, y+3, x+signSize, y+3+signSize), image.NewUniform(s.ink), image.Point{})
		return
	}
	if w.style == codeStyle {
		c.fill(image.Rect(x-3, y+3, x+w.width+3, y+lineHeight-3), codeInk)
	}
	d := font.Drawer{Dst: c.RGBA, Src: image.NewUniform(ink), Face: c.fonts.faces[w.style], Dot: fixed.P(x, y+lineHeight-10)}
	d.DrawString(w.text)
	if w.struck {
		c.fill(image.Rect(x, y+lineHeight/2+1, x+w.width, y+lineHeight/2+3), ink)
	}
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
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
