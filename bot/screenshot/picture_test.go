package screenshot

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/outbox"
	"ccbot/internal/capture"
	"ccbot/internal/cellpicture"
	"ccbot/internal/systemfont/fonttest"
)

func TestPictureFitsTelegram(t *testing.T) {
	screen := func(columns, rows int) string {
		return strings.Repeat(strings.Repeat("x", columns)+"\n", rows)
	}
	for _, tt := range []struct {
		name         string
		screen       string
		photo, whole bool
		width        int // of a cell
	}{
		{"a phone's", screen(40, 30), true, true, 16},
		{"the usual", screen(120, 40), true, true, 10},
		{"the widest that is a photo", screen(125, 40), true, true, 10},
		{"a wide one", screen(200, 50), false, true, 10},
		{"300 columns", screen(300, 60), false, true, 10},
		{"more", screen(301, 60), false, false, 10},
		{"wide letters", strings.Repeat("语", 151), false, false, 10},
		{"500 rows", screen(80, 500), false, false, 10},
		{"one row", screen(100, 1), true, true, 12},
		{"nothing", "\n\n\n", true, true, 16},
		{"blank rows at the end", screen(80, 4) + strings.Repeat("\n", 200), true, true, 15},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := picture(tt.screen, fonttest.Fonts{})
			require.NoError(t, err)
			assert.Equal(t, tt.whole, p.whole)
			assert.Equal(t, tt.photo, !p.picture.Exact)
			img, err := png.Decode(bytes.NewReader(p.picture.PNG))
			require.NoError(t, err)
			size := img.Bounds().Size()
			rows, _ := shownRows(tt.screen)
			grid, photo := gridFor(max(1, cellpicture.Columns(rows[0])), len(rows))
			assert.Equal(t, tt.width, grid.Width)
			assert.Equal(t, tt.photo, photo)
			if photo {
				assert.LessOrEqual(t, max(size.X, size.Y), photoSide)
				assert.LessOrEqual(t, max(size.X, size.Y), 20*min(size.X, size.Y))
			}
			assert.LessOrEqual(t, size.X*size.Y, 3100*2500)
			assert.LessOrEqual(t, len(p.picture.PNG), outbox.MaxPhoto)
		})
	}
}

// A screen of unique cells is cut until the picture is small enough.
func TestPictureOfNoise(t *testing.T) {
	var b strings.Builder
	for row := range maxRows {
		for column := range maxColumns {
			n := row*maxColumns + column
			fmt.Fprintf(&b, "\x1b[38;2;%d;%d;%d;48;2;%d;%d;%dm%c", n*7%256, n*13%256, n*31%256, n*17%256, n*29%256, n*3%256, '!'+rune(n*11%90))
		}
		b.WriteString("\n")
	}
	p, err := picture(b.String(), fonttest.Fonts{})
	require.NoError(t, err)
	assert.LessOrEqual(t, len(p.picture.PNG), maxBytes)
	assert.False(t, p.whole)
	assert.NotEmpty(t, p.picture.PNG)
}

// A letter is at its place in the terminal.
func TestPictureLetterPosition(t *testing.T) {
	p, err := picture(strings.Repeat(" ", 30)+"\x1b[32mM\x1b[0m\n\n\x1b[7m \x1b[0m"+strings.Repeat(" ", 30)+"x", fonttest.Fonts{})
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(p.picture.PNG))
	require.NoError(t, err)
	inked := func(column, row int) (n int) {
		at := image.Pt(margin+column*widest, margin+row*2*widest)
		for y := range 2 * widest {
			for x := range widest {
				if img.At(at.X+x, at.Y+y) != img.At(0, 0) {
					n++
				}
			}
		}
		return n
	}
	assert.Zero(t, inked(29, 0)+inked(31, 0)+inked(1, 2))
	assert.Positive(t, inked(30, 0))
	assert.Equal(t, widest*2*widest, inked(0, 2), "a cursor")
	assert.Equal(t, capture.Ink, img.At(margin, margin+2*2*widest))
}
