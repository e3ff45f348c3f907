package cellpicture

import (
	"image"
	"image/color"
	"math"
	"strings"
)

// arms are the lines of the box drawings U+2500 to U+257F, sixteen in a row: left, right, up, down,
// each 0 none, 1 light, 2 heavy or 3 double. A broken line is drawn as a whole one.
var arms = strings.Fields("" +
	"1100 2200 0011 0022 1100 2200 0011 0022 1100 2200 0011 0022 0101 0201 0102 0202 " + // ─━│┃┄┅┆┇┈┉┊┋┌┍┎┏
	"1001 2001 1002 2002 0110 0210 0120 0220 1010 2010 1020 2020 0111 0211 0121 0112 " + // ┐┑┒┓└┕┖┗┘┙┚┛├┝┞┟
	"0122 0221 0212 0222 1011 2011 1021 1012 1022 2021 2012 2022 1101 2101 1201 2201 " + // ┠┡┢┣┤┥┦┧┨┩┪┫┬┭┮┯
	"1102 2102 1202 2202 1110 2110 1210 2210 1120 2120 1220 2220 1111 2111 1211 2211 " + // ┰┱┲┳┴┵┶┷┸┹┺┻┼┽┾┿
	"1121 1112 1122 2121 1221 2112 1212 2221 2212 2122 1222 2222 1100 2200 0011 0022 " + // ╀╁╂╃╄╅╆╇╈╉╊╋╌╍╎╏
	"3300 0033 0301 0103 0303 3001 1003 3003 0310 0130 0330 3010 1030 3030 0311 0133 " + // ═║╒╓╔╕╖╗╘╙╚╛╜╝╞╟
	"0333 3011 1033 3033 3301 1103 3303 3310 1130 3330 3311 1133 3333 0101 1001 1010 " + // ╠╡╢╣╤╥╦╧╨╩╪╫╬╭╮╯
	"0110 0000 0000 0000 1000 0010 0100 0001 2000 0020 0200 0002 1200 0012 2100 0021 ") //  ╰╱╲╳╴╵╶╷╸╹╺╻╼╽╾╿

const (
	left, right, up, down = 0, 1, 2, 3
	heavy, double         = '2', '3'
)

// isOnGrid reports whether a character must meet the cells around it, so that no font draws it: box
// drawings, blocks, dots of braille, and the arrows of status lines.
func isOnGrid(r rune) bool {
	return r >= '─' && r <= '▟' || r >= '⠀' && r <= '⣿' || powerline[r] != nil || r == '⎿'
}

// onGrid draws such a character.
func (c *canvas) onGrid(r rune, at image.Rectangle, ink color.RGBA) {
	switch {
	case r >= '╭' && r <= '╰':
		c.arc(arms[r-'─'], at, ink)
	case r >= '╱' && r <= '╳':
		c.diagonals(r, at, ink)
	case r >= '─' && r <= '╿':
		for to, weight := range arms[r-'─'] {
			if weight != '0' {
				c.arm(arms[r-'─'], to, at, ink)
			}
		}
	case r >= '▀' && r <= '▟':
		c.block(r, at, ink)
	case r >= '⠀' && r <= '⣿':
		c.braille(int(r-'⠀'), at, ink)
	case powerline[r] != nil:
		c.polygon(powerline[r], at, ink)
	case r == '⎿':
		corner := c.part(at, .3, .62, 1, 1).Min
		c.fill(image.Rect(corner.X, at.Min.Y, corner.X+c.stroke, corner.Y+c.stroke), ink)
		c.fill(image.Rect(corner.X, corner.Y, at.Max.X, corner.Y+c.stroke), ink)
	}
}

// part is a part of a cell, in fractions of it.
func (c *canvas) part(at image.Rectangle, x0, y0, x1, y1 float64) image.Rectangle {
	x := func(f float64) int { return at.Min.X + int(math.Round(f*float64(at.Dx()))) }
	y := func(f float64) int { return at.Min.Y + int(math.Round(f*float64(at.Dy()))) }
	return image.Rect(x(x0), y(y0), x(x1), y(y1))
}

