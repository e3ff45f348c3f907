package jsonl

import (
	"ccbot/agent/history"
	"ccbot/internal/suspect"
	"ccbot/port/talk"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// readAll returns all that words give, and closes them.
func readAll(t require.TestingT, w *Words) string {
	data, err := io.ReadAll(io.NewSectionReader(w, 0, w.Size))
	require.NoError(t, errors.Join(err, w.Close()))
	return string(data)
}

// testForm is the form of the lines of the tests: each block of content is a text.
var testForm = NewForm(func(text []byte) (items []Item, err error) {
	var l struct {
		Message struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal(text, &l); err != nil {
		return nil, err
	}
	for _, b := range l.Message.Content {
		items = append(items, Item{Kind: Text, Text: b.Text})
	}
	return items, nil
}, []byte("{"))

// shortened is a line of a file as a reader with little memory has it.
func shortened(text string, pieces int, most int) Line {
	s := newShortener(0, math.MaxInt)
	s.most, s.head = len(text)+len(s.mark)*len(text), most
	s.longest = most
	for rest := text; rest != ""; rest = rest[min(pieces, len(rest)):] {
		s.write([]byte(rest[:min(pieces, len(rest))]))
	}
	return Line{Text: s.out, End: int64(len(text)), short: s}
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
		full, err := testForm.Parse(Line{Text: []byte(text)})
		require.NoError(t, err)
		path := dir + "/t.jsonl"
		require.NoError(t, os.WriteFile(path, []byte(text+"\n"), 0o600))
		short, err := testForm.Parse(l)
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

// TestP5_ReadBeginsWithoutLongLine: a read that begins may wait for another read, and that one for
// the memory of long lines.
func TestP5_ReadBeginsWithoutLongLine(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	line := `{"type":"user","uuid":"1","timestamp":"2026-03-04T12:00:00Z","message":{"role":"user","content":[{"text":"` + strings.Repeat("hello ", (1<<20)/4) + `"}]}}` + "\n"
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat(line, 200)), 0o600))
	begun := 0
	notes := suspect.Open(filepath.Join(dir, suspect.Name), "8d6c7a52-0000-4000-8000-000000000001", func(time.Duration) error { return nil }, slog.New(slog.DiscardHandler))
	notes.Failpoint = func(string) {
		begun++
		if assert.True(t, longLines.TryLock(), "a long line is held") {
			longLines.Unlock()
		}
	}
	Note(notes)
	t.Cleanup(func() { Note(nil) })
	r := testForm.Open(talk.Cursor{Path: path})
	_, _, err := r.Next()
	require.NoError(t, err)
	pieces := 0
	r.Allow = func(int64) error { // it ends in the middle of a long line
		if pieces++; pieces > 10 {
			return context.Canceled
		}
		return nil
	}
	for range 2 {
		_, _, err = r.Next()
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Error(t, r.Each(func(Line) bool { return true }))
	require.NoError(t, r.Close())
	found := 0
	require.NoError(t, testForm.Older(t.Context(), path, history.End, func(history.Entry) bool {
		found++
		return found < 3
	}))
	_, err = testForm.Search(t.Context(), path, history.End, "hello", func(history.Found) bool { found++; return found < 6 })
	require.NoError(t, err)
	assert.Equal(t, []int{6, 6}, []int{found, begun})
}

func FuzzShortenedLine(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"image","source":{}}]}]}}`))
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1}}}`))
	f.Fuzz(func(_ *testing.T, text []byte) {
		_, _ = testForm.Parse(shortened(string(text), 7, 12)) // no panic
	})
}
