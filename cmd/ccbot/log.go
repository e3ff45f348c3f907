package main

import (
	"io"
	stdlog "log"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"

	"ccbot/cmd/ccbot/config"
)

// newLog makes the program's log: with colours for a person at a terminal, otherwise as key=value
// lines or JSON. Each line is written whole, and the token is removed from it, however the token
// came there.
func newLog(c config.Config, level slog.Leveler, out io.Writer) *slog.Logger {
	options := &slog.HandlerOptions{Level: level}
	clean := c.Token.Writer(out)
	f, isFile := out.(*os.File)
	switch {
	case c.LogFormat == "json":
		return slog.New(slog.NewJSONHandler(clean, options))
	case c.LogFormat == "auto" && isFile && isatty.IsTerminal(f.Fd()):
		return slog.New(tint.NewTextHandler(clean, &tint.Options{Level: level, TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewTextHandler(clean, options))
}

// foreignLog takes the log lines that libraries write by themselves, such as net/http with
// GODEBUG=http2debug=1, which shows every URL.
func foreignLog(c config.Config, out io.Writer) { stdlog.SetOutput(c.Token.Writer(out)) }
