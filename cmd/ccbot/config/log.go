package config

import (
	"io"
	"log/slog"

	"github.com/lmittmann/tint"
	"golang.org/x/term"

	"ccbot/internal/wording"
)

// Log makes the program's log: with colours for a person at a terminal, otherwise as key=value
// lines or JSON. Each line is written whole, and the token is removed from it, however the token
// came there. In each of them a time span has its unit, as "1.5s".
// The words of people are masked: see package wording.
func (c Config) Log(level slog.Leveler, out io.Writer) *slog.Logger {
	return c.Masked(c.Handler(level, out))
}

// Masked returns a log that masks the words of people before they reach next.
func (c Config) Masked(next slog.Handler) *slog.Logger {
	return slog.New(wording.NewHandler(next, c.Dir))
}

// Handler writes the lines of the log.
func (c Config) Handler(level slog.Leveler, out io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: level}
	clean := c.Token.Writer(out)
	f, isFile := out.(interface{ Fd() uintptr })
	switch {
	case c.LogFormat == "json":
		options.ReplaceAttr = func(_ []string, a slog.Attr) slog.Attr {
			if a.Value.Kind() == slog.KindDuration { // which would be a number of nanoseconds
				a.Value = slog.StringValue(a.Value.String())
			}
			return a
		}
		return slog.NewJSONHandler(clean, options)
	case c.LogFormat == "auto" && !c.Colourless && isFile && term.IsTerminal(int(f.Fd())):
		return tint.NewTextHandler(clean, &tint.Options{Level: level, TimeFormat: "15:04:05"})
	}
	return slog.NewTextHandler(clean, options)
}

// QuietLog is for a verb that prints its own results: the log shows failures only.
func (c Config) QuietLog(out io.Writer) *slog.Logger {
	if c.LogLevel != "debug" {
		c.LogLevel = "error"
	}
	return c.Log(c.Level(), out)
}
