// Package wording keeps what people write out of the log.
//
// It promises that Error repeats no path of the system's errors and no text that an error names as a
// person's, except ccbot's own paths. In the place of each is its kind and its length.
//
// It cannot see a person's text that an error has as a plain part of its own sentence: such a text is
// formatted as a Text.
package wording

import (
	"cmp"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Text is something that a person wrote. In a format and in the log it is its kind and its length.
type Text string

func (t Text) String() string { return fmt.Sprintf("text of %d bytes", len(t)) }

// Format writes String for every verb: %q and %x would reveal the text otherwise.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, t.String()) }

// LogValue implements slog.LogValuer.
func (t Text) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Worded is an error that knows which parts of its text a person wrote.
type Worded interface{ Words() []string }

// Error returns the text of an error for the log. The paths in folder are ccbot's own, and stay.
func Error(err error, folder string) string {
	var words []string
	collect(err, folder, &words)
	// The longest first: a path holds its own beginnings.
	slices.SortFunc(words, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	var pairs []string
	for _, word := range slices.Compact(words) {
		quoted := strconv.Quote(word)
		pairs = append(pairs, quoted, Text(word).String(), quoted[1:len(quoted)-1], Text(word).String(), word, Text(word).String())
	}
	return strings.NewReplacer(pairs...).Replace(err.Error())
}

// collect finds the words of people in an error and in all that it wraps.
func collect(err error, folder string, words *[]string) {
	add := func(all ...string) {
		for _, word := range all {
			own := folder != "" && (word == folder || strings.HasPrefix(word, folder+"/"))
			if word != "" && !own {
				*words = append(*words, word)
			}
		}
	}
	switch e := err.(type) { //nolint:errorlint // each error of the tree is looked at
	case nil:
		return
	case *fs.PathError:
		add(e.Path)
	case *os.LinkError:
		add(e.Old, e.New)
	}
	if e, ok := err.(Worded); ok { //nolint:errorlint // as above
		add(e.Words()...)
	}
	switch e := err.(type) { //nolint:errorlint // as above
	case interface{ Unwrap() error }:
		collect(e.Unwrap(), folder, words)
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			collect(one, folder, words)
		}
	}
}
