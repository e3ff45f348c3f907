package claude

import (
	"log/slog"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/internal/watch"
	"ccbot/port/talk"
)

// Follow watches the folder of the transcript only after a call has waited.
func (Transcripts) Follow(from talk.Cursor, folders *watch.Watcher, log *slog.Logger) agent.Items {
	return transcript.ClaudeForm().Items(from, folders, log)
}
