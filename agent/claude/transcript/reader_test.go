package transcript

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

func prompt(text string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":%q}}`, text) + "\n"
}

func reply(id string, texts ...string) string {
	var blocks []string
	for _, text := range texts {
		blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%q}`, text))
	}
	return fmt.Sprintf(`{"type":"assistant","message":{"id":%q,"content":[%s],"usage":{"output_tokens":7}}}`,
		id, strings.Join(blocks, ",")) + "\n"
}

func write(t require.TestingT, path, content string) {
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func appendTo(t require.TestingT, path, content string) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	require.NoError(t, err)
	_, err = f.WriteString(content)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// drain reads what there is now.
func drain(t require.TestingT, r *jsonl.Reader) []jsonl.Item {
	var items []jsonl.Item
	for {
		item, ok, err := r.Next()
		require.NoError(t, err)
		if !ok {
			return items
		}
		items = append(items, item)
	}
}

func said(items []jsonl.Item) []string {
	var out []string
	for _, item := range items {
		out = append(out, item.Text)
	}
	return out
}

func TestP5_ReaderWaitsForWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	assert.Empty(t, drain(t, r), "no file yet")

	line := prompt("привет 👋")
	cut := strings.Index(line, "👋") + 2 // inside the emoji
	appendTo(t, path, prompt("one")+line[:cut])
	assert.Equal(t, []string{"one"}, said(drain(t, r)))
	assert.Empty(t, drain(t, r), "half a line waits")
	appendTo(t, path, line[cut:])
	assert.Equal(t, []string{"привет 👋"}, said(drain(t, r)))
	assert.Zero(t, r.Broken())
}

func TestReaderCountsAndPassesBrokenLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, "garbage\n"+prompt("one")+"\n\x00\x00\n{\"type\":\"user\"\n"+prompt("two"))
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	assert.Equal(t, []string{"one", "two"}, said(drain(t, r)))
	assert.Equal(t, 3, r.Broken(), "a blank line is none")
}

func TestReaderSkipsTooLongLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	long := reply("m", slices.Repeat([]string{"some words"}, 100_000)...)
	write(t, path, prompt("one")+long[:1<<20])
	r := Form().Open(talk.Cursor{Path: path})
	r.Limit = 2 << 20
	defer r.Close()
	assert.Equal(t, []string{"one"}, said(drain(t, r)))
	appendTo(t, path, long[1<<20:]+prompt("two"))
	items := drain(t, r)
	assert.Equal(t, []string{"", "two"}, said(items))
	assert.Equal(t, jsonl.TooLong, items[0].Kind)
	assert.Equal(t, 1, r.Broken())

	again := Form().Open(items[1].At)
	defer again.Close()
	assert.Equal(t, []string{"two"}, said(drain(t, again)), "offsets count what was skipped")
}

func TestReaderReadsLinesOfManyBuffers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	text := strings.Repeat("é", 2<<20)
	write(t, path, prompt(text)+prompt("two"))
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	items := drain(t, r)
	require.Len(t, items, 2)
	assert.Equal(t, text, items[0].Whole())
}

func TestP5_CursorInsideALine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	first := reply("m1", "a", "b", "c")
	write(t, path, first+prompt("x"))
	tests := []struct {
		name   string
		cursor talk.Cursor
		want   []string
		part   int
	}{
		{"start", talk.Cursor{}, []string{"a", "b", "c", "x"}, 0},
		{"second block", talk.Cursor{Block: 1}, []string{"b", "c", "x"}, 0},
		{"third part of the second block", talk.Cursor{Block: 1, Part: 2}, []string{"b", "c", "x"}, 2},
		{"behind the last block", talk.Cursor{Block: 3}, []string{"x"}, 0},
		{"far behind", talk.Cursor{Block: 99, Part: 1}, []string{"x"}, 0},
		{"second line", talk.Cursor{Offset: int64(len(first))}, []string{"x"}, 0},
		{"end", talk.Cursor{Offset: int64(len(first) + len(prompt("x")))}, nil, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			tc.cursor.Path = path
			r := Form().Open(tc.cursor)
			defer r.Close()
			items := drain(t, r)
			assert.Equal(t, tc.want, said(items))
			for i, item := range items {
				if i == 0 {
					assert.Equal(t, tc.part, item.At.Part)
				} else {
					assert.Zero(t, item.At.Part)
				}
			}
		})
	}
}

func TestReaderTellsAnotherFile(t *testing.T) {
	one := prompt("one")
	tests := []struct {
		name   string
		cursor int64
		then   func(t *testing.T, path string)
	}{
		{"shorter than the cursor", int64(len(one)) + 5, nil},
		{"no line at the cursor", 5, nil},
		{"truncated while reading", 0, func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 3)) }},
		{"emptied while reading", 0, func(t *testing.T, path string) { write(t, path, "") }},
		{"replaced while reading", 0, func(t *testing.T, path string) {
			write(t, path+".new", one+one)
			require.NoError(t, os.Rename(path+".new", path))
		}},
		{"removed and made again while reading", 0, func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			write(t, path, one+one)
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			write(t, path, one)
			r := Form().Open(talk.Cursor{Path: path, Offset: tc.cursor})
			defer r.Close()
			if tc.then != nil {
				assert.Equal(t, []string{"one"}, said(drain(t, r)))
				tc.then(t, path)
			}
			_, ok, err := r.Next()
			assert.False(t, ok)
			assert.ErrorIs(t, err, history.ErrTruncated)
		})
	}
}

func TestReaderEndsWithRemovedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s.jsonl")
	write(t, path, prompt("one"))
	r := Form().Open(talk.Cursor{Path: path})
	drain(t, r)
	require.NoError(t, os.Remove(path))
	assert.Empty(t, drain(t, r))
	require.NoError(t, r.Close())
	_, _, err := r.Next()
	assert.ErrorIs(t, err, fs.ErrClosed)
}

func TestReaderRefusesWhatIsNoFile(t *testing.T) {
	r := Form().Open(talk.Cursor{Path: t.TempDir()})
	defer r.Close()
	_, _, err := r.Next()
	assert.ErrorContains(t, err, "not a regular file")
}

// Whatever way the bytes arrive, and wherever a reader is opened again, nothing is lost and nothing
// comes twice.
func TestP5_LinesAreReadExactlyOnce(t *testing.T) {
	dir := t.TempDir()
	text := rapid.StringN(1, 20, -1)
	n := 0
	rapid.Check(t, func(t *rapid.T) {
		var file bytes.Buffer
		for i := range rapid.IntRange(1, 8).Draw(t, "lines") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				file.WriteString(`{"type":"mode","mode":"normal"}` + "\n")
			case 1:
				file.WriteString("broken\n")
			case 2:
				file.WriteString(reply(fmt.Sprint("m", i), "a"+text.Draw(t, "a"), "b", "c"))
			case 3:
				file.WriteString(prompt("p" + text.Draw(t, "p")))
			}
		}
		n++
		whole := filepath.Join(dir, fmt.Sprint(n, "-whole"))
		write(t, whole, file.String())
		r := Form().Open(talk.Cursor{Path: whole})
		defer r.Close()
		want := drain(t, r)

		torn := filepath.Join(dir, fmt.Sprint(n, "-torn"))
		tr := Form().Open(talk.Cursor{Path: torn})
		defer tr.Close()
		var got []jsonl.Item
		for file.Len() > 0 {
			appendTo(t, torn, string(file.Next(rapid.IntRange(1, 200).Draw(t, "bytes"))))
			got = append(got, drain(t, tr)...)
		}
		require.Equal(t, said(want), said(got))
		require.Equal(t, r.Broken(), tr.Broken())

		for i, item := range want {
			next := Form().Open(item.Next)
			require.Equal(t, said(want[i+1:]), said(drain(t, next)))
			require.NoError(t, next.Close())
		}
	})
}

// BenchmarkReader reads a transcript of about 100 MB as Claude Code 2.1.328 writes them: few words,
// many copies of requests, some images.
func BenchmarkReader(b *testing.B) {
	path := filepath.Join(b.TempDir(), "s.jsonl")
	words := strings.Repeat("some words of an answer ", 60)
	turn := prompt("do it") +
		`{"parentUuid":"x","attachment":{"type":"prompt_snapshot","systemPrompt":["` + strings.Repeat("sys ", 4000) + `"]},"type":"attachment","uuid":"u"}` + "\n" +
		`{"type":"api-request-blob","hash":"h","message":{"role":"user","content":"` + strings.Repeat("blob ", 8000) + `"}}` + "\n" +
		reply("m1", words) + reply("m1", words) +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"` + strings.Repeat(`line\n`, 3000) + `"}]}]}}` + "\n" +
		`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"media_type":"image/png","data":"` + strings.Repeat("QUJD", 8000) + `"}}]}]}}` + "\n" +
		`{"type":"system","subtype":"turn_duration","durationMs":260}` + "\n"
	turns := 100 << 20 / len(turn)
	write(b, path, strings.Repeat(turn, turns))
	b.SetBytes(int64(turns * len(turn)))
	b.ReportAllocs()
	for b.Loop() {
		r := Form().Open(talk.Cursor{Path: path})
		require.Len(b, drain(b, r), turns*6)
		require.NoError(b, r.Close())
	}
}
