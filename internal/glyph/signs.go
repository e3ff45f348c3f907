package glyph

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

const (
	maxBlanks = 40 // more in a row may push the text after them out of sight
	maxEmpty  = 8  // empty lines in a row
	maxMarks  = 4  // accents on one letter; more would cover its neighbours

	tab = "⇥   " // keeps the shape of code

	// signs are the characters that begin or are a sign. In a text they are named, so that a text
	// cannot imitate a sign.
	signs = "⟨⇥⏎"
)

// Hides reports whether a person who reads s may miss or misread a part of it. A tab has a sign
// that needs no explanation, so it hides nothing.
func Hides(s string) bool { return Signs(s) != strings.ReplaceAll(s, "\t", tab) }

// Signs returns s in the form in which a person may approve it: two different texts have different
// forms. A letter, a number, a punctuation mark, a symbol, U+0020 between two others and a line end
// stand for themselves, and so does a mark on a letter beyond ASCII. Everything else is replaced by
// a sign that is the same in every language: ⟨U+00A0⟩ names a character, ⟨0xFF⟩ a byte that is not
// UTF-8, ⟨2×␠⟩ counts the blanks at the end of a line and a long run of them, ⟨9×⏎⟩ a run of empty
// lines, and ⇥ is a tab.
func Signs(s string) string {
	var b strings.Builder
	for s != "" {
		if n := len(s) - len(strings.TrimLeft(s, "\n")); n > maxEmpty {
			b.WriteString(lineEnds(n) + "\n")
			s = s[n:]
			continue
		}
		line, rest, ended := strings.Cut(s, "\n")
		writeLine(&b, line)
		if ended {
			b.WriteByte('\n')
		}
		s = rest
	}
	return b.String()
}

// Block is Signs for a text that is shown as a block: the line ends at its end have a sign, because
// no reader sees an empty line there.
func Block(s string) string {
	text := strings.TrimRight(s, "\n")
	if n := len(s) - len(text); n > 0 {
		return Signs(text) + lineEnds(n)
	}
	return Signs(s)
}

func lineEnds(n int) string { return fmt.Sprintf("⟨%d×⏎⟩", n) }

// writeLine writes one line, with its blanks counted if they may stay unseen.
func writeLine(b *strings.Builder, line string) {
	w := writer{b: b, composed: true}
	composed, end := norm.NFC.IsNormalString(line), 0
	for i := 0; i < len(line); {
		if n := len(line[i:]) - len(strings.TrimLeft(line[i:], " ")); n > 0 {
			w.blanks(n, i+n == len(line))
			i += n
			continue
		}
		if !composed && i >= end {
			end = i + norm.NFC.NextBoundaryInString(line[i:], true)
			w.composed = norm.NFC.IsNormalString(line[i:end])
		}
		r, size := utf8.DecodeRuneInString(line[i:])
		if r == utf8.RuneError && size == 1 {
			w.sign("⟨0x%02X⟩", line[i])
		} else {
			w.write(r)
		}
		i += size
	}
}

// writer writes the characters of a line.
type writer struct {
	b *strings.Builder
	// composed is false in a piece of text that Unicode composes to other characters, which look
	// the same: in U+037E, which is drawn as a semicolon, or in a letter with a mark.
	composed bool
	carries  bool // the last character was a letter that can carry a mark, or a mark on it
	marks    int  // on that letter
}

// sign writes a sign in the place of a character.
func (w *writer) sign(format string, value any) {
	fmt.Fprintf(w.b, format, value)
	w.carries = false
}

func (w *writer) blanks(n int, last bool) {
	if n > maxBlanks || last {
		w.sign("⟨%d×␠⟩", n)
		return
	}
	w.carries = false
	w.b.WriteString(strings.Repeat(" ", n))
}

func (w *writer) write(r rune) {
	switch mark := unicode.IsMark(r); {
	case r > ' ' && r <= '~':
		w.b.WriteByte(byte(r))
		w.carries = false
	case r == '\t':
		w.b.WriteString(tab)
		w.carries = false
	case !w.composed || !drawn(r) || mark && (!w.carries || w.marks == maxMarks):
		w.sign("⟨U+%04X⟩", r)
	default:
		w.b.WriteRune(r)
		if w.marks++; !mark {
			w.marks, w.carries = 0, unicode.IsLetter(r)
		}
	}
}

// drawn reports whether every font draws r as itself. It is an allow-list: unicode.IsGraphic is
// false for a code point that this version of Unicode has not assigned. A character for private use
// looks as a font likes.
func drawn(r rune) bool {
	return unicode.IsGraphic(r) && !Unseen(r) && !unicode.IsSpace(r) && r != utf8.RuneError && !strings.ContainsRune(signs, r)
}
