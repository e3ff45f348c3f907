package usage

import (
	"image"
	"image/color"
	"image/draw"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ccbot/internal/cellpicture"

	"github.com/charmbracelet/x/ansi"
)

// The words of the chart are on the cells of a picture: below the title the axis of the cost at the
// left, and the dates below the bars. The cells are large: a phone shows the picture at a third of
// its size.
const (
	axis      = 8 // columns of the axis
	top       = 2 // the row of the highest line
	plotRows  = 8 // from the highest line to the lowest
	dates     = top + plotRows + 1
	perDay    = 28 // pixels
	weekDates = 7  // a date under each seventh day, back from today
)

var (
	grid  = cellpicture.Grid{Width: 26, Height: 54, Margin: 28}
	paper = color.RGBA{0xff, 0xff, 0xff, 0xff}
	ink   = color.RGBA{0x1f, 0x29, 0x37, 0xff}
	faint = color.RGBA{0x6b, 0x72, 0x80, 0xff}
	rule  = color.RGBA{0xe5, 0xe7, 0xeb, 0xff}
	bar   = color.RGBA{0x6f, 0xa8, 0xe6, 0xff}
	today = color.RGBA{0x1d, 0x5f, 0xb8, 0xff}
)

// chart draws the cost of each day; the last one is that of now.
func (w words) chart(days []float64, now time.Time) ([]byte, error) {
	var sum, most float64
	for _, d := range days {
		sum, most = sum+d, max(most, d)
	}
	most = ceiling(most)
	columns := axis + 1 + perDay*len(days)/grid.Width
	lines := make([][]cellpicture.Cell, dates+1)
	span := w.ShortDay(dayOf(now, len(days)-1)) + " – " + w.ShortDay(now) // digits: a font may lack 月
	total := cellpicture.Line("≈ "+w.money(sum), cellpicture.Cell{Bold: true})
	gap := cellpicture.Line(strings.Repeat(" ", max(columns-len(total)-ansi.StringWidth(span), 1)), cellpicture.Cell{})
	lines[0] = slices.Concat(total, gap, cellpicture.Line(span, cellpicture.Cell{Ink: faint}))
	for n := range 3 {
		value := w.amount(most*float64(2-n)/2, most)
		gap := strings.Repeat(" ", max(axis-1-utf8.RuneCountInString(value), 0))
		lines[top+n*plotRows/2] = cellpicture.Line(gap+value, cellpicture.Cell{Ink: faint})
	}
	var below strings.Builder
	for i := range days {
		back := len(days) - 1 - i
		if at := axis + perDay*i/grid.Width - 2; back%weekDates == 0 && at >= below.Len() {
			below.WriteString(strings.Repeat(" ", at-below.Len()) + w.ShortDay(dayOf(now, back)))
		}
	}
	lines[dates] = cellpicture.Line(below.String(), cellpicture.Cell{Ink: faint})
	drawn, err := cellpicture.Picture{Lines: lines, Ink: ink, Paper: paper, Grid: grid, Columns: columns, Text: "cost per day"}.Draw()
	if err != nil {
		return nil, err
	}
	bars(drawn.Image, days, most)
	return drawn.PNG()
}

// bars draws the lines and the bars on a picture.
func bars(canvas *image.RGBA, days []float64, most float64) {
	fill := func(x0, y0, x1, y1 int, c color.RGBA) {
		draw.Draw(canvas, image.Rect(x0, y0, x1, y1), image.NewUniform(c), image.Point{}, draw.Src)
	}
	level := func(part float64) int { // part of the way up
		high := float64(plotRows * grid.Height)
		return grid.Margin + top*grid.Height + grid.Height/2 + int(math.Round(high*(1-part)))
	}
	left, right := grid.Margin+axis*grid.Width, canvas.Bounds().Dx()-grid.Margin
	for _, part := range []float64{1, .5} {
		fill(left-grid.Width/4, level(part), right, level(part)+2, rule)
	}
	for i, d := range days {
		x, c := left+perDay*i, bar
		if i == len(days)-1 {
			c = today
		}
		if d > 0 {
			fill(x, min(level(d/most), level(0)-3), x+perDay*3/4, level(0), c)
		}
	}
	fill(left-grid.Width/4, level(0), right, level(0)+2, faint)
}

// dayOf is noon of a day some days back: no change of the clocks moves it to another day.
func dayOf(now time.Time, back int) time.Time {
	return time.Date(now.Year(), now.Month(), now.Day()-back, 12, 0, 0, 0, now.Location())
}

// ceiling is the least of 1, 2, 4, 6, 8, 10, 20 … that is no less than an amount, in dollars or
// cents.
func ceiling(amount float64) float64 {
	for unit := 0.01; ; unit *= 10 {
		for _, n := range []float64{1, 2, 4, 6, 8} {
			if amount <= n*unit {
				return n * unit
			}
		}
	}
}

// amount is a value of the axis, with cents where the axis ends below ten dollars.
func (w words) amount(value, most float64) string {
	if most < 10 {
		return w.Dollars(value, 2)
	}
	return w.Dollars(value, 0)
}
