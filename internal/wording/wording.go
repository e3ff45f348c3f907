// Package wording keeps the words of people out of the log.
//
// It promises that Error repeats no path of the system's errors and no Text of an error made by
// Errorf, but for paths in ccbot's own folder. Their place has their kind and their length. Handler
// does this for each error that is logged.
//
// It cannot see the words that an error has as a plain part of its text.
package wording

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"
)

// Text is a text that a person wrote. In a format and in the log it is its kind and its length.
type Text string

func (t Text) String() string { return fmt.Sprintf("text of %d bytes", len(t)) }

// Format writes String for every verb: %q and %x would reveal the text otherwise.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Path is the path of a file or folder that a person may have chosen. In the log a path outside of
// ccbot's folder is its kind and its length.
type Path string

// LogValue implements slog.LogValuer.
func (p Path) LogValue() slog.Value { return slog.StringValue(p.masked("")) }

// masked returns the path if it is in a folder of ccbot's own.
func (p Path) masked(own string) string {
	if own != "" && (string(p) == own || strings.HasPrefix(string(p), own+"/")) {
		return string(p)
	}
	return fmt.Sprintf("path of %d bytes", len(p))
}

// Worded is an error that knows its text for the log.
type Worded interface {
	error
	// Masked returns the text without the words of people. mask returns the same of an error, and
	// of a path.
	Masked(mask Mask) string
}

// Mask masks errors and paths. It is ccbot's own folder, whose paths stay.
type Mask string

// Error returns the text of an error for the log.
func (m Mask) Error(err error) string {
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case nil:
		return ""
	case Worded:
		return e.Masked(m)
	case *fs.PathError:
		return e.Op + " " + m.Path(e.Path) + ": " + m.Error(e.Err)
	case *os.LinkError:
		return e.Op + " " + m.Path(e.Old) + " " + m.Path(e.New) + ": " + m.Error(e.Err)
	case interface{ Unwrap() error }:
		return m.within(err, e.Unwrap())
	case interface{ Unwrap() []error }:
		return m.within(err, e.Unwrap()...)
	}
	return err.Error()
}

// Path returns a path for the log.
func (m Mask) Path(path string) string { return Path(path).masked(string(m)) }

// within returns the text of an error with the errors that it wraps masked.
func (m Mask) within(err error, wrapped ...error) string {
	var pairs []string
	for _, one := range wrapped {
		if one != nil && one.Error() != "" {
			pairs = append(pairs, one.Error(), m.Error(one))
		}
	}
	return strings.NewReplacer(pairs...).Replace(err.Error())
}

// Errorf is fmt.Errorf for a format with words of people: arguments of the types Text and Path.
// Error returns them as they are, for the person.
func Errorf(format string, args ...any) error {
	plain := make([]any, len(args))
	for i, arg := range args {
		switch a := arg.(type) {
		case Text:
			plain[i] = string(a)
		case Path:
			plain[i] = string(a)
		default:
			plain[i] = arg
		}
	}
	return &worded{fmt.Errorf(format, plain...), format, args} //nolint:err113 // the caller's format wraps
}

type worded struct {
	error
	format string
	args   []any
}

// Unwrap returns the error that fmt made, so that errors.Is finds what the format wraps.
func (w *worded) Unwrap() error { return w.error }

// Masked implements Worded. No verb formats a word that is masked: %q of it would be quoted.
func (w *worded) Masked(m Mask) string {
	masked := make([]any, len(w.args))
	for i, arg := range w.args {
		switch a := arg.(type) {
		case Path:
			masked[i] = raw(a.masked(string(m)))
		case error:
			masked[i] = raw(m.Error(a))
		default:
			masked[i] = arg
		}
	}
	return fmt.Sprintf(strings.ReplaceAll(w.format, "%w", "%v"), masked...)
}

// raw is a text that each verb writes as it is.
type raw string

// Format implements fmt.Formatter.
func (r raw) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, string(r)) }

// Handler masks the errors and paths of each line of the log.
type Handler struct {
	next slog.Handler
	mask Mask
}

// NewHandler masks what reaches next. Paths in folder are ccbot's own, and stay.
func NewHandler(next slog.Handler, folder string) *Handler { return &Handler{next, Mask(folder)} }

// Enabled implements slog.Handler.
func (h *Handler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.next.Enabled(ctx, level)
}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	line := slog.NewRecord(r.Time, r.Level, r.Message, r.PC)
	r.Attrs(func(a slog.Attr) bool {
		line.AddAttrs(h.masked(a))
		return true
	})
	return h.next.Handle(ctx, line)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	masked := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		masked[i] = h.masked(a)
	}
	return &Handler{h.next.WithAttrs(masked), h.mask}
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	return &Handler{h.next.WithGroup(name), h.mask}
}

func (h *Handler) masked(a slog.Attr) slog.Attr {
	switch value := a.Value.Any().(type) {
	case Path:
		a.Value = slog.StringValue(value.masked(string(h.mask)))
	case error:
		a.Value = slog.StringValue(h.mask.Error(value))
	}
	return a
}
