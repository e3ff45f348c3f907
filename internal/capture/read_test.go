package capture

import (
	"image/color"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/cellpicture"
	"ccbot/internal/longtest"
	"ccbot/internal/systemfont/fonttest"
)

// recorded are screens of Claude Code.
func recorded(t testing.TB) map[string]string {
	t.Helper()
	names, err := filepath.Glob("../../agent/claude/claudeui/testdata/*.ansi")
	require.NoError(t, err)
	require.Greater(t, len(names), 20)
	all := map[string]string{}
	for _, name := range names {
		data, err := os.ReadFile(name)
		require.NoError(t, err)
		all[strings.TrimSuffix(filepath.Base(name), ".ansi")] = string(data)
	}
	return all
}

func plain(row []cellpicture.Cell) (text string) {
	for _, c := range row {
		text += c.Text
	}
	return strings.TrimRight(text, " \u00a0")
}

// find returns the cells of a text in a screen, and the column of the first.
func find(t *testing.T, screen, text string) (cells []cellpicture.Cell, column int) {
	t.Helper()
	for _, row := range Read(screen) {
		if i := strings.Index(plain(row), text); i >= 0 {
			column = len([]rune(plain(row)[:i]))
			return row[column : column+len([]rune(text))], column
		}
	}
	t.Fatalf("no %q in %q", text, screen)
	return nil, 0
}

var (
	white  = color.RGBA{0xFF, 0xFF, 0xFF, 0xFF}
	grey   = color.RGBA{0x94, 0x94, 0x94, 0xFF} // 246 of 256
	shadow = color.RGBA{0x3A, 0x3A, 0x3A, 0xFF} // 237
	sky    = color.RGBA{0xAF, 0xD7, 0xFF, 0xFF} // 153
)

// TestRecordedScreens checks the column and the style of each letter in recorded screens of Claude
// Code.
func TestRecordedScreens(t *testing.T) {
	screens := recorded(t)
	for _, tt := range []struct {
		screen, text string
		column       int
		want         cellpicture.Cell // of each letter
	}{
		{"perm-bash", "Claude Code", 11, cellpicture.Cell{Bold: true, Ink: Ink}},
		{"perm-bash", "v2.1.328", 23, cellpicture.Cell{Ink: grey}},
		{"perm-bash", "say hello world", 2, cellpicture.Cell{Ink: white, Paper: shadow}},
		{"perm-bash", "Bash command", 1, cellpicture.Cell{Bold: true, Ink: sky}},
		{"perm-bash", "❯ 1. Yes", 1, cellpicture.Cell{}},
		{"perm-bash", "Esc to cancel", 1, cellpicture.Cell{Ink: grey}},
		{"ask-multi-2", "☒ Features", 3, cellpicture.Cell{Ink: color.RGBA{A: 0xFF}, Paper: sky}},
		{"ask-multi-2", "Declined to answer Claude's", 2, cellpicture.Cell{Ink: Ink}},
		{"ask-multi-2", "Logging", 9, cellpicture.Cell{Ink: grey}},
	} {
		cells, column := find(t, screens[tt.screen], tt.text)
		assert.Equal(t, tt.column, column, tt.text)
		if tt.want == (cellpicture.Cell{}) {
			continue
		}
		for i, r := range []rune(tt.text) {
			tt.want.Text = string(r)
			if r == ' ' {
				cells[i].Bold = tt.want.Bold
			}
			assert.Equal(t, tt.want, cells[i], "%s %s", tt.screen, tt.text)
		}
	}
}

// TestRecordedScreensAreDrawn as they were printed, with no letter missing from the fonts. A short
// run draws some of the screens, and each letter of the others once.
func TestRecordedScreensAreDrawn(t *testing.T) {
	draw := func(name string, rows [][]cellpicture.Cell) {
		_, err := cellpicture.Picture{Lines: rows, Ink: Ink, Paper: Paper, Grid: cellpicture.Grid{Width: 8, Height: 16}, Columns: 1}.PNG()
		assert.NoError(t, err, name)
	}
	screens := recorded(t)
	letters := make(map[cellpicture.Cell]bool)
	for i, name := range slices.Sorted(maps.Keys(screens)) {
		rows := Read(screens[name])
		require.Len(t, rows, strings.Count(screens[name], "\n")+1, name)
		for _, c := range slices.Concat(rows...) {
			letters[cellpicture.Cell{Text: c.Text, Wide: c.Wide, Bold: c.Bold, Italic: c.Italic, Ink: Ink}] = true
		}
		if i%longtest.Size(20, 1) == 0 {
			draw(name, rows)
		}
	}
	draw("each letter", [][]cellpicture.Cell{slices.Collect(maps.Keys(letters))})
}

