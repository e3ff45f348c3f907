package render

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"
)

// gridOf is the table of a source that is nothing else.
func gridOf(t require.TestingT, src string) (g grid) {
	answer := &attachments{}
	source := []byte(src)
	m := markdown{source: source, writer: &writer{room: 1 << 20}, answer: answer}
	doc := newParser().Parse(text.NewReader(source))
	table := tableOf(doc)
	require.NotNil(t, table)
	return newGrid(m.rows(table, 0), table.Alignments)
}

func TestPicture(t *testing.T) {
	src := "| Option | Pros | Cons |\n|:--|--:|:-:|\n| **Redis** *streams* | fast `XADD` ~~slow~~ ✅ ⚠️ " + strings.Repeat("and many words ", 12) + "| a|b |\n| x | ❌ é | Хранится |\n"
	data, ok := picture(gridOf(t, src))
	require.True(t, ok)
	img, err := png.Decode(bytes.NewReader(data))
	require.NoError(t, err)
	size := img.Bounds().Size()
	assert.LessOrEqual(t, size.X, goodWidth)
	assert.Greater(t, size.X, 600)
	assert.Less(t, size.Y, 1000)
	assert.Contains(t, string(data), "| Redis streams | ", "the table as text")
}

func TestWhatCannotBeDrawn(t *testing.T) {
	for name, cell := range map[string]string{
		"Chinese": "语言", "Hebrew": "שלום", "emoji": "🙂", "a family": "👩‍👩‍👧‍👦", "a flag": "🇩🇪", "an accent that has no letter": "x\u0336",
		"direction": "a\u202eb", "a joiner": "a\u200db",
	} {
		_, ok := picture(gridOf(t, "|a|b|\n|-|-|\n|"+cell+"|x|\n"))
		assert.False(t, ok, name)
	}
	for name, cell := range map[string]string{"an accent": "e\u0301", "signs": "✅❌⚠️⭐🔴", "Cyrillic": "Привет", "no width": "a\u200bb\u00ad\ufeff", "empty": ""} {
		_, ok := picture(gridOf(t, "|a|b|\n|-|-|\n|"+cell+"|x|\n"))
		assert.True(t, ok, name)
	}
}

// Every word of a cell is in a line of it, in order, and no line leaves its column.
func TestALayoutHasAllWords(t *testing.T) {
	f, err := newFonts()
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		columns := rapid.IntRange(1, 8).Draw(t, "columns")
		row := func(cell func() string) {
			for range columns {
				src.WriteString("|" + cell())
			}
			src.WriteString("|\n")
		}
		cell := rapid.StringMatching("([a-zA-Zäж]{1,40}|✅|`[a-z]{1,50}`|\\*\\*[a-z]{1,9}\\*\\*| ){0,15}")
		row(func() string { return cell.Draw(t, "head") })
		row(func() string { return "-" })
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row(func() string { return cell.Draw(t, "cell") })
		}
		g := gridOf(t, src.String())
		l, _ := f.layout(g)
		require.NotNil(t, l)
		for i, row := range l.cells {
			for j, lines := range row {
				var shown string
				for _, line := range lines {
					assert.LessOrEqual(t, line.width, max(l.columns[j], 2*fontSize))
					for _, w := range line.words {
						shown += w.text
					}
				}
				var cell string
				if j < len(g.rows[i]) {
					cell = g.rows[i][j].Text
				}
				assert.Equal(t, strings.Join(strings.Fields(cell), ""), shown)
			}
		}
		assert.Equal(t, g.widths != nil, l.width > 0)
	})
}

func TestSignsFillTheirSquare(t *testing.T) {
	for r := range signs {
		g := gridOf(t, "|"+string(r)+"|\n|-|\n|"+string(r)+"|\n")
		data, ok := picture(g)
		require.True(t, ok, string(r))
		img, err := png.Decode(bytes.NewReader(data))
		require.NoError(t, err)
		square := image.Rect(margin+cellPad, margin+rowPad+3, margin+cellPad+signSize, margin+rowPad+3+signSize)
		inked := 0
		for y := square.Min.Y; y < square.Max.Y; y++ {
			for x := square.Min.X; x < square.Max.X; x++ {
				if cr, cg, cb, _ := img.At(x, y).RGBA(); cr != uint32(headInk.R)*0x101 || cg != uint32(headInk.G)*0x101 || cb != uint32(headInk.B)*0x101 {
					inked++
				}
			}
		}
		assert.Greater(t, inked, signSize*signSize/12, string(r))
		assert.Less(t, inked, signSize*signSize*3/4, string(r))
	}
}
