package capture

import (
	"image/color"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"ccbot/internal/cellpicture"
)

// hyperlinks matches the OSC 8 sequences that tmux writes. They are removed first, because the
// parser below ends them at a byte 0x9c, which stands in the middle of an "Ü".
var hyperlinks = regexp.MustCompile(`\x1b\][^\a\x1b\n]*(?:\a|\x1b\\)?`)

const (
	maxAccents = 32 // bytes of one cell: accents pile up
	joiner     = '\u200d'
)

// style is the look of what is printed next, as SGR sets it. A nil colour is the terminal's own.
type style struct {
	ink, paper                                            color.Color
	bold, dim, italic, underline, reverse, hidden, strike bool
}

// Read gives the rows of a capture. The style goes on over line ends, as tmux writes it; a broken
// sequence ends with its line.
func Read(text string) (rows [][]cellpicture.Cell) {
	var row []cellpicture.Cell
	var s style
	p := ansi.NewParser()
	p.SetHandler(ansi.Handler{
		Print: func(r rune) {
			if r < ' ' || r >= 0x7f && r < 0xa0 { // a control draws nothing
				return
			}
			width := ansi.StringWidthWc(string(r))
			if n := len(row) - 1; n >= 0 && (width == 0 || strings.HasSuffix(row[n].Text, string(joiner))) {
				if len(row[n].Text)+utf8.RuneLen(r) <= maxAccents {
					row[n].Text += string(r)
				}
				return
			}
			if width > 0 {
				row = append(row, s.cell(r, width > 1))
			}
		},
		Execute: func(b byte) {
			if b == '\t' {
				row = append(row, s.cell(' ', false))
			}
		},
		HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
			if cmd == 'm' {
				s.apply(params)
			}
		},
	})
	for line := range strings.SplitSeq(hyperlinks.ReplaceAllString(text, ""), "\n") {
		row = nil
		p.Reset()
		p.Parse([]byte(strings.ToValidUTF8(line, "\ufffd")))
		rows = append(rows, row)
	}
	return rows
}

// apply changes the style as an SGR sequence with these parameters does.
func (s *style) apply(params ansi.Params) {
	if len(params) == 0 {
		*s = style{}
	}
	for i := 0; i < len(params); i++ {
		n := params[i].Param(0)
		switch {
		case n == 4 && params[i].HasMore() && i+1 < len(params): // "4:3" is a kind of underline, "4:0" none
			s.underline = params[i+1].Param(0) != 0
		case n == 38 || n == 48 || n == 58:
			var c color.Color
			i += max(ansi.ReadStyleColor(params[i:], &c)-1, 0)
			switch {
			case c == nil:
			case n == 38:
				s.ink = c
			case n == 48:
				s.paper = c
			}
			continue
		case n >= 30 && n <= 37:
			s.ink = ansi.BasicColor(n - 30)
		case n >= 40 && n <= 47:
			s.paper = ansi.BasicColor(n - 40)
		case n >= 90 && n <= 97:
			s.ink = ansi.BasicColor(n - 90 + 8)
		case n >= 100 && n <= 107:
			s.paper = ansi.BasicColor(n - 100 + 8)
		default:
			s.set(n)
		}
		for i+1 < len(params) && params[i].HasMore() { // what is behind a colon belongs to it
			i++
		}
	}
}

func (s *style) set(n int) {
	switch n {
	case 0:
		*s = style{}
	case 1:
		s.bold = true
	case 2:
		s.dim = true
	case 3:
		s.italic = true
	case 4, 21:
		s.underline = true
	case 7:
		s.reverse = true
	case 8:
		s.hidden = true
	case 9:
		s.strike = true
	case 22:
		s.bold, s.dim = false, false
	case 23:
		s.italic = false
	case 24:
		s.underline = false
	case 27:
		s.reverse = false
	case 28:
		s.hidden = false
	case 29:
		s.strike = false
	case 39:
		s.ink = nil
	case 49:
		s.paper = nil
	}
}

// cell is a character in this style.
func (s style) cell(r rune, wide bool) cellpicture.Cell {
	ink, paper := shade(s.ink, Ink), shade(s.paper, Paper)
	if s.reverse {
		ink, paper = paper, ink
	}
	if !(r >= '▀' && r <= '▟') { // of blocks pictures are made
		ink = readable(ink, paper)
	}
	if s.dim {
		ink = between(ink, paper)
	}
	c := cellpicture.Cell{Text: string(r), Wide: wide, Bold: s.bold, Italic: s.italic, Underline: s.underline, Strike: s.strike, Ink: ink}
	if paper != Paper {
		c.Paper = paper
	}
	if s.hidden {
		c.Text, c.Underline, c.Strike = " ", false, false
	}
	return c
}
