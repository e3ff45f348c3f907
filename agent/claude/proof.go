package claude

import (
	"context"
	"strings"
	"time"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/port/talk"
)

// Proof is the agent.Proof of Claude Code.
type Proof struct{}

// Matches accepts the wrapper of a long paste as a part of the whole text.
func (Proof) Matches(submitted, sent string, whole bool) bool {
	if whole && !strings.Contains(submitted, "<pasted_content") {
		return transcript.Same(submitted, sent)
	}
	return transcript.Contains(submitted, sent)
}

// Trace reads also a line in which offset stands.
func (Proof) Trace(path string, offset int64, since time.Time, text string) (agent.Trace, error) {
	return transcript.TraceOf(path, offset, since, text)
}

// HasInterrupt looks for the line of an interrupt.
func (Proof) HasInterrupt(from talk.Cursor) bool { return transcript.ClaudeForm().HasInterrupt(from) }

// LastPrompt reads the file backwards.
func (Proof) LastPrompt(ctx context.Context, path string) string {
	return transcript.LastPrompt(ctx, path)
}

// Grew ignores the lines in which Claude Code keeps its own books.
func (Proof) Grew(path string, offset int64) (bool, error) { return transcript.Grew(path, offset) }
