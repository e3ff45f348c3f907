package transcript

import (
	"bytes"
	"encoding/base64"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

// resultWith is a line with the result of a tool that has images.
func resultWith(images ...string) string {
	for i, data := range images {
		images[i] = `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + data + `"}}`
	}
	return `{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[` + strings.Join(images, ",") + "]}]}}\n"
}

// wrote writes a transcript and returns its path.
func wrote(t *testing.T, lines ...string) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(strings.Join(lines, "")), 0o600))
	return path
}

func TestImagesAreReadFromTheFile(t *testing.T) {
	var want [][]byte
	var data []string
	for _, size := range []int{1, 2, 3, 100, 3 << 10, 3<<10 + 1, 200_000} {
		want = append(want, bytes.Repeat([]byte{0xff, 0x00, 0x7e, 0x81, 0x10}, size)[:size])
		data = append(data, base64.StdEncoding.EncodeToString(want[len(want)-1]))
	}
	path := wrote(t, `{"type":"user","message":{"content":"first"}}`+"\n", resultWith(data...))
	var images []jsonl.Item
	require.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(item jsonl.Item) bool { images = append(images, item); return true }))
	require.Len(t, images, 2)
	require.Len(t, images[1].Images, len(want))
	for i, image := range images[1].Images {
		p, err := jsonl.OpenImage(images[1].At, image)
		require.NoError(t, err)
		require.Equal(t, int64(len(want[i])), p.Size)
		require.NoError(t, iotest.TestReader(io.NewSectionReader(p, 0, p.Size), want[i]))
		require.NoError(t, p.Close())
	}
}

func TestWithoutImagesChangesNothingElse(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"no image", `{"type":"user","data":"QUJD"}`, ""},
		{"no base64", `{"source":{"type":"base64","data":"%%%"}}`, ""},
		{"padding inside", `{"source":{"type":"base64","data":"QQ==QUJD"}}`, ""},
		{"the words of a person", `{"type":"user","message":{"content":"{\"type\":\"base64\",\"data\":\"QUJD\"}"}}`, ""},
		{"not closed", `{"type":"base64","data":"QUJD`, ""},
		{"the type comes last", `{"source":{"data":"QUJD","media_type":"image/png"}}`, `{"source":{"data":"19:4","media_type":"image/png"}}`},
		{"the type comes first", `{"source":{"type":"base64","data":"QUJD"}}`, `{"source":{"type":"base64","data":"35:4"}}`},
		{"two", `[{"type":"base64","data":"QUJD"},{"type":"base64","data":"QUI="}]`,
			`[{"type":"base64","data":"26:4"},{"type":"base64","data":"58:4"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.want == "" {
				tt.want = tt.line
			}
			short, _ := withoutImages(jsonl.Line{Text: []byte(tt.line)})
			assert.Equal(t, tt.want, string(short))
		})
	}
}

// TestP5_ForgedPlaceIsNoImage: the result of a tool holds any text that its server sends, also the
// form in which withoutImages leaves an image. If OpenImage failed there again and again, the
// answers after it would never come.
func TestP5_ForgedPlaceIsNoImage(t *testing.T) {
	for _, data := range []string{"0:400", "9223372036854775800:8", "-5:400", `0:4\u00300`} {
		path := wrote(t, resultWith("QUJDREVG", data))
		var item jsonl.Item
		require.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(i jsonl.Item) bool { item = i; return true }))
		require.Len(t, item.Images, 2, data)
		assert.Equal(t, int64(8), item.Images[0].Length)
		assert.Equal(t, talk.Image{MediaType: "image/png"}, item.Images[1], data)
	}
}

func TestImageThatIsGone(t *testing.T) {
	path := wrote(t, resultWith("QUJDREVG"))
	var item jsonl.Item
	require.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(i jsonl.Item) bool { item = i; return true }))
	require.NoError(t, os.Truncate(path, 100))
	_, err := jsonl.OpenImage(item.At, item.Images[0])
	require.ErrorIs(t, err, fs.ErrInvalid)
	require.NoError(t, os.Remove(path))
	_, err = jsonl.OpenImage(item.At, item.Images[0])
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = jsonl.OpenImage(item.At, talk.Image{})
	require.ErrorIs(t, err, fs.ErrInvalid)
}

// TestLongLinesShareMemory reads long lines of several sessions at once. Together they may take the
// memory of one line and of what is made from it; afterwards the memory is the system's again.
func TestLongLinesShareMemory(t *testing.T) {
	const size, readers = 24 << 20, 6
	path := wrote(t, resultWith(strings.Repeat("A", size)))
	debug.FreeOSMemory()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var all sync.WaitGroup
	for range readers {
		all.Go(func() {
			assert.NoError(t, Form().Each(talk.Cursor{Path: path}, false, func(item jsonl.Item) bool {
				return assert.Len(t, item.Images, 1)
			}))
		})
	}
	all.Wait()
	runtime.ReadMemStats(&after)
	assert.Less(t, after.HeapInuse, before.HeapInuse+size/2, "no line is kept")
	assert.Less(t, after.HeapSys-after.HeapReleased, before.HeapSys-before.HeapReleased+size, "the memory is given back")
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(readers*size*5/2), "a line is held once, and its images are not copied")
}

// TestHalfLongLineIsNotKept: until its end is written, a long line takes no memory, and no other
// reader waits for it.
func TestHalfLongLineIsNotKept(t *testing.T) {
	line := resultWith(strings.Repeat("A", 4<<20))
	path := wrote(t, line[:len(line)-100])
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	for range 3 {
		_, ok, err := r.Next()
		require.NoError(t, err)
		assert.False(t, ok)
	}
	other := wrote(t, resultWith(strings.Repeat("A", 2<<20)))
	n := 0
	require.NoError(t, Form().Each(talk.Cursor{Path: other}, false, func(jsonl.Item) bool { n++; return true }))
	assert.Equal(t, 1, n)

	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = file.WriteString(line[len(line)-100:])
	require.NoError(t, err)
	require.NoError(t, file.Close())
	item, ok, err := r.Next()
	require.NoError(t, err)
	require.True(t, ok)
	assert.Len(t, item.Images, 1)
}

// TestP5_TooLongLineIsReported: an item replaces a line that does not fit in memory.
func TestP5_TooLongLineIsReported(t *testing.T) {
	long := reply("m", slices.Repeat([]string{"some words"}, 200_000)...)
	path := wrote(t, reply("m", "before"), long, reply("m", "after"))
	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	r.Limit = 2 << 20
	var kinds []talk.Kind
	for {
		item, ok, err := r.Next()
		require.NoError(t, err)
		if !ok {
			break
		}
		if kinds = append(kinds, item.Kind); item.Kind == jsonl.TooLong {
			assert.Equal(t, int64(len(long)), item.Size)
			assert.Equal(t, item.Next.Offset, item.At.Offset+item.Size)
			words, err := jsonl.OpenWords(item.At, *item.Rest)
			require.NoError(t, err)
			assert.Equal(t, long, readAll(t, words))
		}
	}
	assert.Equal(t, []talk.Kind{jsonl.Text, jsonl.TooLong, jsonl.Text}, kinds)
}
