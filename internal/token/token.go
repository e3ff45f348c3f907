package token

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"strings"

	"ccbot/internal/lazyregexp"
)

// shown is what is printed instead of a token.
const shown = "redacted"

// Hole is what stands in a text where the token was.
const Hole = "[redacted]"

// shortest is the length from which on the half behind the colon is looked for by
// itself: shorter ones are none of Telegram's and may be words.
const shortest = 16

// Token is a bot's token. The zero value is none. Its text is only in closures:
// fmt calls no methods of what lies in a private field, and would print it there.
type Token struct {
	reveal func() string
	clean  func(string) string
}

// New makes a token of its text.
func New(text string) Token {
	if text == "" {
		return Token{}
	}
	escaped := url.QueryEscape(text)
	forms := []string{text, Hole, escaped, Hole, strings.ReplaceAll(escaped, "%3A", "%3a"), Hole}
	if _, half, _ := strings.Cut(text, ":"); len(half) >= shortest {
		forms = append(forms, half, Hole)
	}
	return Token{reveal: func() string { return text }, clean: strings.NewReplacer(forms...).Replace}
}

// Empty says that there is none.
func (t Token) Empty() bool { return t.reveal == nil }

// Equal says that both are the same token, or none.
func (t Token) Equal(other Token) bool {
	return t.Empty() == other.Empty() && (t.Empty() || t.reveal() == other.reveal())
}

// form is what a bot token looks like.
var form = lazyregexp.New(`^\d+:[A-Za-z0-9_-]{20,}$`)

// Valid says that it looks like one of Telegram's.
func (t Token) Valid() bool { return !t.Empty() && form.MatchString(t.reveal()) }

// Bot returns the id of the token's bot, which is no secret; empty for anything but a valid token.
func (t Token) Bot() string {
	if !t.Valid() {
		return ""
	}
	bot, _, _ := strings.Cut(t.reveal(), ":")
	return bot
}

// UnmarshalText reads it, as from the environment.
func (t *Token) UnmarshalText(text []byte) error {
	*t = New(string(text))
	return nil
}

// MarshalText hides it from JSON and its like.
func (Token) MarshalText() ([]byte, error) { return []byte(shown), nil }

// LogValue hides it from slog.
func (Token) LogValue() slog.Value { return slog.StringValue(shown) }

// String hides it from who makes a text of it.
func (Token) String() string { return shown }

// Format hides it from fmt, also from a verb that is wrong for a text: fmt would
// print such a one as it is.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, shown) }

// Clean is a text without the token.
func (t Token) Clean(text string) string {
	if t.Empty() {
		return text
	}
	return t.clean(text)
}

// Fill undoes Clean in a path of this machine: a Bot API server of one's own names
// its files by folders of which one is the token. What comes of it is for the
// operating system alone.
func (t Token) Fill(path string) string {
	if t.Empty() {
		return path
	}
	return strings.ReplaceAll(path, "/"+Hole+"/", "/"+t.reveal()+"/")
}

// CleanError is an error whose text has no token; it matches what err matches.
func (t Token) CleanError(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if cleaned := t.Clean(text); cleaned != text {
		return &cleanError{text: cleaned, err: err}
	}
	return err
}

// cleanError unwraps to nothing: whoever walks down an error's chain to print it
// does not find the token there.
type cleanError struct {
	text string
	err  error
}

func (e *cleanError) Error() string { return e.text }

// Is matches what the error was before.
func (e *cleanError) Is(target error) bool { return errors.Is(e.err, target) }

// As finds what the error was before.
func (e *cleanError) As(target any) bool { return errors.As(e.err, target) }

// Writer takes the token out of everything that is written to w: the last net, for
// a log whose lines are written whole.
func (t Token) Writer(w io.Writer) io.Writer {
	if t.Empty() {
		return w
	}
	return cleanWriter{t, w}
}

type cleanWriter struct {
	token Token
	w     io.Writer
}

func (c cleanWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(c.w, c.token.Clean(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
