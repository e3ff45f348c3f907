package tmux

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

var errNUL = errors.New("a NUL byte cannot be passed to tmux")

// literal doubles every '#', so that tmux's format expansion gives s back. Arguments of -c, -n,
// rename-window and load-buffer need it: a directory named "#(cmd)" would otherwise run cmd.
func literal(s string) string { return strings.ReplaceAll(s, "#", "##") }

// operand writes s as one side of a #{==:…} comparison.
func operand(s string) string {
	return strings.NewReplacer("#", "##", ",", "#,", "}", "#}").Replace(s)
}

// quote writes s as one argument on a line of control mode.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1, r < ' ', r == 0x7f, strings.ContainsRune(`"\$~`, r):
			fmt.Fprintf(&b, `\%03o`, s[i]) // one byte in all of these cases
		default:
			b.WriteString(s[i : i+size])
		}
		i += size
	}
	b.WriteByte('"')
	return b.String()
}

// command joins a command and its arguments, every argument quoted.
func command(name string, args ...string) string {
	var b strings.Builder
	b.WriteString(name)
	for _, arg := range args {
		b.WriteByte(' ')
		b.WriteString(quote(arg))
	}
	return b.String()
}
