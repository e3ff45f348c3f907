package render

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ccbot/internal/lazyregexp"
)

// escape writes text for a rich message so that nothing in it is markup. It uses character
// references, which are text for every parser: Telegram reads HTML before it looks at backslashes,
// so that \< would not stop a tag, and it pairs || over a backslash. It knows few names, but all
// numbers (core.telegram.org/bots/api#rich-html-style). start means that a line begins here, last
// is the character before.
func escape(b *strings.Builder, s string, start bool, last rune) {
	digits := start
	for i, r := range s {
		after, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case special(r, last, after, start, i == 0), digits && i > 0 && (r == '.' || r == ')'):
			b.WriteString(referenceTo(r))
		default:
			b.WriteRune(r)
		}
		digits = digits && r >= '0' && r <= '9'
		start, last = false, r
	}
}

// special reports whether a character may be markup at its place: at the start of a line, at the
// edge of a text (with an unknown neighbour), between two others.
func special(r, before, after rune, start, edge bool) bool {
	switch r {
	case '\\', '`', '*', '[', ']', '$', '|', '~':
		return true
	case '_':
		return edge || !wordly(before) || !wordly(after)
	case '=':
		return start || before == '=' || after == '=' || edge || after == utf8.RuneError
	case '#':
		return edge || unicode.IsSpace(before) || before == '#'
	case '+', '-':
		return start
	case '!':
		return after == utf8.RuneError // a link may follow, and would be a picture
	case '\u00a0':
		return true // some take it for a blank
	}
	return false
}

func referenceTo(r rune) string { return "&#" + strconv.Itoa(int(r)) + ";" }

// Literal returns a text as Markdown without any markup, for use before or between the parts of
// Rich. Line ends stay.
func Literal(s string) string {
	return strings.Join(broken(strings.Split(escapedLines(clean(s)), "\n")), "\n")
}

// escaped is one line of text. Blanks at its beginning are kept.
func escaped(line string) string {
	var b strings.Builder
	line = strings.TrimRight(spread(line), " ")
	rest := strings.TrimLeft(line, " ")
	b.WriteString(strings.Repeat(referenceTo('\u00a0'), len(line)-len(rest)))
	escape(&b, rest, len(rest) == len(line), 0)
	return b.String()
}

// span is code within a line. In a table a bar has to be escaped even there.
func span(body string, table bool) string {
	if body == "" {
		return ""
	}
	marks := strings.Repeat("`", longestRun(body, '`')+1)
	inside := strings.Trim(body, " ") != "" && body[0] == ' ' && body[len(body)-1] == ' '
	if inside || body[0] == '`' || body[len(body)-1] == '`' {
		body = " " + body + " "
	}
	if table {
		body = strings.ReplaceAll(body, "|", `\|`)
	}
	return marks + body + marks
}

func longestRun(s string, c byte) int {
	most, now := 0, 0
	for i := range len(s) {
		if now++; s[i] != c {
			now = 0
		}
		most = max(most, now)
	}
	return most
}

// address writes the target of a link so that no character of it ends the link or is markup.
func address(target string) string {
	var b strings.Builder
	for i := range len(target) {
		switch c := target[i]; {
		case strings.IndexByte("()<>\\`\"|$*[]^{}~", c) >= 0, c <= ' ', c == '=' && i > 0 && target[i-1] == '=', c == '_' && i > 0 && target[i-1] == '_':
			fmt.Fprintf(&b, "%%%02X", c)
		case c == '&':
			b.WriteString("&amp;")
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// escapes matches terminal escape sequences that are complete. An unfinished one loses only its
// ESC, below: a parser that waits for the end of a control string would swallow the rest of an
// answer.
var escapes = lazyregexp.New(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]` + // CSI: colours, cursor
	`|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})` + // OSC and the other strings: titles, links
	`|\x1b[()*+#%][0-9A-Za-z@]` + // character sets
	`|\x1b[=>78cDEHMNOZ]`)

// lineEnds matches a terminal's line ends; an additional carriage return comes from a program that
// writes CRLF itself.
var lineEnds = lazyregexp.New(`\r+\n`)

// clean makes s safe to send: UTF-8, LF line ends, no terminal escapes, no control characters but
// LF and TAB. Text that a lone carriage return would have overwritten stays, as a separate line: no
// text is lost.
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

// invisible reports whether r alone does not make a message: Telegram answers "message text is
// empty" to white space and to characters without a glyph. Counting one too many is safe, it only
// moves a cut.
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
