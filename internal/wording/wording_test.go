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

type worded struct{ dir string }

func (w worded) Error() string   { return fmt.Sprintf("directory %q: missing", w.dir) }
func (w worded) Words() []string { return []string{w.dir} }

func TestTextIsItsLength(t *testing.T) {
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("event", "name", Text(marker))
	for _, said := range []string{log.String(), fmt.Sprintf("%s %v %q %x %+v %#v", Text(marker), Text(marker), Text(marker), Text(marker), Text(marker), Text(marker))} {
		assert.NotContains(t, said, "secret")
		assert.Contains(t, said, "text of 18 bytes")
	}
}

func TestErrorHasNoWords(t *testing.T) {
	path := &fs.PathError{Op: "openat", Path: marker, Err: fs.ErrNotExist}
	tests := []struct {
		name string
		err  error
		want string
	}{
		{"a path", path, "openat text of 18 bytes: file does not exist"},
		{"wrapped and joined", fmt.Errorf("get: %w", errors.Join(errors.New("a"), path)), "get: a\nopenat text of 18 bytes: file does not exist"},
		{"a link", &os.LinkError{Op: "rename", Old: marker, New: marker + "2", Err: fs.ErrExist}, "rename text of 18 bytes text of 19 bytes: file already exists"},
		{"quoted", worded{marker}, "directory text of 18 bytes: missing"},
		{"ccbot's own", &fs.PathError{Op: "open", Path: "/state/sessions/a", Err: fs.ErrExist}, "open /state/sessions/a: file already exists"},
		{"next to ccbot's own", &fs.PathError{Op: "open", Path: "/state2/a", Err: fs.ErrExist}, "open text of 9 bytes: file already exists"},
		{"none", errors.New("plain"), "plain"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, Error(tt.err, "/state")) })
	}
}
