package tmux

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ccbot/internal/lazyregexp"
)

// record is one line of a list command: numbers (or plain words) and texts. Texts may hold
// anything, also newlines, so they are separated by a random text that cannot be guessed. They
// cannot be separated by their lengths: tmux asks the kernel for path and command each time a
// format names them, and a process may end in between.
type record struct{ numbers, texts []string }

// recordFormat prints a record: numbers, already separated by "|", and texts. The numbers, and each
// text, are followed by sep.
func recordFormat(sep, numbers string, texts ...string) string {
	return numbers + sep + strings.Join(texts, sep) + sep
}

// list runs a list command. format makes its format for a separator.
func (c *Client) list(ctx context.Context, name string, format func(sep string) string, args ...string) (text, sep string, err error) {
	// never a whole line that equals the marker
	separator := func(marker string) string { return marker + "|" }
	a, call, err := c.do(ctx, name, func(marker string) string {
		return command(name, append(slices.Clone(args), "-F", format(separator(marker)))...)
	})
	return strings.Join(a.lines, "\n"), separator(call.marker), err
}

// rows parses the output of recordFormat, whose records have the given numbers and texts. It
// returns the results of read that are shown.
func rows[T any](text, sep string, numbers, texts int, read func(record) (one T, shown bool, err error)) (all []T, _ error) {
	if text == "" {
		return nil, nil
	}
	fields := strings.Split(text, sep)
	last := len(fields) - 1
	if last%(1+texts) != 0 || fields[last] != "" {
		return nil, fmt.Errorf("%d fields, rest %.80q", last, fields[last])
	}
	for chunk := range slices.Chunk(fields[:last], 1+texts) {
		r := record{numbers: strings.Split(strings.TrimPrefix(chunk[0], "\n"), "|"), texts: chunk[1:]}
		if len(r.numbers) != numbers {
			return nil, fmt.Errorf("%d numbers: %.80q", len(r.numbers), r.numbers)
		}
		one, shown, err := read(r)
		if err != nil {
			return nil, err
		}
		if shown {
			all = append(all, one)
		}
	}
	return all, nil
}

// escape is a backslash with what it stands for.
var escape = lazyregexp.New(`(?s)\\(?:[0-7]{3}|.)`)

// escapes reports whether show-buffer escapes control characters in control mode: it does up to
// 3.3a.
func escapes(version string) bool { return older(version, 3, 4) }

// quotes reports whether a command and a path are requested with "q:". Up to 3.3a they are printed
// unchanged, and "q:" leaks 250 bytes in the server. An unknown version may be a newer one.
func quotes(version string) bool { return !older(version, 3, 4) }

// unquoted reverses "q:": a backslash before each backslash and other signs of a shell. Some
// versions (3.5a) print invalid UTF-8 and control characters as "\377" or "\a"; "q:" makes neither,
// so that a name with such a text differs from one with such a byte.
func unquoted(text string) string {
	return escape.ReplaceAllStringFunc(text, func(e string) string {
		if n, err := strconv.ParseUint(e[1:], 8, 8); err == nil && len(e) == 4 {
			return string([]byte{byte(n)})
		}
		if i := strings.Index("abtvfr", e[1:]); i >= 0 {
			return "\a\b\t\v\f\r"[i : i+1]
		}
		return e[1:]
	})
}

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
