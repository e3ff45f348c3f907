package cellpicture

import (
	"image"
	"image/color"
	"math"
)

// sign is a character that the fonts lack and texts are full of: polygons in a square of one, and
// its colour; zero: the cell's.
type sign struct {
	shapes [][][2]float32
	ink    color.RGBA
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

func in(ink color.RGBA, shapes ...[][2]float32) sign { return sign{shapes, ink} }

// signs are the emoji of reports: they are coloured, and take two columns.
var signs = map[rune]sign{
	'✅': in(green, tick), '✔': in(green, tick), '✓': in(green, tick), '☑': in(green, tick),
	'❌': in(red, cross), '✖': in(red, cross), '✗': in(red, cross), '✘': in(red, cross), '☒': in(red, cross),
	'⚠': in(amber, warning), '☐': in(dark, box),
	'🟢': in(green, circle(.4)), '🔴': in(red, circle(.4)), '🟡': in(amber, circle(.4)), '🟠': in(orange, circle(.4)),
	'🔵': in(blue, circle(.4)), '⚫': in(dark, circle(.4)), '⚪': in(pale, circle(.4)),
	'⭐': in(amber, star()), '★': in(amber, star()), '☆': in(pale, star()),
}

// marks are the signs of Claude Code that the built-in fonts lack. They take one column.
var marks = map[rune]sign{
	'⏺': in(color.RGBA{}, circle(.42)),
	'⏵': in(color.RGBA{}, [][2]float32{{.15, .1}, {.9, .5}, {.15, .9}}),
	'⏴': in(color.RGBA{}, [][2]float32{{.85, .1}, {.1, .5}, {.85, .9}}),
	'⏸': in(color.RGBA{}, rect(.15, .1, .4, .9), rect(.6, .1, .85, .9)),
	'⏹': in(color.RGBA{}, rect(.12, .12, .88, .88)),
	'※': in(color.RGBA{}, bar(.08, .08, .92, .92), bar(.92, .08, .08, .92), dot(.5, .1), dot(.5, .9), dot(.1, .5), dot(.9, .5)),
	'⧉': in(color.RGBA{}, frame(.02, .02, .68, .68), frame(.32, .32, .98, .98)),
	'⎇': in(color.RGBA{}, bar(0, .8, .3, .8), bar(.3, .8, .65, .25), bar(.65, .25, 1, .25), bar(.7, .8, 1, .8)),
	'⟳': in(color.RGBA{}, gap(), [][2]float32{{.98, .02}, {.98, .48}, {.56, .3}}),
}

func rect(x0, y0, x1, y1 float32) [][2]float32 {
	return [][2]float32{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}}
}

// frame is a rectangle with a hole.
func frame(x0, y0, x1, y1 float32) [][2]float32 {
	const w = .11
	return [][2]float32{{x0, y0}, {x1, y0}, {x1, y1}, {x0, y1}, {x0, y0}, {x0 + w, y0 + w}, {x0 + w, y1 - w}, {x1 - w, y1 - w}, {x1 - w, y0 + w}, {x0 + w, y0 + w}}
}

func dot(x, y float32) [][2]float32 { return rect(x-.09, y-.09, x+.09, y+.09) }

// bar is a line from one point to another.
func bar(x0, y0, x1, y1 float32) [][2]float32 {
	length := float32(math.Hypot(float64(x1-x0), float64(y1-y0)))
	dx, dy := (y0-y1)/length*.06, (x1-x0)/length*.06
	return [][2]float32{{x0 + dx, y0 + dy}, {x1 + dx, y1 + dy}, {x1 - dx, y1 - dy}, {x0 - dx, y0 - dy}}
}

// gap is a ring with an opening at its upper right.
func gap() (points [][2]float32) {
	const steps = 24
	for i := range 2 * (steps + 1) {
		r, n := .44, i
		if i > steps {
			r, n = .32, 2*steps+1-i
		}
		sin, cos := math.Sincos(float64(n)/steps*1.65*math.Pi - .05*math.Pi)
		points = append(points, [2]float32{float32(.5 + r*cos), float32(.52 + r*sin)})
	}
	return points
}

func circle(radius float64) [][2]float32 { return polygon(32, func(int) float64 { return radius }) }

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
func (c *canvas) sign(s sign, at image.Rectangle, ink color.RGBA) {
	size := min(at.Dx(), at.Dy()*7/9)
	corner := at.Min.Add(image.Pt((at.Dx()-size)/2, (at.Dy()-size)/2))
	if s.ink != (color.RGBA{}) {
		ink = s.ink
	}
	for _, shape := range s.shapes {
		c.polygon(shape, image.Rectangle{corner, corner.Add(image.Pt(size, size))}, ink)
	}
}

// polygon fills a shape, in fractions of a part of the picture.
func (c *canvas) polygon(shape [][2]float32, at image.Rectangle, ink color.RGBA) {
	c.shape.Reset(at.Dx(), at.Dy())
	for i, p := range shape {
		if x, y := p[0]*float32(at.Dx()), p[1]*float32(at.Dy()); i == 0 {
			c.shape.MoveTo(x, y)
		} else {
			c.shape.LineTo(x, y)
		}
	}
	c.shape.ClosePath()
	c.shape.Draw(c.image, at, image.NewUniform(ink), image.Point{})
}
