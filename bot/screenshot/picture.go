package screenshot

import (
	"strings"

	"ccbot/bot/outbox"
	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
)

const (
	photoSide  = 1280 // pixels; Telegram makes a longer side of a photo so long, which blurs letters
	margin     = 12
	widest     = 16 // of a cell, in pixels
	narrowest  = 10
	maxColumns = 300
	maxRows    = 120
	minRows    = 5       // a flatter picture is no photo: Telegram takes 20 to 1
	maxBytes   = 5 << 19 // of a picture: a card's file takes a little more
)

// picture draws what a terminal shows. whole says that nothing had to be left out.
func picture(screen string, fonts []string) (p *outbox.Picture, whole bool, err error) {
	rows, whole := shownRows(screen)
	for {
		columns := 1
		for _, row := range rows {
			columns = max(columns, cellpicture.Columns(row))
		}
		grid, photo := gridFor(columns, len(rows))
		drawn := cellpicture.Picture{Lines: rows, Ink: capture.Ink, Paper: capture.Paper, Grid: grid, Columns: columns, Fonts: fonts}
		data, err := drawn.PNG()
		if err != nil || len(data) <= maxBytes {
			return &outbox.Picture{PNG: data, Exact: !photo}, whole, err
		}
		rows, whole = rows[(len(rows)+1)/2:], false // every cell has another colour
	}
}

// shownRows are the rows of a screen that are drawn: without the blank ones at its end, and of a
// screen that is too large the lower left part.
func shownRows(screen string) (rows [][]cellpicture.Cell, whole bool) {
	rows = capture.Read(screen)
	for len(rows) > 0 && blank(rows[len(rows)-1]) {
		rows = rows[:len(rows)-1]
	}
	for len(rows) < minRows {
		rows = append(rows, nil)
	}
	whole = len(rows) <= maxRows
	rows = rows[max(0, len(rows)-maxRows):]
	for i, row := range rows {
		for cellpicture.Columns(row) > maxColumns {
			row, whole = row[:min(len(row)-1, maxColumns)], false
		}
		rows[i] = row
	}
	return rows, whole
}

func blank(row []cellpicture.Cell) bool {
	for _, c := range row {
		if strings.TrimSpace(c.Text) != "" || c.Underline || c.Strike || c.Paper != (cellpicture.Cell{}).Paper {
			return false
		}
	}
	return true
}

// gridFor is the largest grid with which a picture is a photo that Telegram leaves as it is. A cell is
// twice as high as wide.
func gridFor(columns, rows int) (g cellpicture.Grid, photo bool) {
	for width := widest; width >= narrowest; width-- {
		g = cellpicture.Grid{Width: width, Height: 2 * width, Margin: margin}
		if size := g.Size(columns, rows); size.X <= photoSide && size.Y <= photoSide {
			return g, true
		}
	}
	return g, false
}
