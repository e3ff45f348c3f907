package cellpicture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	black = color.RGBA{A: 0xFF}
	white = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
)

func drawn(t *testing.T, lines ...[]Cell) image.Image {
	t.Helper()
	p := Picture{Lines: lines, Ink: black, Paper: white}
	data, err := p.PNG()
	require.NoError(t, err)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	require.Equal(t, Size(p.columns(), len(lines)), img.Bounds().Size())
	return img
}

// inked counts the pixels of a part that are not of the paper.
func inked(img image.Image, r image.Rectangle) (n int) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if r, g, b, _ := img.At(x, y).RGBA(); r&g&b != 0xFFFF {
				n++
			}
		}
	}
	return n
}

// cellAt is where a cell is.
func cellAt(column, line, columns int) image.Rectangle {
	corner := image.Pt(Margin+column*Width, Margin+line*Height)
	return image.Rectangle{corner, corner.Add(image.Pt(columns*Width, Height))}
}

func TestLine(t *testing.T) {
	style := Cell{Bold: true}
	assert.Equal(t, []Cell{{Text: "é", Bold: true}, {Text: " ", Bold: true}, {Text: "⚠", Wide: true, Bold: true}, {Text: "语", Wide: true, Bold: true}},
		Line("e\u0301 ⚠\uFE0F语", style))
	assert.Empty(t, Line("", style))
}

func FuzzLine(f *testing.F) {
	f.Add("e\u0301 ⚠\uFE0F语\x00\x1b[1m\xff")
	f.Fuzz(func(t *testing.T, text string) {
		line := Line(text, Cell{})
		assert.Equal(t, text == "", len(line) == 0)
		assert.LessOrEqual(t, len(line), len(text))
	})
}

func TestCellsStandInColumns(t *testing.T) {
	img := drawn(t, Line("i✅M", Cell{}), Line("   M", Cell{Bold: true}), Line("ж", Cell{Paper: black, Ink: white}))
	assert.Equal(t, image.Pt(4*Width+2*Margin, 3*Height+2*Margin), img.Bounds().Size())
	for _, at := range []image.Rectangle{cellAt(0, 0, 1), cellAt(1, 0, 2), cellAt(3, 0, 1), cellAt(3, 1, 1)} {
		assert.Positive(t, inked(img, at), at)
	}
	assert.Zero(t, inked(img, cellAt(0, 1, 3)), "blanks")
	assert.Greater(t, inked(img, cellAt(3, 1, 1)), inked(img, cellAt(3, 0, 1)), "bold is bolder")
	assert.Less(t, inked(img, cellAt(0, 2, 1)), Width*Height, "white on black")
	assert.Greater(t, inked(img, cellAt(0, 2, 1)), Width*Height/2, "white on black")
	all := inked(img, img.Bounds())
	assert.Equal(t, all, inked(img, cellAt(0, 0, 4))+inked(img, cellAt(0, 1, 4))+inked(img, cellAt(0, 2, 4)), "nothing leaves its line")
}

func TestBoxesMeetThoseBeside(t *testing.T) {
	img := drawn(t, Line("┌─┐", Cell{}), Line("│ │", Cell{}), Line("└─┘", Cell{}))
	middle := image.Pt(Margin+Width/2, Margin+Height/2)
	for x := middle.X; x < middle.X+2*Width; x++ {
		for _, y := range []int{middle.Y, middle.Y + 2*Height} {
			require.Equal(t, black, color.RGBAModel.Convert(img.At(x, y)), "%d %d", x, y)
		}
	}
	for y := middle.Y; y < middle.Y+2*Height; y++ {
		for _, x := range []int{middle.X, middle.X + 2*Width} {
			require.Equal(t, black, color.RGBAModel.Convert(img.At(x, y)), "%d %d", x, y)
		}
	}
	assert.Zero(t, inked(img, image.Rect(Margin, Margin, middle.X-stroke, Margin+3*Height)), "nothing looks out")
	for r := range boxes {
		assert.Positive(t, inked(drawn(t, Line(string(r), Cell{})), cellAt(0, 0, 1)), string(r))
	}
}

func TestSignsFillTheirSquare(t *testing.T) {
	for r := range signs {
		for _, wide := range []bool{true, false} {
			img := drawn(t, []Cell{{Text: string(r), Wide: wide}})
			columns, size := 1, Width
			if wide {
				columns, size = 2, signSize
			}
			n := inked(img, cellAt(0, 0, columns))
			assert.Greater(t, n, size*size/12, string(r))
			assert.Less(t, n, size*size*3/4, string(r))
			assert.Equal(t, n, inked(img, img.Bounds()), "%c leaves its cell", r)
		}
	}
}

func TestWhatNoFontHas(t *testing.T) {
	for _, text := range []string{"语", "ש", "🙂", "x\u0336", "\u202e", "a\u200d", "✅x"} {
		_, err := Picture{Lines: [][]Cell{{{Text: text}}}}.PNG()
		require.ErrorIs(t, err, ErrGlyph, "%q", text)
	}
}

func TestTextInAPNG(t *testing.T) {
	p := Picture{Lines: [][]Cell{Line("┌─ a ✔ ─┐", Cell{})}, Ink: black, Paper: white, Text: "what\x00 it shows"}
	data, err := p.PNG()
	require.NoError(t, err)
	assert.Contains(t, string(data), "Description\x00\x00\x00\x00\x00what it shows")
	_, err = png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
}

func TestAnEmptyPicture(t *testing.T) {
	assert.Zero(t, inked(drawn(t), image.Rect(0, 0, 2*Margin, 2*Margin)))
}
