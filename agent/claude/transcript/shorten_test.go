package transcript

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

// readAll returns all that words give, and closes them.
func readAll(t require.TestingT, w *jsonl.Words) string {
	data, err := io.ReadAll(io.NewSectionReader(w, 0, w.Size))
	require.NoError(t, errors.Join(err, w.Close()))
	return string(data)
}

// TestImagesOfShortenedLine: an image has its place in the file, also if it is cut, or comes after
// a string that is.
func TestImagesOfShortenedLine(t *testing.T) {
	image := func(data string) string {
		return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`, data)
	}
	text := `{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"` + strings.Repeat(`\"`, 500_000) +
		`"},` + strings.Join([]string{image("QUJD"), image(strings.Repeat("QUJD", 225_000)), image("QUJD" + strings.Repeat("!", 900_000)), image("REVG")}, ",") + `]}]}}` + "\n"
	path := wrote(t, text)
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	r.Limit = 1_000_000 // of this line each long string is cut
	item, ok, err := r.Next()
	require.NoError(t, err)
	require.True(t, ok)
	require.NotNil(t, item.Rest)
	var all []string
	for _, i := range item.Images {
		if i.Length == 0 {
			all = append(all, "none")
			continue
		}
		p, err := jsonl.OpenImage(talk.Cursor{Path: path}, i)
		require.NoError(t, err)
		data, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size))
		require.NoError(t, errors.Join(err, p.Close()))
		all = append(all, string(data))
	}
	require.True(t, slices.Equal([]string{"ABC", strings.Repeat("ABC", 225_000), "none", "DEF"}, all))
}

// TestLongLinesBackwards: a long line is also read towards the beginning of a file, and in the
// history.
func TestLongLinesBackwards(t *testing.T) {
	long := strings.Repeat("word ", int(jsonl.Budget()/10))
	path := wrote(t, prompt("one"), reply("m", long), prompt("two"), reply("m", long+"!"), prompt("three"))
	var kinds []talk.EntryKind
	var ends []int64
	require.NoError(t, Form().Older(t.Context(), path, -1, func(e history.Entry) bool {
		kinds, ends = append(kinds, e.Kind), append(ends, e.End)
		if e.Kind == talk.EntryAnswer {
			assert.Less(t, len(e.Texts[0]), len(long))
			assert.True(t, e.Cut && strings.HasPrefix(long, strings.TrimSuffix(e.Texts[0], "…")))
		}
		return true
	}))
	assert.Equal(t, []talk.EntryKind{talk.EntryPrompt, talk.EntryAnswer, talk.EntryPrompt, talk.EntryAnswer, talk.EntryPrompt}, kinds)
	for _, end := range ends[1:] {
		require.NoError(t, Form().Older(t.Context(), path, end, func(history.Entry) bool { return false }), "each is a place")
	}
	found := 0
	reached, err := Form().Search(t.Context(), path, -1, "word", func(history.Found) bool { found++; return true })
	require.NoError(t, err)
	assert.Zero(t, reached)
	assert.Equal(t, 2, found)
}

func TestWordsReadInPieces(t *testing.T) {
	said := strings.Repeat("é\n😀x", 50_000)
	path := wrote(t, reply("m", said, "b"))
	whole := fmt.Sprintf("%q", said)
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	begin := strings.Index(string(text), `é`)
	rest := talk.Rest{Offset: int64(begin), Length: int64(strings.Index(string(text[begin:]), `"`))}
	require.Equal(t, whole[1:len(whole)-1], string(text[begin:begin+int(rest.Length)]))
	w, err := jsonl.OpenWords(talk.Cursor{Path: path}, rest)
	require.NoError(t, err)
	assert.Equal(t, int64(len(said)), w.Size)
	// An upload that is tried again begins again.
	for _, off := range []int64{0, 1, 70_000, 3, w.Size - 2} {
		b := make([]byte, 100)
		n, err := w.ReadAt(b, off)
		assert.Equal(t, said[off:min(int(off)+100, len(said))], string(b[:n]))
		assert.Equal(t, n < 100, errors.Is(err, io.EOF))
	}
	for place, want := range map[int64]int64{0: 0, 1: 0, 2: 2, 3: 3, 4: 3, 6: 3, 7: 7, 8: 8, int64(len(said)): int64(len(said)), 1 << 30: int64(len(said))} {
		got, err := w.Boundary(place)
		require.NoError(t, err)
		assert.Equal(t, want, got, place)
	}
	require.NoError(t, w.Close())
	require.NoError(t, os.Truncate(path, 1000))
	_, err = jsonl.OpenWords(talk.Cursor{Path: path}, rest)
	require.ErrorIs(t, err, fs.ErrInvalid)
}
