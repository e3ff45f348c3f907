package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode"

	"mvdan.cc/sh/v3/syntax"
)

// Printable makes a text from somebody else safe for a terminal.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Text makes a text of several lines from somebody else safe for a terminal, and leaves all that can be seen as it is.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// JSON prints a value for programs, one field on a line.
func JSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	encoder.SetEscapeHTML(false)
	return encoder.Encode(v)
}

// Printer prints, and keeps the first error: nothing is printed after it.
type Printer struct {
	Out io.Writer
	Err error
}

// Write prints for a caller that looks at no error.
func (p *Printer) Write(text []byte) (int, error) {
	if p.Err == nil {
		_, p.Err = p.Out.Write(text)
	}
	return len(text), nil
}

// Line prints one line.
func (p *Printer) Line(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// Show prints a value as JSON for programs, or calls print for people.
func Show(out io.Writer, asJSON bool, v any, print func(*Printer)) error {
	if asJSON {
		return JSON(out, v)
	}
	p := &Printer{Out: out}
	print(p)
	return p.Err
}

// Several counts things in words: "1 notice", "2 notices".
func Several(n int, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// Age is a time span in its largest unit.
func Age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", max(d, 0)/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 24*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// Words is a value with words around it; nothing where there is no value.
func Words(before, value, after string) string {
	if value == "" {
		return ""
	}
	return before + value + after
}

// ShellWord is a path or a name in a command that a person copies.
func ShellWord(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	if err != nil { // it has a NUL
		return Printable(word)
	}
	return quoted
}
