package render

import (
	"bytes"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/yuin/goldmark/text"
	"pgregory.net/rapid"

	"ccbot/internal/cellpicture"
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

func TestUndrawablePicture(t *testing.T) {
	for name, cell := range map[string]string{
		"Chinese": "语言", "Hebrew": "שלום", "emoji": "🙂", "a family": "👩‍👩‍👧‍👦", "a flag": "🇩🇪",
		"direction": "a\u202eb", "a joiner": "a\u200db",
	} {
		_, ok := picture(gridOf(t, "|a|b|\n|-|-|\n|"+cell+"|x|\n"))
		assert.False(t, ok, name)
	}
	for name, cell := range map[string]string{"an accent": "e\u0301", "an accent that has no letter": "x\u0336", "signs": "✅❌⚠️⭐🔴", "Cyrillic": "Привет", "no width": "a\u200bb\u00ad\ufeff", "empty": ""} {
		_, ok := picture(gridOf(t, "|a|b|\n|-|-|\n|"+cell+"|x|\n"))
		assert.True(t, ok, name)
	}
}

// A character that joins the blank before it makes a line wider than its cells are.
func TestLineWiderThanItsCells(t *testing.T) {
	for _, mark := range []string{"\ufe0f", "\u0301", "\u200d", "\u0600", "\U0001F1E9"} {
		assert.NotPanics(t, func() {
			picture(gridOf(t, strings.Repeat("|"+mark, 9)+"|\n"+strings.Repeat("|-", 9)+"|\n"+strings.Repeat("|"+mark, 9)+"|\n"))
		}, "%q", mark)
	}
}

// Every word of a cell is in a line of it, in order, and no line leaves its column.
func TestLayoutHasAllWords(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var src strings.Builder
		columns := rapid.IntRange(1, 8).Draw(t, "columns")
		row := func(cell func() string) {
			for range columns {
				src.WriteString("|" + cell())
			}
			src.WriteString("|\n")
		}
		cell := rapid.StringMatching("([a-zA-Zäж]{1,40}|[a-z]{1,9}[/_.-][a-z]{1,30}|✅|`[a-z]{1,50}`|\\*\\*[a-z]{1,9}\\*\\*| ){0,15}")
		row(func() string { return cell.Draw(t, "head") })
		row(func() string { return "-" })
		for range rapid.IntRange(1, 5).Draw(t, "rows") {
			row(func() string { return cell.Draw(t, "cell") })
		}
		g := gridOf(t, src.String())
		wrapped, rowOf := g.wrapped()
		require.Len(t, rowOf, len(wrapped.rows))
		assert.LessOrEqual(t, cellpicture.Width*(wrapped.width()+2)+2*cellpicture.Margin, goodWidth+maxWord*columns*cellpicture.Width)
		for i, row := range g.rows {
			for j, c := range row {
				shown := ""
				for n, of := range rowOf {
					if of == i {
						line := wrapped.rows[n][j].Text
						assert.LessOrEqual(t, ansi.StringWidth(line), wrapped.widths[j])
						shown += line
					}
				}
				assert.Equal(t, strings.Join(strings.Fields(c.Text), ""), strings.Join(strings.Fields(shown), ""))
			}
		}
		assert.Equal(t, slices.IndexFunc(rowOf, func(of int) bool { return of > 0 }), wrapped.heads, "all lines of the head are the head")
	})
}
