package transcript

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

func TestEnd(t *testing.T) {
	line := strings.Repeat("x", 70_000) + "\n"
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"empty", "", 0},
		{"whole lines", "a\nb\n", 4},
		{"half a line behind them", "a\nb", 2},
		{"half a line only", "ab", 0},
		{"a long line", "a\n" + line, 2 + len(line)},
		{"half a long line", "a\n" + line[:69_000], 2},
		{"half a long line only", line[:69_000], 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(tt.text), 0o600))
			c, err := jsonl.End(path)
			require.NoError(t, err)
			assert.Equal(t, talk.Cursor{Path: path, Offset: int64(tt.want)}, c)
			_, ok, err := Form().Open(c).Next()
			assert.NoError(t, err, "a reader may start there")
			assert.False(t, ok)
		})
	}
	_, err := jsonl.End(filepath.Join(t.TempDir(), "none"))
	assert.ErrorIs(t, err, fs.ErrNotExist)
}
