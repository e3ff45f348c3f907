package wording

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
)

const marker = "my secret/plan\n\"x\""

func TestTextIsItsLength(t *testing.T) {
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("event", "name", Text(marker))
	for _, said := range []string{log.String(), fmt.Sprintf("%s %v %q %x %+v %#v", Text(marker), Text(marker), Text(marker), Text(marker), Text(marker), Text(marker))} {
		assert.NotContains(t, said, "secret")
		assert.Contains(t, said, "text of 18 bytes")
	}
}

// errWithPath has another path than the error that it wraps.
type errWithPath struct{ error }

func (errWithPath) Masked(m Mask) string { return "custom " + m.Path(marker) }

func TestErrorHasNoWords(t *testing.T) {
	path := &fs.PathError{Op: "openat", Path: marker, Err: fs.ErrNotExist}
	short := &fs.PathError{Op: "open", Path: "o", Err: fs.ErrNotExist}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"path", path, "openat path of 18 bytes: file does not exist"},
		{"wrapped and joined", fmt.Errorf("get: %w", errors.Join(errors.New("a"), path)), "get: a\nopenat path of 18 bytes: file does not exist"},
		{"two wrapped", fmt.Errorf("%w: %w", fs.ErrInvalid, path), "invalid argument: openat path of 18 bytes: file does not exist"},
		{"one letter", fmt.Errorf("do: %w", short), "do: open path of 1 bytes: file does not exist"},
		{"link", &os.LinkError{Op: "rename", Old: marker, New: marker + "2", Err: fs.ErrExist}, "rename path of 18 bytes path of 19 bytes: file already exists"},
		{"format", fmt.Errorf("start: %w", Errorf("directory %q of %s in %s: %w", Path(marker), Text(marker), Path("/state/x"), path)),
			"start: directory path of 18 bytes of text of 18 bytes in /state/x: openat path of 18 bytes: file does not exist"},
		{"masked by itself", fmt.Errorf("try: %w", errWithPath{path}), "try: custom path of 18 bytes"},
		{"ccbot's own", &fs.PathError{Op: "open", Path: "/state/sessions/a", Err: fs.ErrExist}, "open /state/sessions/a: file already exists"},
		{"next to ccbot's own", &fs.PathError{Op: "open", Path: "/state2/a", Err: fs.ErrExist}, "open path of 9 bytes: file already exists"},
		{"plain", errors.New("plain"), "plain"},
		{"empty", fmt.Errorf("%w", errors.New("")), ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Mask("/state").Error(tt.err)) })
	}
}

func TestErrorfIsWholeForPerson(t *testing.T) {
	err := Errorf("directory %q: %w", Path(marker), fs.ErrNotExist)
	assert.ErrorIs(t, err, fs.ErrNotExist)
	assert.EqualError(t, err, `directory "my secret/plan\n\"x\"": file does not exist`)
}

func TestHandlerMasksEachLine(t *testing.T) {
	var out bytes.Buffer
	log := slog.New(NewHandler(slog.NewJSONHandler(&out, nil), "/state"))
	err := &fs.PathError{Op: "open", Path: marker, Err: fs.ErrNotExist}
	log.With("error", err).WithGroup("g").Warn("event", "error", err, "path", Path("/state/a"), "dir", Path(marker), "n", 1)
	assert.Contains(t, out.String(), `"error":"open path of 18 bytes: file does not exist","g":{"error":"open path of 18 bytes: file does not exist","path":"/state/a","dir":"path of 18 bytes","n":1}`)
}
