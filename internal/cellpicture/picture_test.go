package cellpicture

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/systemfont"
	"ccbot/internal/systemfont/fonttest"
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
	columns := 0
	for _, line := range lines {
		columns = max(columns, Columns(line))
	}
	require.Equal(t, Size(columns, len(lines)), img.Bounds().Size())
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

// cellAt returns the area of a cell.
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
	assert.Zero(t, inked(img, image.Rect(Margin, Margin, middle.X-2, Margin+3*Height)), "nothing looks out")
}

// TestLinesReachNamedSides for all box drawings but the slanted ones.
func TestLinesReachNamedSides(t *testing.T) {
	for i, reach := range arms {
		r := '─' + rune(i)
		img, at := drawn(t, Line(string(r), Cell{})), cellAt(0, 0, 1)
		assert.Equal(t, inked(img, at), inked(img, img.Bounds()), "%c leaves its cell", r)
		if reach == "0000" {
			assert.Positive(t, inked(img, at), string(r))
			continue
		}
		for side, edge := range []image.Rectangle{
			image.Rect(at.Min.X, at.Min.Y, at.Min.X+1, at.Max.Y), image.Rect(at.Max.X-1, at.Min.Y, at.Max.X, at.Max.Y),
			image.Rect(at.Min.X, at.Min.Y, at.Max.X, at.Min.Y+1), image.Rect(at.Min.X, at.Max.Y-1, at.Max.X, at.Max.Y),
		} {
			widths := map[byte]int{'0': 0, '1': 2, heavy: 4, double: 4}
			blur := 0
			if r >= '╭' && r <= '╰' && reach[side] != '0' {
				blur = 1 // of the curve
			}
			assert.InDelta(t, widths[reach[side]], inked(img, edge), float64(blur), "%c %d", r, side)
		}
	}
}

// TestBlocksFillTheirPart of a cell, to the pixel.
func TestBlocksFillTheirPart(t *testing.T) {
	const all = Width * Height
	for text, want := range map[string]int{"█": all, "▀": all / 2, "▄": all / 2, "▌": all / 2, "▐": all / 2, "▘": all / 4, "▝": all / 4,
		"▖": all / 4, "▗": all / 4, "▙": all * 3 / 4, "▟": all * 3 / 4, "▛": all * 3 / 4, "▜": all * 3 / 4, "▞": all / 2, "▚": all / 2,
		"▎": all / 4, "▒": all, "⠀": 0, "⠁": 16, "⣿": 8 * 16} {
		img := drawn(t, []Cell{{Text: text}})
		assert.Equal(t, want, inked(img, cellAt(0, 0, 1)), text)
		assert.Equal(t, want, inked(img, img.Bounds()), text)
	}
}

// TestStyles: each is seen in the picture, and stays in its cells.
func TestStyles(t *testing.T) {
	plain := drawn(t, []Cell{{Text: "x"}})
	for name, style := range map[string]Cell{"bold": {Bold: true}, "italic": {Italic: true}, "underlined": {Underline: true}, "struck": {Strike: true}} {
		style.Text = "x"
		img := drawn(t, []Cell{style})
		assert.NotEqual(t, plain, img, name)
		assert.Equal(t, inked(img, cellAt(0, 0, 1)), inked(img, img.Bounds()), name)
	}
	line := drawn(t, []Cell{{Text: " ", Underline: true, Wide: true}})
	assert.Equal(t, 2*Width*2, inked(line, line.Bounds()), "a blank is underlined, too")
}

// TestFrameReplacesMissingGlyph, and nothing else is lost by it.
func TestFrameReplacesMissingGlyph(t *testing.T) {
	p := Picture{Lines: [][]Cell{{{Text: "\U000F1234", Wide: true}, {Text: "a\u200d"}, {Text: "e\u0301\U000F1234"}, {Text: "a\u1AB0"}}}, Ink: black, Paper: white,
		Fonts: fonttest.Fonts{}}
	d, err := p.Draw()
	require.NoError(t, err)
	for column, columns := range map[int]int{0: 2, 2: 1, 3: 1, 4: 1} {
		assert.Positive(t, inked(d.Image, cellAt(column, 0, columns)), column)
	}
	assert.Equal(t, []rune("\U000F1234"), d.Missing)
}

// withFonts draws one line with fonts.
func withFonts(t *testing.T, text string, fonts Fonts) *Drawn {
	t.Helper()
	d, err := Picture{Lines: [][]Cell{Line(text, Cell{})}, Ink: black, Paper: white, Fonts: fonts}.Draw()
	require.NoError(t, err)
	return d
}

func TestLettersOfOtherFonts(t *testing.T) {
	frame := withFonts(t, "语", fonttest.Fonts{})
	for _, text := range []string{"语", "한", "骨", "🙂", "🚀"} {
		d := withFonts(t, text, fonttest.Fonts{fonttest.Outlines, fonttest.Collection, fonttest.Emoji})
		assert.Empty(t, d.Missing)
		assert.NotEqual(t, frame.Image, d.Image, text)
		n := inked(d.Image, cellAt(0, 0, 2))
		assert.Greater(t, n, Width*Height/8, text)
		assert.Equal(t, n, inked(d.Image, d.Image.Bounds()), "%s leaves its cell", text)
	}
	half := withFonts(t, "语", fonttest.Fonts{fonttest.Outlines}).Image
	assert.Positive(t, inked(half, cellAt(0, 0, 1)))
	assert.Positive(t, inked(half, cellAt(1, 0, 1)), "both columns")
}

