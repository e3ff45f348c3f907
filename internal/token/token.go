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

// redacted is printed instead of a token.
const redacted = "redacted"

// Hole replaces the token in a cleaned text.
const Hole = "[redacted]"

// minSecret is the least length of a token's second half that is redacted on its own. A shorter one
// is not Telegram's and may be a word.
const minSecret = 16

// Token is a bot's token. The zero value is empty. Only closures hold its text, because fmt calls
// no methods of private fields and would print it there.
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
	if _, half, _ := strings.Cut(text, ":"); len(half) >= minSecret {
		forms = append(forms, half, Hole)
	}
	return Token{reveal: func() string { return text }, clean: strings.NewReplacer(forms...).Replace}
}

// Empty reports whether t has no token.
func (t Token) Empty() bool { return t.reveal == nil }

// Equal says that both are the same token, or none.
func (t Token) Equal(other Token) bool {
	return t.Empty() == other.Empty() && (t.Empty() || t.reveal() == other.reveal())
}

// form matches a bot token.
var form = lazyregexp.New(`^\d+:[A-Za-z0-9_-]{20,}$`)

// Valid says that it looks like one of Telegram's.
func (t Token) Valid() bool { return !t.Empty() && form.MatchString(t.reveal()) }

// UnmarshalText reads it, as from the environment.
func (t *Token) UnmarshalText(text []byte) error {
	*t = New(string(text))
	return nil
}

// MarshalText hides it from JSON and its like.
func (Token) MarshalText() ([]byte, error) { return []byte(redacted), nil }

// LogValue hides it from slog.
func (Token) LogValue() slog.Value { return slog.StringValue(redacted) }

// String returns "redacted".
func (Token) String() string { return redacted }

// Format hides it from fmt, also from a verb that is wrong for a text: fmt would
// print such a one as it is.
func (Token) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// Clean is a text without the token.
func (t Token) Clean(text string) string {
	if t.Empty() {
		return text
	}
	return t.clean(text)
}

// Fill undoes Clean in a path of this machine, because a self-hosted Bot API server names a folder
// after the token. The result is for the operating system only.
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
