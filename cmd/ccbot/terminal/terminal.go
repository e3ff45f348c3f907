package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"
	"mvdan.cc/sh/v3/syntax"

	"ccbot/internal/glyph"
)

// Printable makes a foreign name safe for a terminal. It shows the name as the chat does.
func Printable(s string) string { return glyph.Name(s) }

// Text makes a foreign text of several lines safe for a terminal, and leaves all visible characters
// as they are.
func Text(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// Plain returns the text of an error without Go's own words about files, programs, addresses and
// time.
func Plain(err error) string {
	text := err.Error()
	say := func(part error, plain string) { text = strings.ReplaceAll(text, part.Error(), plain) }
	if file, ok := errors.AsType[*fs.PathError](err); ok {
		switch {
		case errors.Is(file, fs.ErrNotExist):
			say(file, file.Path+" is not there")
		case errors.Is(file, fs.ErrPermission):
			say(file, "this user has no permission for "+file.Path)
		default:
			say(file, file.Path+": "+file.Err.Error())
		}
	}
	if program, ok := errors.AsType[*exec.Error](err); ok && errors.Is(program, exec.ErrNotFound) {
		say(program, "there is no program "+program.Name)
	}
	if call, ok := errors.AsType[*net.OpError](err); ok && call.Addr != nil {
		if reason, ok := errors.AsType[syscall.Errno](call); ok {
			say(call, call.Addr.String()+": "+reason.Error())
		}
	}
	return strings.NewReplacer(context.DeadlineExceeded.Error(), "it took too long", context.Canceled.Error(), "it was interrupted").Replace(text)
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
	Out   io.Writer
	Err   error
	width int // of the terminal; 0: Out is not one
}

// NewPrinter returns a printer that knows how wide out is if it is a terminal, whatever replaces
// Out later.
func NewPrinter(out io.Writer) *Printer {
	p := &Printer{Out: out}
	if f, isFile := out.(*os.File); isFile {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			p.width = width
		}
	}
	return p
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

// Hanging prints a line of head and text. On a terminal a long text is wrapped between words, and
// its further lines are indented by the width of head.
func (p *Printer) Hanging(head, text string) {
	if p.width > 0 {
		indent := ansi.StringWidth(head)
		text = strings.ReplaceAll(ansi.Wordwrap(text, max(p.width-indent, 20), ""), "\n", "\n"+strings.Repeat(" ", indent))
	}
	p.Line("%s", head+text)
}

// Show prints a value as JSON for programs, or calls print for people.
func Show(out io.Writer, asJSON bool, v any, print func(*Printer)) error {
	if asJSON {
		return JSON(out, v)
	}
	p := NewPrinter(out)
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

// Some are the first of many lines, and how many more there are.
func Some(lines []string, most int) string {
	if more := len(lines) - most; more > 0 {
		lines = append(slices.Clone(lines[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(lines, "\n")
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

// Words returns a value with words around it, or "" for an empty value.
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
