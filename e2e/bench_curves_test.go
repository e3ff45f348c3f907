//go:build bench

package e2e

import (
	"fmt"
	"math"
	"strings"
)

// curve is a figure over the size of a household or an archive.
type curve struct {
	title  string
	figure string // the number follows
	sizes  []int
}

// pictures of growth, by their files.
var growths = map[string][]curve{
	"growth-sessions.svg": {
		{"memory, MB, over running sessions", "memory ", []int{1, 10, 100, 300}},
		{"processor of an idle minute, ms", "idle ", []int{1, 10, 100, 300}},
		{"start until the first poll, ms", "poll ", []int{1, 10, 100, 300}},
		{"/list, ms", "list ", []int{1, 10, 100, 300}},
	},
	"growth-archive.svg": {
		{"memory, MB, over archived sessions", "memory archived ", []int{0, 1000, 3000, 10000}},
		{"start until the first poll, ms", "poll archived ", []int{0, 1000, 3000, 10000}},
	},
}

// A picture has two columns of panels.
const (
	panelWidth, panelHeight = 430, 220
	left, top               = 50, 34 // of the drawing in its panel
	wide, high              = 350, 140
)

// curves draws how the figures grow, this program in black and the baseline in grey.
func curves(all []curve, side func(string) measured) string {
	var svg strings.Builder
	rows := (len(all) + 1) / 2
	fmt.Fprintf(&svg, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="12">`+"\n",
		2*panelWidth, rows*panelHeight)
	fmt.Fprintf(&svg, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", 2*panelWidth, rows*panelHeight)
	for i, c := range all {
		fmt.Fprintf(&svg, `<g transform="translate(%d,%d)">`+"\n", i%2*panelWidth, i/2*panelHeight)
		c.draw(&svg, side)
		svg.WriteString("</g>\n")
	}
	return svg.String() + "</svg>\n"
}

// draw draws one panel; both of its axes begin at zero, so that a straight line is linear growth.
func (c curve) draw(svg *strings.Builder, side func(string) measured) {
	highest := 0.0
	for _, name := range []string{baseline, now} {
		for _, n := range c.sizes {
			if v := half(fmt.Sprint(c.figure, n))(side(name)); v > highest { // false if not measured
				highest = v
			}
		}
	}
	fmt.Fprintf(svg, `<text x="%d" y="20" font-weight="bold">%s</text>`+"\n", left, c.title)
	fmt.Fprintf(svg, `<path d="M%d %dv%dh%d" fill="none" stroke="#888"/>`+"\n", left, top, high, wide)
	fmt.Fprintf(svg, `<text x="%d" y="%d" text-anchor="end">%s</text>`+"\n", left-5, top+10, short(highest))
	largest := float64(c.sizes[len(c.sizes)-1])
	for _, n := range c.sizes {
		fmt.Fprintf(svg, `<text x="%.0f" y="%d" text-anchor="middle">%d</text>`+"\n", left+wide*float64(n)/largest, top+high+16, n)
	}
	for _, line := range []struct{ side, colour string }{{baseline, "#bbb"}, {now, "#111"}} {
		var points []string
		for _, n := range c.sizes {
			if v := half(fmt.Sprint(c.figure, n))(side(line.side)); !math.IsNaN(v) && highest > 0 {
				x, y := left+wide*float64(n)/largest, top+high-high*v/highest
				points = append(points, fmt.Sprintf("%.1f,%.1f", x, y))
				fmt.Fprintf(svg, `<circle cx="%.1f" cy="%.1f" r="3" fill="%s"/>`+"\n", x, y, line.colour)
			}
		}
		if len(points) == 0 {
			continue
		}
		fmt.Fprintf(svg, `<polyline points="%s" fill="none" stroke="%s" stroke-width="2"/>`+"\n", strings.Join(points, " "), line.colour)
	}
}
