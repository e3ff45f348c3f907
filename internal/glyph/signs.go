package glyph

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	maxBlanks = 40 // more in a row may push what follows out of sight
	maxEmpty  = 8  // empty lines in a row
	maxMarks  = 4  // accents on one letter, which then cover its neighbours
)

// Hides says that a person who looks at s may not see all of it. It is asked of the text as it came, before anything is
// cleaned away.
func Hides(s string) bool {
	if !utf8.ValidString(s) || len(runsOf(s)) > 0 {
		return true
	}
	before, marks := rune(0), 0
	for i, r := range s {
		if unshown(r, before) && !joins(s, i, before) {
			return true
		}
		if marks++; !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
		}
		if marks > maxMarks {
			return true
		}
		before = r
	}
	return false
}

// run is a piece of nothing that is long enough to hide what is behind it.
type run struct {
	from, to int // in bytes
	sign     string
}

// runsOf finds too many blanks in a line, and too many lines with nothing but blanks.
func runsOf(s string) (runs []run) {
	for at := 0; at < len(s); {
		begin := strings.IndexFunc(s[at:], empty)
		if begin < 0 {
			break
		}
		begin += at
		if at = strings.IndexFunc(s[begin:], func(r rune) bool { return !empty(r) }); at < 0 {
			at = len(s) - begin
		}
		at += begin
		runs = appendRuns(runs, begin, s[begin:at])
	}
	return runs
}

func empty(r rune) bool { return r == '\n' || r == '\t' || unicode.Is(unicode.Zs, r) }

// appendRuns looks at one space between two words, which begins at byte begin.
func appendRuns(runs []run, begin int, space string) []run {
	first, last := strings.IndexByte(space, '\n'), strings.LastIndexByte(space, '\n')
	lines := strings.Count(space, "\n")
	if begin > 0 {
		lines-- // the first line end is that of a line with text
	} else {
		first = 0
	}
	if lines <= maxEmpty {
		at := begin
		for line := range strings.SplitSeq(space, "\n") {
			runs = appendBlanks(runs, at, line)
			at += len(line) + 1
		}
		return runs
	}
	sign := fmt.Sprintf("⟨%d×⏎⟩\n", lines)
	if begin > 0 {
		sign = "\n" + sign
	}
	runs = appendBlanks(runs, begin, space[:first])
	runs = append(runs, run{from: begin + first, to: begin + last + 1, sign: sign})
	return appendBlanks(runs, begin+last+1, space[last+1:])
}

func appendBlanks(runs []run, at int, blanks string) []run {
	n := utf8.RuneCountInString(blanks)
	if n <= maxBlanks {
		return runs
	}
	return append(runs, run{from: at, to: at + len(blanks), sign: fmt.Sprintf("⟨%d×␠⟩", n)})
}

// unshown says that r leaves no mark of its own, or one that means nothing to anybody: for private use, or in place of what
// is not known.
func unshown(r, before rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\uFE0E', '\uFE0F': // how the emoji before it looks
		return !emojiBase(before)
	}
	return Unseen(r) || unicode.Is(unicode.Co, r) || r == utf8.RuneError
}

// joins says that the character at byte i of s makes one picture of the two around it, such as a family or a keycap.
func joins(s string, i int, before rune) bool {
	if strings.HasPrefix(s[i:], "\uFE0F\u20E3") {
		return before >= '0' && before <= '9' || before == '#' || before == '*'
	}
	rest, ok := strings.CutPrefix(s[i:], "\u200d")
	after, _ := utf8.DecodeRuneInString(rest)
	return ok && (pictured(before) || before == '\uFE0F') && pictured(after)
}

// pictured says that r is an emoji, or the colour of its skin.
func pictured(r rune) bool {
	return unicode.Is(unicode.So, r) || r >= '\U0001F3FB' && r <= '\U0001F3FF'
}

// emojiBase says that r is drawn in another way with a selector behind it. On a letter of ASCII it leaves no mark, and a
// file's name with it is another one.
func emojiBase(r rune) bool {
	return r > unicode.MaxASCII && r != utf8.RuneError && unicode.In(r, unicode.So, unicode.Sm, unicode.Po)
}

// Signs puts signs in the place of all that leaves no mark of its own, the same in every language: ⟨U+202E⟩,
// ⟨200×␠⟩ for a run of blanks, ⟨9×⏎⟩ for one of empty lines. Only too many accents stay as they are.
func Signs(s string) string {
	s = countedRuns(s)
	var b strings.Builder
	before := rune(0)
	for i, r := range s {
		switch _, size := utf8.DecodeRuneInString(s[i:]); {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
			r = '⟩'
		case unshown(r, before) && !joins(s, i, before):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			r = '⟩'
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// countedRuns puts the number of blanks, or of empty lines, in the place of a run of them.
func countedRuns(s string) string {
	runs := runsOf(s)
	if len(runs) == 0 {
		return s
	}
	var b strings.Builder
	at := 0
	for _, r := range runs {
		b.WriteString(s[at:r.from] + r.sign)
		at = r.to
	}
	return b.String() + s[at:]
}
