package capture

import (
	"image/color"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"ccbot/internal/cellpicture"
	"ccbot/internal/lazyregexp"
)

// hyperlinks matches the OSC 8 sequences that tmux writes. They are removed first, because the
// parser below ends them at a byte 0x9c, which is part of an encoded "Ü".
var hyperlinks = lazyregexp.New(`\x1b\][^\a\x1b\n]*(?:\a|\x1b\\)?`)

const (
	maxAccents = 32 // bytes of one cell: accents pile up
	joiner     = '\u200d'
)

// Style is the SGR state for the next characters. A nil colour is the terminal's own.
type Style struct {
	Ink, Paper                                            color.Color
	Bold, Dim, Italic, Underline, Reverse, Hidden, Strike bool
}

// Parse calls print for each character of a capture, and end after each row. The style continues
// over line ends, as tmux writes it; a broken sequence ends with its line.
func Parse(text string, print func(r rune, s Style), end func()) {
	var s Style
	p := ansi.NewParser()
	p.SetHandler(ansi.Handler{
		Print: func(r rune) {
			if r >= ' ' && r < 0x7f || r >= 0xa0 { // a control draws nothing
				print(r, s)
			}
		},
		Execute: func(b byte) {
			if b == '\t' {
				print(' ', s)
			}
		},
		HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
			if cmd == 'm' {
				s.apply(params)
			}
		},
	})
	for line := range strings.SplitSeq(hyperlinks.ReplaceAllString(text, ""), "\n") {
		p.Reset()
		p.Parse([]byte(strings.ToValidUTF8(line, "\ufffd")))
		end()
	}
}

// Read returns the rows of a capture.
func Read(text string) (rows [][]cellpicture.Cell) {
	var row []cellpicture.Cell
	Parse(text, func(r rune, s Style) {
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
	}, func() { rows, row = append(rows, row), nil })
	return rows
}

// apply changes the style as an SGR sequence with these parameters does.
func (s *Style) apply(params ansi.Params) {
	if len(params) == 0 {
		*s = Style{}
	}
	for i := 0; i < len(params); i++ {
		n := params[i].Param(0)
		switch {
		// "4:3" is a kind of underline, "4:0" none
		case n == 4 && params[i].HasMore() && i+1 < len(params):
			s.Underline = params[i+1].Param(0) != 0
		case n == 38 || n == 48 || n == 58:
			var c color.Color
			i += max(ansi.ReadStyleColor(params[i:], &c)-1, 0)
			switch {
			case c == nil:
			case n == 38:
				s.Ink = c
			case n == 48:
				s.Paper = c
			}
			continue
		case n >= 30 && n <= 37:
			s.Ink = ansi.BasicColor(n - 30)
		case n >= 40 && n <= 47:
			s.Paper = ansi.BasicColor(n - 40)
		case n >= 90 && n <= 97:
			s.Ink = ansi.BasicColor(n - 90 + 8)
		case n >= 100 && n <= 107:
			s.Paper = ansi.BasicColor(n - 100 + 8)
		default:
			s.set(n)
		}
		for i+1 < len(params) && params[i].HasMore() { // subparameters after a colon belong to it
			i++
		}
	}
}

func (s *Style) set(n int) {
	on := n < 22 // the codes from 22 on switch off
	switch n {
	case 0:
		*s = Style{}
	case 1:
		s.Bold = true
	case 2:
		s.Dim = true
	case 22:
		s.Bold, s.Dim = false, false
	case 3, 23:
		s.Italic = on
	case 4, 21, 24:
		s.Underline = on
	case 7, 27:
		s.Reverse = on
	case 8, 28:
		s.Hidden = on
	case 9, 29:
		s.Strike = on
	case 39:
		s.Ink = nil
	case 49:
		s.Paper = nil
	}
}

// cell is a character in this style.
func (s Style) cell(r rune, wide bool) cellpicture.Cell {
	ink, paper := shade(s.Ink, Ink), shade(s.Paper, Paper)
	if s.Reverse {
		ink, paper = paper, ink
	}
	if !(r >= '▀' && r <= '▟') { // of blocks pictures are made
		ink = readable(ink, paper)
	}
	if s.Dim {
		ink = between(ink, paper)
	}
	c := cellpicture.Cell{Text: string(r), Wide: wide, Bold: s.Bold, Italic: s.Italic, Underline: s.Underline, Strike: s.Strike, Ink: ink}
	if paper != Paper {
		c.Paper = paper
	}
	if s.Hidden {
		c.Text, c.Underline, c.Strike = " ", false, false
	}
	return c
}
