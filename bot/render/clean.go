package render

import (
	"regexp"
	"strings"
	"unicode"
)

// escapes matches terminal escape sequences that are complete. An unfinished one loses only its ESC, below: a
// parser that waits for the end of a control string would swallow the rest of an answer.
var escapes = regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` + // CSI: colours, cursor
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})` + // OSC and the other strings: titles, links
	`|\x1b[()*+#%][0-9A-Za-z@]` + // character sets
	`|\x1b[=>78cDEHMNOZ]`)

// lineEnds are those of a terminal; one carriage return too many comes from a program that writes CRLF itself.
var lineEnds = regexp.MustCompile(`\r+\n`)

// clean makes s safe to send: UTF-8, LF line ends, no terminal escapes, no control characters but LF and TAB. What a
// lone carriage return would have had overwritten stays, as a line of its own: no text is lost.
func clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexFunc(s, foreign) < 0 {
		return s
	}
	s = escapes.ReplaceAllLiteralString(s, "")
	s = lineEnds.ReplaceAllLiteralString(s, "\n")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\r':
			return '\n'
		case foreign(r):
			return -1
		}
		return r
	}, s)
}

func foreign(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }

// spread replaces tabs. Telegram shows one as a single blank, and code would lose its shape.
func spread(s string) string { return strings.ReplaceAll(s, "\t", "    ") }

// invisible says that r alone does not make a message: Telegram answers "message text is empty" to white space and
// to characters without a glyph. Counting one too many is safe, it only moves a cut.
func invisible(r rune) bool {
	switch r {
	case '\u115F', '\u1160', '\u2800', '\u3164', '\uFFA0': // blank letters
		return true
	}
	return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me)
}

func blank(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return !invisible(r) }) < 0
}