func TestStyles(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []cellpicture.Cell
	}{
		{"plain", "a", []cellpicture.Cell{{Text: "a", Ink: Ink}}},
		{"all at once", "\x1b[1;3;4;9ma\x1b[22;23;24;29mb", []cellpicture.Cell{{Text: "a", Bold: true, Italic: true, Underline: true, Strike: true, Ink: Ink}, {Text: "b", Ink: Ink}}},
		{"a kind of underline", "\x1b[4:3ma\x1b[4:0mb", []cellpicture.Cell{{Text: "a", Underline: true, Ink: Ink}, {Text: "b", Ink: Ink}}},
		{"the colour of an underline is none of the letter's", "\x1b[4;58;5;1ma\x1b[58:2::1:2:3mb", []cellpicture.Cell{{Text: "a", Underline: true, Ink: Ink}, {Text: "b", Underline: true, Ink: Ink}}},
		{"the 2 and the 7 of a colour", "\x1b[38;5;2ma\x1b[48;5;7mb", []cellpicture.Cell{{Text: "a", Ink: theme[2]}, {Text: "b", Ink: Paper, Paper: theme[7]}}},
		{"sixteen", "\x1b[31ma\x1b[91mb\x1b[39;44mc\x1b[104md", []cellpicture.Cell{{Text: "a", Ink: theme[1]}, {Text: "b", Ink: theme[9]},
			{Text: "c", Ink: Ink, Paper: theme[4]}, {Text: "d", Ink: readable(Ink, theme[12]), Paper: theme[12]}}},
		{"true colour", "\x1b[38;2;200;100;50ma", []cellpicture.Cell{{Text: "a", Ink: color.RGBA{200, 100, 50, 0xFF}}}},
		{"reverse", "\x1b[7ma\x1b[31mb\x1b[27mc", []cellpicture.Cell{{Text: "a", Ink: Paper, Paper: Ink}, {Text: "b", Ink: Paper, Paper: theme[1]}, {Text: "c", Ink: theme[1]}}},
		{"dim", "\x1b[2ma", []cellpicture.Cell{{Text: "a", Ink: between(Ink, Paper)}}},
		{"hidden", "\x1b[8;4;41ma", []cellpicture.Cell{{Text: " ", Ink: readable(Ink, theme[1]), Paper: theme[1]}}},
		{"black on the terminal's own is read", "\x1b[38;2;0;0;0ma", []cellpicture.Cell{{Text: "a", Ink: Ink}}},
		{"white on white is read", "\x1b[97;107ma", []cellpicture.Cell{{Text: "a", Ink: Paper, Paper: theme[15]}}},
		{"a block is a picture", "\x1b[38;2;0;0;0m█", []cellpicture.Cell{{Text: "█", Ink: color.RGBA{A: 0xFF}}}},
		{"a style goes on over a line", "\x1b[1ma\n\x1b[Kb", []cellpicture.Cell{{Text: "b", Bold: true, Ink: Ink}}},
		{"a link", "\x1b]8;id=1;https://example.org/Ü\x1b\\Ü\x1b]8;;\x1b\\b", []cellpicture.Cell{{Text: "Ü", Ink: Ink}, {Text: "b", Ink: Ink}}},
		{"wide letters and accents", "语e\u0301x", []cellpicture.Cell{{Text: "语", Wide: true, Ink: Ink}, {Text: "e\u0301", Ink: Ink}, {Text: "x", Ink: Ink}}},
		{"a family", "👩\u200d💻x", []cellpicture.Cell{{Text: "👩\u200d💻", Wide: true, Ink: Ink}, {Text: "x", Ink: Ink}}},
		{"a sequence that is cut", "a\x1b[38;2", []cellpicture.Cell{{Text: "a", Ink: Ink}}},
		{"controls", "a\x00\x07\u0085\u009bb", []cellpicture.Cell{{Text: "a", Ink: Ink}, {Text: "b", Ink: Ink}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rows := Read(tt.text)
			assert.Equal(t, tt.want, rows[len(rows)-1])
		})
	}
}

// TestThemeCanBeRead: every colour but black differs enough from the paper.
func TestThemeCanBeRead(t *testing.T) {
	for i, c := range theme[1:] {
		assert.Greater(t, contrast(c, Paper), 4.5, i+1)
	}
	for _, paper := range append(theme[:], Paper, Ink) {
		for _, ink := range append(theme[:], Paper, Ink) {
			assert.GreaterOrEqual(t, contrast(readable(ink, paper), paper), leastContrast)
		}
	}
}

// FuzzRead: any bytes give cells that can be drawn.
func FuzzRead(f *testing.F) {
	for _, screen := range recorded(f) {
		f.Add(screen)
	}
	f.Add("\x1b[38;2;1m\x1b[4:m\x1b[58:2m\x1b]8;;\x9c\xff\u0301\u200d\x1b[")
	f.Fuzz(func(t *testing.T, text string) {
		rows := Read(text)
		require.NotEmpty(t, rows)
		for i, row := range rows {
			for _, c := range row {
				require.NotEmpty(t, c.Text)
				require.LessOrEqual(t, len(c.Text), maxAccents)
				require.NotContains(t, c.Text, "\x1b")
			}
			rows[i] = row[:min(len(row), 40)]
		}
		p := cellpicture.Picture{Lines: rows[:min(len(rows), 4)], Ink: Ink, Paper: Paper, Grid: cellpicture.Grid{Width: 6, Height: 12}, Columns: 1, Fonts: fonttest.Fonts{}}
		_, err := p.PNG()
		require.NoError(t, err)
	})
}
