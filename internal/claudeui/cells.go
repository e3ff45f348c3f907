package claudeui

import (
	"strings"
	"unicode/utf8"
)

// style is the part of SGR that carries meaning on these screens.
type style struct {
	dim, reverse bool
	fg           int // 0 is the default colour; otherwise any number that is the same for the same colour
}

// cell is one character and its style. Columns are counted in runes, which is exact for the left edge
// (spaces and signs), the only place where columns are compared.
type cell struct {
	r rune
	style
}

// line is one row of the screen, trailing blank cells cut.
type line []cell

// parseCells splits a capture into styled rows. The style runs on over line ends, as tmux writes it.
func parseCells(capture string) []line {
	var (
		lines []line
		cur   line
		st    style
	)
	for len(capture) > 0 {
		r, size := utf8.DecodeRuneInString(capture)
		rest := capture[size:]
		switch {
		case r == '\n':
			lines, cur = append(lines, cur.trimmed()), nil
		case r == '\x1b':
			rest = escape(rest, &st)
		case r == '\t':
			cur = append(cur, cell{' ', st})
		case r < ' ' || r >= 0x7f && r < 0xa0:
			// Charset switches and stray controls draw nothing.
		default:
			cur = append(cur, cell{r, st})
		}
		capture = rest
	}
	return append(lines, cur.trimmed())
}

// escape consumes one escape sequence (the ESC is already gone), applies SGR to st, returns what follows.
func escape(s string, st *style) string {
	if s == "" {
		return s
	}
	switch s[0] {
	case '[':
		rest := strings.TrimLeftFunc(s[1:], func(r rune) bool { return r >= 0x20 && r <= 0x3f })
		if rest == "" || rest[0] < 0x40 || rest[0] > 0x7e {
			return rest // torn
		}
		if rest[0] == 'm' {
			applySGR(s[1:len(s)-len(rest)], st)
		}
		return rest[1:]
	case ']':
		return afterString(s[1:])
	case '(', ')', '*', '+':
		_, size := utf8.DecodeRuneInString(s[1:])
		return s[1+size:]
	}
	_, size := utf8.DecodeRuneInString(s)
	return s[size:]
}

// afterString skips an OSC string (tmux writes hyperlinks as OSC 8). It never runs past the line: a torn
// one must not swallow the rest of the screen.
func afterString(s string) string {
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\a':
			return s[i+1:]
		case s[i] == '\n':
			return s[i:]
		case s[i] == '\x1b' && i+1 < len(s) && s[i+1] == '\\':
			return s[i+2:]
		}
	}
	return ""
}

// applySGR knows just enough to step over colours: the 2 and the 7 of "38;5;2" are no dim and no reverse.
func applySGR(params string, st *style) {
	fields := strings.Split(params, ";")
	for i := 0; i < len(fields); i++ {
		field, sub, hasSub := strings.Cut(fields[i], ":")
		n := number(field)
		switch {
		case n == 38 || n == 48 || n == 58:
			colour, used := extendedColour(fields[i+1:], sub, hasSub)
			i += used
			if n == 38 {
				st.fg = colour
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
		case n >= 30 && n <= 37 || n >= 90 && n <= 97:
			st.fg = n
		case n == 39:
			st.fg = 0
		}
	}
}

// extendedColour reads what follows 38, 48 or 58 and says how many fields it took.
func extendedColour(rest []string, sub string, hasSub bool) (colour, used int) {
	fields := rest
	if hasSub {
		fields = strings.Split(sub, ":")
	}
	length := 0
	if len(fields) > 0 {
		switch number(fields[0]) {
		case 5:
			length = 2
		case 2:
			length = 4
		}
	}
	length = min(length, len(fields))
	colour = 1000
	for _, f := range fields[:length] {
		colour = colour*257 + number(f)
	}
	if hasSub {
		return colour, 0
	}
	return colour, length
}

// number reads a small decimal; an empty field is 0 as in SGR, nonsense is -1.
func number(s string) int {
	if len(s) > 4 {
		return -1
	}
	n := 0
	for _, r := range s {
		if r < '0' || r > '9' {
			return -1
		}
		n = n*10 + int(r-'0')
	}
	return n
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

// only reports whether the row is visible and made of these characters alone.
func (l line) only(chars string) bool {
	s := strings.TrimSpace(l.String())
	return s != "" && strings.Trim(s, chars) == ""
}
