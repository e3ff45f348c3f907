package cellpicture

import (
	"image"
	"image/color"
	"math"
)

// signSize is the width and height of a sign that takes two columns.
const signSize = 28

// sign is a character that the fonts lack and texts are full of: a polygon in a square of one, and its colour.
type sign struct {
	shape [][2]float32
	ink   color.RGBA
}

var (
	green  = color.RGBA{0x1F, 0x88, 0x3D, 0xFF}
	red    = color.RGBA{0xCF, 0x22, 0x2E, 0xFF}
	amber  = color.RGBA{0xD4, 0x9A, 0x00, 0xFF}
	blue   = color.RGBA{0x09, 0x69, 0xDA, 0xFF}
	orange = color.RGBA{0xE3, 0x6C, 0x09, 0xFF}
	dark   = color.RGBA{0x24, 0x29, 0x2F, 0xFF}
	pale   = color.RGBA{0xC9, 0xD1, 0xD9, 0xFF}

	tick  = [][2]float32{{.08, .55}, {.2, .42}, {.4, .62}, {.8, .16}, {.93, .28}, {.41, .88}}
	cross = [][2]float32{{.16, .27}, {.27, .16}, {.5, .39}, {.73, .16}, {.84, .27}, {.61, .5}, {.84, .73}, {.73, .84}, {.5, .61}, {.27, .84}, {.16, .73}, {.39, .5}}
	box   = [][2]float32{{.12, .12}, {.88, .12}, {.88, .88}, {.12, .88}, {.12, .12}, {.22, .22}, {.22, .78}, {.78, .78}, {.78, .22}, {.22, .22}}
	// a triangle with a bar and a dot left out of it
	warning = [][2]float32{{.5, .08}, {.98, .92}, {.02, .92}, {.5, .08}, {.45, .34}, {.47, .64}, {.53, .64}, {.55, .34}, {.45, .34},
		{.45, .70}, {.45, .81}, {.55, .81}, {.55, .70}, {.45, .70}, {.45, .34}}
)

var signs = map[rune]sign{
	'✅': {tick, green}, '✔': {tick, green}, '✓': {tick, green}, '☑': {tick, green},
	'❌': {cross, red}, '✖': {cross, red}, '✗': {cross, red}, '✘': {cross, red}, '☒': {cross, red},
	'⚠': {warning, amber}, '☐': {box, dark},
	'🟢': {circle(), green}, '🔴': {circle(), red}, '🟡': {circle(), amber}, '🟠': {circle(), orange}, '🔵': {circle(), blue},
	'⚫': {circle(), dark}, '⚪': {circle(), pale},
	'⭐': {star(), amber}, '★': {star(), amber}, '☆': {star(), pale},
}

func circle() [][2]float32 { return polygon(32, func(int) float64 { return .4 }) }

func star() [][2]float32 {
	return polygon(10, func(i int) float64 { return []float64{.48, .2}[i%2] })
}

func polygon(n int, radius func(int) float64) [][2]float32 {
	points := make([][2]float32, n)
	for i := range points {
		sin, cos := math.Sincos(2*math.Pi*float64(i)/float64(n) - math.Pi/2)
		points[i] = [2]float32{float32(.5 + radius(i)*cos), float32(.5 + radius(i)*sin)}
	}
	return points
}

// sign draws one in the middle of its cell.
func (c *canvas) sign(s sign, at image.Rectangle) {
	size := min(at.Dx(), signSize)
	c.shape.Reset(size, size)
	for i, p := range s.shape {
		if x, y := p[0]*float32(size), p[1]*float32(size); i == 0 {
			c.shape.MoveTo(x, y)
		} else {
			c.shape.LineTo(x, y)
		}
	}
	c.shape.ClosePath()
	corner := at.Min.Add(image.Pt((at.Dx()-size)/2, (at.Dy()-size)/2))
	c.shape.Draw(c.RGBA, image.Rectangle{corner, corner.Add(image.Pt(size, size))}, image.NewUniform(s.ink), image.Point{})
}
