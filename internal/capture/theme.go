package capture

import (
	"image/color"
	"math"

	"github.com/charmbracelet/x/ansi"
)

// Ink and Paper are the terminal's own colours.
var (
	Ink   = color.RGBA{0xDC, 0xDF, 0xE4, 0xFF}
	Paper = color.RGBA{0x1B, 0x1D, 0x23, 0xFF}
)

// theme are the sixteen colours that a terminal chooses.
var theme = [16]color.RGBA{
	{0x3A, 0x3F, 0x4B, 0xFF}, {0xE8, 0x6A, 0x72, 0xFF}, {0x8C, 0xC5, 0x70, 0xFF}, {0xE2, 0xBB, 0x6E, 0xFF},
	{0x62, 0xA8, 0xF0, 0xFF}, {0xC9, 0x83, 0xE0, 0xFF}, {0x58, 0xBC, 0xC8, 0xFF}, {0xC8, 0xCD, 0xD6, 0xFF},
	{0x85, 0x8D, 0x9C, 0xFF}, {0xFF, 0x85, 0x8C, 0xFF}, {0xA8, 0xE0, 0x8C, 0xFF}, {0xF5, 0xD4, 0x8E, 0xFF},
	{0x8C, 0xC4, 0xFF, 0xFF}, {0xE0, 0xA6, 0xF2, 0xFF}, {0x82, 0xDA, 0xE4, 0xFF}, {0xFF, 0xFF, 0xFF, 0xFF},
}

// shade is a colour of SGR; nil is the terminal's own.
func shade(c color.Color, own color.RGBA) color.RGBA {
	switch c := c.(type) {
	case nil:
		return own
	case ansi.BasicColor:
		return theme[c&15]
	case ansi.IndexedColor:
		if c < 16 {
			return theme[c]
		}
	}
	solid := color.RGBAModel.Convert(c).(color.RGBA)
	solid.A = 0xFF
	return solid
}

// leastContrast is the least contrast between a letter and its paper (WCAG 2.2, contrast ratio): an
// agent that takes the terminal for a light one writes black.
const leastContrast = 1.8

// readable is the ink, or one that can be read on the paper.
func readable(ink, paper color.RGBA) color.RGBA {
	switch {
	case contrast(ink, paper) >= leastContrast:
		return ink
	case contrast(Ink, paper) > contrast(Paper, paper):
		return Ink
	}
	return Paper
}

func contrast(a, b color.RGBA) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + .05) / (min(x, y) + .05)
}

func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 { return math.Pow(float64(v)/255, 2.2) }
	return .2126*linear(c.R) + .7152*linear(c.G) + .0722*linear(c.B)
}

// between is dim ink.
func between(ink, paper color.RGBA) color.RGBA {
	mix := func(a, b uint8) uint8 { return uint8((3*int(a) + 2*int(b)) / 5) }
	return color.RGBA{mix(ink.R, paper.R), mix(ink.G, paper.G), mix(ink.B, paper.B), 0xFF}
}
