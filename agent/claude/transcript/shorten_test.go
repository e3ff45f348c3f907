package transcript

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/port/talk"
)

// readAll returns all that words give, and closes them.
func readAll(t require.TestingT, w *Words) string {
	data, err := io.ReadAll(io.NewSectionReader(w, 0, w.Size))
	require.NoError(t, errors.Join(err, w.Close()))
	return string(data)
}

// shortened is a line of a file as a reader with little memory has it.
func shortened(text string, pieces int, most int) line {
	s := newShortener(0, math.MaxInt)
	s.most, s.head = len(text)+len(s.mark)*len(text), most
	s.longest = most
	for rest := text; rest != ""; rest = rest[min(pieces, len(rest)):] {
		s.write([]byte(rest[:min(pieces, len(rest))]))
	}
	return line{text: s.out, end: int64(len(text)), short: s}
}

// TestP5_ShortenedLineLosesNothing: whatever an agent has written, and wherever a string is cut,
// its beginning and what is read from the file are the whole text, and all other items are as they
// are without a limit.
func TestP5_ShortenedLineLosesNothing(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringOf(rapid.OneOf(rapid.RuneFrom([]rune("ab\\\"\n<😀é\u2028\ufffd\x00:;")), rapid.Rune())), 1, 4).Draw(t, "texts")
		raw, err := json.Marshal(map[string]any{"type": "assistant", "uuid": "u", "message": map[string]any{"content": blocksOf(texts)}})
		require.NoError(t, err)
		text := string(raw)
		if rapid.Bool().Draw(t, "as \\u") { // pairs of halves
			text = asciiJSON(text)
		}
		l := shortened(text+"\n", rapid.IntRange(1, 40).Draw(t, "pieces"), rapid.IntRange(12, 60).Draw(t, "most"))
		full, err := parseLine(line{text: []byte(text)})
		require.NoError(t, err)
		path := dir + "/t.jsonl"
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		short, err := parseLine(l)
		require.NoError(t, err)
		require.Len(t, short, len(full))
		for i, item := range short {
			if item.Rest != nil {
				w, err := OpenWords(talk.Cursor{Path: path}, *item.Rest)
				require.NoError(t, err)
				whole := readAll(t, w)
				require.True(t, strings.HasPrefix(whole, item.Text), "%q %q", whole, item.Text)
				item.Text, item.Rest = whole, nil
			}
			require.Equal(t, full[i], item)
		}
	})
}

func blocksOf(texts []string) (all []map[string]string) {
	for _, text := range texts {
		all = append(all, map[string]string{"type": "text", "text": "x" + text})
	}
	return all
}

func asciiJSON(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x80:
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// TestImagesOfShortenedLine: an image has its place in the file, also if it is cut, or comes after
// a string that is.
func TestImagesOfShortenedLine(t *testing.T) {
	image := func(data string) string {
		return fmt.Sprintf(`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`, data)
	}
	text := `{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"text","text":"` + strings.Repeat(`\"`, 500) +
		`"},` + strings.Join([]string{image("QUJD"), image(strings.Repeat("QUJD", 100)), image("QUJD" + strings.Repeat("!", 400)), image("REVG")}, ",") + `]}]}}` + "\n"
	path := wrote(t, text)
	for pieces := 1; pieces < 50; pieces++ {
		l := shortened(text, pieces, 100)
		require.Less(t, len(l.text), len(text)/2)
		items, err := parseLine(l)
		require.NoError(t, err)
		require.Len(t, items, 1)
		require.NotNil(t, items[0].Rest)
		var all []string
		for _, i := range items[0].Images {
			if i.Length == 0 {
				all = append(all, "none")
				continue
			}
			p, err := OpenImage(talk.Cursor{Path: path}, i)
			require.NoError(t, err)
			data, err := io.ReadAll(io.NewSectionReader(p, 0, p.Size))
			require.NoError(t, errors.Join(err, p.Close()))
			all = append(all, string(data))
		}
		require.Equal(t, []string{"ABC", strings.Repeat("ABC", 100), "none", "DEF"}, all)
	}
}

// TestLongLinesBackwards: a long line is also read towards the beginning of a file, and in the
// history.
func TestLongLinesBackwards(t *testing.T) {
	long := strings.Repeat("word ", int(Budget()*lineShare/500)+1)
	path := wrote(t, prompt("one"), reply("m", long), prompt("two"), reply("m", long+"!"), prompt("three"))
	var kinds []talk.EntryKind
	var ends []int64
	require.NoError(t, Older(t.Context(), path, -1, func(e Entry) bool {
		kinds, ends = append(kinds, e.Kind), append(ends, e.End)
		if e.Kind == Answered {
			assert.Less(t, len(e.Texts[0]), len(long))
			assert.True(t, e.Cut && strings.HasPrefix(long, strings.TrimSuffix(e.Texts[0], "…")))
		}
		return true
	}))
	assert.Equal(t, []talk.EntryKind{Asked, Answered, Asked, Answered, Asked}, kinds)
	for _, end := range ends[1:] {
		require.NoError(t, Older(t.Context(), path, end, func(Entry) bool { return false }), "each is a place")
	}
	found := 0
	reached, err := Search(t.Context(), path, -1, NewWord("word"), func(Found) bool { found++; return true })
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
	rest := Rest{Offset: int64(begin), Length: int64(strings.Index(string(text[begin:]), `"`))}
	require.Equal(t, whole[1:len(whole)-1], string(text[begin:begin+int(rest.Length)]))
	w, err := OpenWords(talk.Cursor{Path: path}, rest)
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
	_, err = OpenWords(talk.Cursor{Path: path}, rest)
	require.ErrorIs(t, err, fs.ErrInvalid)
}
