package claude

import (
	"strings"

	"ccbot/agent/claude/transcript"
	"ccbot/agent/jsonl"
)

// Matches accepts the wrapper of a long paste as a part of the whole text.
func (Transcripts) Matches(submitted, sent string, whole bool) bool {
	if whole && !strings.Contains(submitted, "<pasted_content") {
		return jsonl.Same(submitted, sent)
	}
	return jsonl.Contains(submitted, sent)
}

// Grew ignores the lines in which Claude Code keeps its own books.
func (Transcripts) Grew(path string, offset int64) (bool, error) {
	return transcript.Grew(path, offset)
}
