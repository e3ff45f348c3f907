package host

import (
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/port/talk"
)

func saysLine(text string) string {
	return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
}

func TestTranscripts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.jsonl")
	all, start := Transcripts{Log: slog.New(slog.DiscardHandler)}, talk.Cursor{Path: path}
	s := all.Follow(start)
	defer s.Close()
	_, ok, err := s.Now()
	require.NoError(t, err)
	assert.False(t, ok, "what does not exist yet is empty")

	require.NoError(t, os.WriteFile(path, []byte(saysLine("one")+saysLine("two")), 0o600))
	one, err := s.Next(t.Context())
	require.NoError(t, err)
	two, ok, err := s.Now()
	require.NoError(t, err)
	assert.Equal(t, []any{"one", true, "two"}, []any{one.Text, ok, two.Text})
	end, err := all.End(start)
	require.NoError(t, err)
	assert.Equal(t, two.Next, end)

	for from, want := range map[*talk.Cursor]int{nil: 2, &one.Next: 1} {
		said, err := all.Said(from, end)
		require.NoError(t, err)
		assert.Len(t, said, want)
	}

	require.NoError(t, os.WriteFile(path, []byte(saysLine("x")), 0o600))
	_, _, err = s.Now()
	require.ErrorIs(t, err, talk.ErrReplaced)
	_, err = all.Follow(end).Next(t.Context())
	require.ErrorIs(t, err, talk.ErrReplaced)
}
