package transcript

import (
	"bufio"
	"ccbot/agent/history"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// longConversation is a transcript of 200 MB: prompts, calls of tools, their results, and answers.
// Only the first prompt has the words "Needle" and "Иголка".
func longConversation(t testing.TB) string {
	path := filepath.Join(t.TempDir(), "long.jsonl")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	out := bufio.NewWriterSize(file, 1<<20)
	at, size := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC), 0
	write := func(kind string, content any) {
		at = at.Add(time.Minute)
		line, err := json.Marshal(map[string]any{"parentUuid": "0", "isSidechain": false, "type": kind, "timestamp": at.Format(time.RFC3339Nano),
			"message": map[string]any{"role": kind, "content": content}, "uuid": fmt.Sprint(size)})
		require.NoError(t, err)
		n, err := out.Write(append(line, '\n'))
		require.NoError(t, err)
		size += n
	}
	write("user", "The Needle, иГОЛКА")
	file200, words := strings.Repeat("func main() { return nil } // Ниже идёт код\n", 120), strings.Repeat("The test waited for the wrong thing. ", 20)
	for size < 200<<20 {
		write("user", "Look at the tests again, and the ниже of it")
		for range 8 {
			write("assistant", []any{map[string]any{"type": "tool_use", "id": "t", "name": "Read", "input": map[string]any{"file_path": "main.go"}}})
			write("user", []any{map[string]any{"type": "tool_result", "tool_use_id": "t", "content": file200}})
		}
		write("assistant", []any{map[string]any{"type": "text", "text": words}})
	}
	require.NoError(t, out.Flush())
	return path
}

func BenchmarkHistory(b *testing.B) {
	path := longConversation(b)
	b.Run("the first page of 200 MB", func(b *testing.B) {
		for b.Loop() {
			n := 0
			require.NoError(b, Form().Older(b.Context(), path, history.End, func(history.Entry) bool { n++; return n < 8 }))
		}
	})
	for _, word := range []string{"needle", "иголка", "x"} {
		b.Run("the only hit, at the beginning of 200 MB: "+word, func(b *testing.B) {
			for b.Loop() {
				_, err := Form().Search(b.Context(), path, history.End, word, func(history.Found) bool { return false })
				require.NoError(b, err)
			}
		})
	}
	b.Run("all days of 200 MB", func(b *testing.B) {
		for b.Loop() {
			n := 0
			_, err := Form().Days(b.Context(), path, history.End, time.UTC, func(history.Day) bool { n++; return true })
			require.NoError(b, err)
			b.ReportMetric(float64(n), "days")
		}
	})
}
