package render

import (
	"image/color"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"ccbot/internal/cellpicture"
)

// Sizes of a picture in pixels. Telegram scales a photo down to 1280 on its long side: a wider one,
// because of its many columns, has to be zoomed.
const (
	goodWidth = 1280
	maxWidth  = 4000
	maxHeight = 4000
	maxArea   = 6 << 20
	maxRatio  = 18 // core.telegram.org/bots/api#sendphoto: at most 20
	maxWord   = 18 // in columns; a longer one is broken
)

// The colours of a picture: dark on light in every theme of the chat, as code in a screenshot.
var (
	paper   = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	headInk = color.RGBA{0xE6, 0xEC, 0xF3, 0xFF}
	stripe  = color.RGBA{0xF4, 0xF6, 0xF9, 0xFF}
	ink     = color.RGBA{0x1F, 0x23, 0x28, 0xFF}
)

// picture draws a table as in monospace, its cells wrapped; false if it has characters that cannot
// be drawn, or would be unreadable.
func picture(g grid) ([]byte, bool) {
	if len(g.rows) < 2 || len(g.widths) == 0 {
		return nil, false
	}
	wrapped, rowOf := g.wrapped()
	lines := strings.Split(drawn(wrapped), "\n")
	s := cellpicture.Size(wrapped.width()+2, len(lines))
	if s.X > maxWidth || s.Y > maxHeight || s.X*s.Y > maxArea || s.X > maxRatio*s.Y || s.Y > maxRatio*s.X {
		return nil, false
	}
	rowOf = slices.Insert(rowOf, wrapped.heads, 0) // the rule below the head
	p := cellpicture.Picture{Ink: ink, Paper: paper, Text: g.markdown()}
	for i, line := range lines {
		style := cellpicture.Cell{}
		switch row := rowOf[i]; {
		case row == 0:
			style = cellpicture.Cell{Bold: true, Paper: headInk}
		case row%2 == 0:
			style.Paper = stripe
		}
		blank := strings.Repeat(" ", max(wrapped.width()-ansi.StringWidth(line), 0)+1)
		p.Lines = append(p.Lines, cellpicture.Line(" "+line+blank, style))
	}
	data, err := p.PNG()
	return data, err == nil // otherwise it is a file
}

// wrapped has a row for each line of a table whose columns share the width of a phone. rowOf is
// where each comes from.
func (g grid) wrapped() (wrapped grid, rowOf []int) {
	least := make([]int, len(g.widths))
	for _, row := range g.rows {
		for i, c := range row {
			for word := range strings.FieldsSeq(c.Text) {
				least[i] = max(least[i], min(ansi.StringWidth(word), maxWord))
			}
		}
	}
	room := (goodWidth-2*cellpicture.Margin)/cellpicture.Width - 2 - 3*(len(g.widths)-1)
	widths := fit(g.widths, least, room)
	var rows [][]Text
	for i, row := range g.rows {
		first := len(rows)
		for j, c := range row {
			for n, line := range strings.Split(ansi.Wrap(unmarked.Replace(c.Text), widths[j], "/_"), "\n") {
				if first+n == len(rows) {
					rows, rowOf = append(rows, make([]Text, len(widths))), append(rowOf, i)
				}
				rows[first+n][j] = Text{Text: strings.TrimSpace(line)}
			}
		}
		if i == 0 {
			wrapped.heads = len(rows)
		}
	}
	wrapped.rows, wrapped.aligns, wrapped.widths = rows, g.aligns, columnWidths(rows)
	return wrapped, rowOf
}

// unmarked removes characters that only control the breaks of their neighbours.
var unmarked = strings.NewReplacer("\u200B", "", "\u2060", "", "\uFEFF", "", "\u00AD", "", "\u2011", "-")

// fit shares the width among the columns: each has the room for its longest word, and columns with
// more text get more of the rest.
func fit(natural, least []int, width int) []int {
	whole, needed := 0, 0
	for i := range natural {
		whole += natural[i]
		needed += least[i]
	}
	if whole <= width {
		return natural
	}
	columns := slices.Clone(least)
	for i := range columns {
		if wish := whole - needed; wish > 0 && width > needed {
			columns[i] += (width - needed) * (natural[i] - least[i]) / wish
		}
	}
	return columns
}
