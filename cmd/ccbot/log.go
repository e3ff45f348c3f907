package main

import (
	"io"
	"log/slog"
	"os"

	"github.com/lmittmann/tint"
	"github.com/mattn/go-isatty"
)

// newLog makes the program's log: colours for a person at a terminal, else
// key=value lines, or JSON.
func newLog(c config, out io.Writer) *slog.Logger {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		level = slog.LevelInfo // check has refused anything else
	}
	options := &slog.HandlerOptions{Level: level}
	f, isFile := out.(*os.File)
	switch {
	case c.LogFormat == "json":
		return slog.New(slog.NewJSONHandler(out, options))
	case c.LogFormat == "auto" && isFile && isatty.IsTerminal(f.Fd()):
		return slog.New(tint.NewTextHandler(out, &tint.Options{Level: level, TimeFormat: "15:04:05"}))
	}
	return slog.New(slog.NewTextHandler(out, options))
}
