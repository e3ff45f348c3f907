package suspect

import (
	"strconv"
	"testing"
)

// BenchmarkNote measures a note and its removal, next to a hundred others.
func BenchmarkNote(b *testing.B) {
	dir := b.TempDir()
	f := start(dir, boot)
	for i := range 100 {
		_, _ = f.Begin("/home/u/.claude/projects/p/" + strconv.Itoa(i) + ".jsonl")
	}
	for b.Loop() {
		end, _ := f.Begin("/home/u/.claude/projects/p/x.jsonl")
		end()
	}
}