// middle is the crossing of the lines of a cell, as wide as a light line.
func (c *canvas) middle(at image.Rectangle) image.Rectangle {
	corner := at.Min.Add(image.Pt((at.Dx()-c.stroke)/2, (at.Dy()-c.stroke)/2))
	return image.Rectangle{corner, corner.Add(image.Pt(c.stroke, c.stroke))}
}

// arm draws the line from the middle of a cell to one of its sides.
func (c *canvas) arm(arms string, to int, at image.Rectangle, ink color.RGBA) {
	gap := c.stroke + c.stroke/2
	across := [2]int{up, down} // the arms on the other axis
	if to >= up {
		across = [2]int{left, right}
	}
	weight := func(i int) byte { return arms[across[i]] }
	switch {
	case arms[to] == double:
		for i, off := range [2]int{-gap, gap} {
			start := 0
			switch {
			case weight(i) == double:
				start = gap
			case weight(i) == '0' && weight(1-i) == double:
				start = -gap
			}
			c.line(to, off, start, 0, at, ink)
		}
	case weight(0) == double && weight(1) == double && arms[to^1] == '0':
		c.line(to, 0, gap, 0, at, ink)
	case (weight(0) == double || weight(1) == double) && arms[to^1] == '0':
		c.line(to, 0, -gap, 0, at, ink)
	case arms[to] == heavy:
		c.line(to, 0, 0, c.grown(), at, ink)
	default:
		c.line(to, 0, 0, 0, at, ink)
	}
}

// grown returns by how many pixels a heavy line is wider than a light one, on each side.
func (c *canvas) grown() int { return max(c.stroke/2, 1) }

// line draws a line to a side of a cell: off is its distance from the middle line, start the
// distance from the middle at which it begins, and grow by how much it is wider than a light line,
// on each side.
func (c *canvas) line(to, off, start, grow int, at image.Rectangle, ink color.RGBA) {
	r := c.middle(at).Inset(-grow)
	switch to {
	case left:
		r.Min.X, r.Max.X = at.Min.X, r.Max.X-start
	case right:
		r.Min.X, r.Max.X = r.Min.X+start, at.Max.X
	case up:
		r.Min.Y, r.Max.Y = at.Min.Y, r.Max.Y-start
	case down:
		r.Min.Y, r.Max.Y = r.Min.Y+start, at.Max.Y
	}
	shift := image.Pt(0, off)
	if to >= up {
		shift = image.Pt(off, 0)
	}
	c.fill(r.Add(shift).Intersect(at), ink)
}

// arc draws a round corner: two lines, and a quarter of a circle between them.
func (c *canvas) arc(arms string, at image.Rectangle, ink color.RGBA) {
	m := c.middle(at)
	radius := (min(at.Dx(), at.Dy()) - c.stroke) / 2
	toRight, toDown := arms[right] == '1', arms[down] == '1'
	centre := image.Pt(m.Min.X-radius, m.Min.Y-radius) // of the circle
	x, y := -1, -1
	if toRight {
		centre.X, x = m.Max.X+radius, 1
	}
	if toDown {
		centre.Y, y = m.Max.Y+radius, 1
	}
	inner, outer := float64(radius), float64(radius+c.stroke)
	var shape [][2]float32
	const steps = 12
	for i := range 2 * (steps + 1) {
		r, n := outer, i
		if i > steps {
			r, n = inner, 2*steps+1-i
		}
		sin, cos := math.Sincos(float64(n) / steps * math.Pi / 2)
		px := float64(centre.X-at.Min.X) - float64(x)*cos*r
		py := float64(centre.Y-at.Min.Y) - float64(y)*sin*r
		shape = append(shape, [2]float32{float32(px) / float32(at.Dx()), float32(py) / float32(at.Dy())})
	}
	c.polygon(shape, at, ink)
	h, v := image.Rect(at.Min.X, m.Min.Y, centre.X, m.Max.Y), image.Rect(m.Min.X, at.Min.Y, m.Max.X, centre.Y)
	if toRight {
		h = image.Rect(centre.X, m.Min.Y, at.Max.X, m.Max.Y)
	}
	if toDown {
		v = image.Rect(m.Min.X, centre.Y, m.Max.X, at.Max.Y)
	}
	c.fill(h.Intersect(at), ink)
	c.fill(v.Intersect(at), ink)
}

