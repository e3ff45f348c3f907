package claudeui

import (
	"image/color"
	"regexp"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// style is the part of SGR that carries meaning on these screens.
type style struct {
	dim, reverse bool
	fg           color.Color // nil is the default colour
}

// cell is one character and its style. Columns are counted in runes, which is exact at the left
// edge (spaces and signs), and only there columns are compared.
type cell struct {
	r rune
	style
}

// line is one row of the screen, trailing blank cells cut.
type line []cell

// hyperlinks matches the OSC 8 sequences that tmux writes. They are removed first, because the
// parser below ends them at a byte 0x9c, which stands in the middle of an "Ü", and would show the
// rest of an address as text.
var hyperlinks = regexp.MustCompile(`\x1b\][^\a\x1b\n]*(?:\a|\x1b\\)?`)

// parseCells splits a capture into styled rows. The style continues over line ends, as tmux writes
// it; a broken sequence ends with its line and never swallows the rest of the screen.
func parseCells(capture string) []line {
	var (
		lines []line
		cur   line
		st    style
	)
	p := ansi.NewParser()
	p.SetHandler(ansi.Handler{
		Print: func(r rune) {
			if r >= 0xa0 || r < 0x7f { // the characters between these are controls, which draw nothing
				cur = append(cur, cell{r, st})
			}
		},
		Execute: func(b byte) {
			if b == '\t' {
				cur = append(cur, cell{' ', st})
			}
		},
		HandleCsi: func(cmd ansi.Cmd, params ansi.Params) {
			if cmd == 'm' {
				st.apply(params)
			}
		},
	})
	for row := range strings.SplitSeq(hyperlinks.ReplaceAllString(capture, ""), "\n") {
		cur = nil
		p.Reset()
		p.Parse([]byte(row))
		lines = append(lines, cur.trimmed())
	}
	return lines
}

// apply changes the style as an SGR sequence with these parameters does.
func (st *style) apply(params ansi.Params) {
	if len(params) == 0 {
		*st = style{}
	}
	for i := 0; i < len(params); i++ {
		switch n := params[i].Param(0); {
		case i > 0 && params[i-1].HasMore(): // the 2 of "4:2" is a kind of underline
		case n == 38 || n == 48 || n == 58: // the 2 and the 7 of "38;5;2" are no dim and no reverse
			var c color.Color
			i += max(ansi.ReadStyleColor(params[i:], &c)-1, 0)
			if n == 38 {
				st.fg = c
			}
		case n == 0:
			*st = style{}
		case n == 2:
			st.dim = true
		case n == 7:
			st.reverse = true
		case n == 22:
			st.dim = false
		case n == 27:
			st.reverse = false
		case n >= 30 && n <= 37:
			st.fg = ansi.BasicColor(n - 30)
		case n >= 90 && n <= 97:
			st.fg = ansi.BasicColor(n - 90 + 8)
		case n == 39:
			st.fg = nil
		}
	}
}

func (l line) trimmed() line {
	for len(l) > 0 && blank(l[len(l)-1].r) && !l[len(l)-1].reverse {
		l = l[:len(l)-1]
	}
	return l
}

func blank(r rune) bool { return r == ' ' || r == '\u00a0' }

// String is the row as plain text, trailing blanks cut.
func (l line) String() string {
	var b strings.Builder
	for _, c := range l {
		b.WriteRune(c.r)
	}
	return strings.TrimRight(b.String(), " \u00a0")
}

// indent is the column of the first visible character; -1 for a blank row.
func (l line) indent() int {
	for i, c := range l {
		if !blank(c.r) {
			return i
		}
	}
	return -1
}

// first is the first visible character; 0 for a blank row.
func (l line) first() rune {
	if i := l.indent(); i >= 0 {
		return l[i].r
	}
	return 0
}

// only reports whether the row is visible and consists of these characters alone.
func (l line) only(chars string) bool {
	s := strings.TrimSpace(l.String())
	return s != "" && strings.Trim(s, chars) == ""
}