// TestEmojiHaveColours also if they are joined with others: the first one stands for all.
func TestEmojiHaveColours(t *testing.T) {
	one := withFonts(t, "🙂", fonttest.Fonts{fonttest.Emoji})
	r, _, b, _ := one.Image.At(Margin+Width, Margin+Height/2-2).RGBA()
	assert.Greater(t, r, b+0x4000, "yellow")
	for _, text := range []string{"🙂\u200d🚀", "🙂\uFE0F"} {
		d, err := Picture{Lines: [][]Cell{{{Text: text, Wide: true}}}, Ink: black, Paper: white, Fonts: fonttest.Fonts{fonttest.Emoji}}.Draw()
		require.NoError(t, err)
		assert.Equal(t, one.Image, d.Image, "%q", text)
	}
}

// TestDecomposedKorean is in the names of files on macOS.
func TestDecomposedKorean(t *testing.T) {
	fonts := fonttest.Fonts{fonttest.Outlines}
	d, err := Picture{Lines: [][]Cell{{{Text: "\u1112\u1161\u11ab", Wide: true}}}, Ink: black, Paper: white, Fonts: fonts}.Draw()
	require.NoError(t, err)
	assert.Empty(t, d.Missing)
	assert.Equal(t, withFonts(t, "한", fonts).Image, d.Image)
}

func TestMissingCharactersAndTheirPackages(t *testing.T) {
	d := withFonts(t, "a语한语🙂\uE0C0", fonttest.Fonts{})
	assert.Equal(t, []rune("语한\uE0C0🙂"), d.Missing)
	assert.Equal(t, []string{"fonts-wqy-microhei", "fonts-noto-color-emoji"}, d.Packages())
	d = withFonts(t, "a语한", fonttest.Fonts{fonttest.Outlines})
	assert.Empty(t, d.Missing)
	assert.Empty(t, d.Packages())
}

// asked notes the characters that a picture looks for.
type asked struct{ letters string }

func (a *asked) Find(letters []rune, _ int) map[rune]systemfont.Glyph {
	a.letters += string(letters)
	return nil
}

// TestFontsAreReadIfNeeded: characters of the built-in fonts and those that are drawn here need no
// others.
func TestFontsAreReadIfNeeded(t *testing.T) {
	var a asked
	assert.Empty(t, withFonts(t, "Жé\u200d ─▞⠋⎿⏺✅⚠\uE0B0", &a).Missing)
	assert.Empty(t, a.letters)
	withFonts(t, "\uE0C0", &a)
	assert.Empty(t, a.letters, "no other font has the icons of a person's own font")
	withFonts(t, "语a语", &a)
	assert.Equal(t, "语", a.letters)
}

func TestOtherSizes(t *testing.T) {
	for _, g := range []Grid{{8, 16, 0}, {10, 20, 12}, {13, 26, 3}} {
		data, err := Picture{Lines: [][]Cell{Line("gj╭▞⣿✅", Cell{Italic: true})}, Grid: g, Columns: 9, Ink: black, Paper: white}.PNG()
		require.NoError(t, err)
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		assert.Equal(t, g.Size(9, 1), img.Bounds().Size())
	}
}

func TestSignsFillTheirSquare(t *testing.T) {
	for r := range signs {
		const size = Height * 7 / 9
		img := drawn(t, []Cell{{Text: string(r), Wide: true}})
		n := inked(img, cellAt(0, 0, 2))
		assert.Greater(t, n, size*size/12, string(r))
		assert.Less(t, n, size*size*3/4, string(r))
		assert.Equal(t, n, inked(img, img.Bounds()), "%c leaves its cell", r)
	}
}

func TestGlyphWithoutFont(t *testing.T) {
	for _, text := range []string{"语", "ש", "🙂", "\u202e", "a\u200d", "✅x"} {
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

func TestEmptyPicture(t *testing.T) {
	assert.Zero(t, inked(drawn(t), image.Rect(0, 0, 2*Margin, 2*Margin)))
}

// TestNarrowEmojiIsSmaller: a terminal shows some emoji in one column. They are drawn smaller
// there, not cut.
func TestNarrowEmojiIsSmaller(t *testing.T) {
	height := func(d *Drawn, x int) (n int) {
		for y := Margin; y < Margin+Height; y++ {
			if r, g, b, _ := d.Image.At(x, y).RGBA(); r&g&b != 0xffff {
				n++
			}
		}
		return n
	}
	narrow, err := Picture{Lines: [][]Cell{{{Text: "🙂"}}}, Ink: black, Paper: white, Fonts: fonttest.Fonts{fonttest.Emoji}}.Draw()
	require.NoError(t, err)
	wide := withFonts(t, "🙂", fonttest.Fonts{fonttest.Emoji})
	assert.Positive(t, height(narrow, Margin+Width/2))
	assert.Less(t, height(narrow, Margin+Width/2), height(wide, Margin+Width)*3/4)
}