func (c *canvas) diagonals(r rune, at image.Rectangle, ink color.RGBA) {
	w := float32(c.stroke) / float32(at.Dx())
	if r != '╲' {
		c.polygon([][2]float32{{1 - w, 0}, {1, 0}, {w, 1}, {0, 1}}, at, ink)
	}
	if r != '╱' {
		c.polygon([][2]float32{{0, 0}, {w, 0}, {1, 1}, {1 - w, 1}}, at, ink)
	}
}

// quadrants of U+2596 to U+259F: 1 upper left, 2 upper right, 4 lower left, 8 lower right.
var quadrants = [...]int{4, 8, 1, 1 | 4 | 8, 1 | 8, 1 | 2 | 4, 1 | 2 | 8, 2, 2 | 4, 2 | 4 | 8}

func (c *canvas) block(r rune, at image.Rectangle, ink color.RGBA) {
	switch {
	case r == '▀':
		c.fill(c.part(at, 0, 0, 1, .5), ink)
	case r <= '█': // eighths from below
		c.fill(c.part(at, 0, 1-float64(r-'▀')/8, 1, 1), ink)
	case r <= '▏': // eighths from the left, seven down to one
		c.fill(c.part(at, 0, 0, float64('▐'-r)/8, 1), ink)
	case r == '▐':
		c.fill(c.part(at, .5, 0, 1, 1), ink)
	case r <= '▓':
		c.blend(at, ink, 64*uint8(r-'▐'))
	case r == '▔':
		c.fill(c.part(at, 0, 0, 1, .125), ink)
	case r == '▕':
		c.fill(c.part(at, .875, 0, 1, 1), ink)
	default:
		for i := range 4 {
			if x, y := float64(i%2)/2, float64(i/2)/2; quadrants[r-'▖']&(1<<i) != 0 {
				c.fill(c.part(at, x, y, x+.5, y+.5), ink)
			}
		}
	}
}

// brailleDots are the places of the bits of a braille letter: column and row.
var brailleDots = [8][2]float64{{0, 0}, {0, 1}, {0, 2}, {1, 0}, {1, 1}, {1, 2}, {0, 3}, {1, 3}}

func (c *canvas) braille(dots int, at image.Rectangle, ink color.RGBA) {
	size := max(2*c.stroke, at.Dx()/5)
	for i, d := range brailleDots {
		if dots&(1<<i) == 0 {
			continue
		}
		middle := c.part(at, (d[0]*2+1)/4, (d[1]*2+1)/8, 1, 1).Min
		c.fill(image.Rect(0, 0, size, size).Add(middle).Sub(image.Pt(size/2, size/2)), ink)
	}
}

// powerline are the arrows of status lines and prompts, as polygons in a cell.
var powerline = map[rune][][2]float32{
	'\uE0A0': {{.2, .1}, {.32, .1}, {.32, .6}, {.68, .42}, {.68, .25}, {.56, .25}, {.74, .1}, {.92, .25}, {.8, .25}, {.8, .5}, {.32, .72}, {.32, .9}, {.2, .9}},
	'\uE0B0': {{0, 0}, {1, .5}, {0, 1}},
	'\uE0B4': {{0, 0}, {1, .5}, {0, 1}}, // a round one
	'\uE0B1': {{0, 0}, {.12, 0}, {1, .5}, {.12, 1}, {0, 1}, {.86, .5}},
	'\uE0B2': {{1, 0}, {0, .5}, {1, 1}},
	'\uE0B6': {{1, 0}, {0, .5}, {1, 1}}, // a round one
	'\uE0B3': {{1, 0}, {.88, 0}, {0, .5}, {.88, 1}, {1, 1}, {.14, .5}},
}
