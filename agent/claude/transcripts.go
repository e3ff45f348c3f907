package claude

import (
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/history"
	"ccbot/port/talk"
)

// Transcripts is the agent.Transcripts, agent.Replies and agent.Keeper of Claude Code, and
// implements package history for it.
type Transcripts struct {
	Projects string // the folder <config>/projects
}

// Find finds <projects>/*/<id>.jsonl, also after a folder was moved.
func (t Transcripts) Find(conversation uuid.UUID) (string, error) {
	return transcript.Find(t.Projects, conversation)
}

// End opens the file for a moment.
func (Transcripts) End(path string) (talk.Cursor, error) { return transcript.End(path) }

// Own accepts <id>.jsonl in a folder of projects.
func (t Transcripts) Own(path string, conversation uuid.UUID) string {
	return transcript.Own(t.Projects, path, conversation)
}

// Sibling names the file <id>.jsonl.
func (Transcripts) Sibling(path string, conversation uuid.UUID) string {
	return filepath.Join(filepath.Dir(path), conversation.String()+suffix)
}

// Unsaid takes an unreadable file as one that may hold a text.
func (Transcripts) Unsaid(c talk.Cursor, before int64) bool { return transcript.Unsaid(c, before) }

// Reply finds the text as Proof.Trace does: mark may stand inside a line. The file is open only
// during a read.
func (Transcripts) Reply(mark talk.Cursor, since time.Time, text string) func() (talk.Reply, error) {
	return transcript.ClaudeForm().FollowReply(mark, since, text)
}

// HasOthers counts a repetition of the text as another prompt.
func (Transcripts) HasOthers(mark talk.Cursor, since time.Time, text string) (bool, error) {
	return transcript.ClaudeForm().HasOthers(mark, since, text)
}

// Advance reads the new lines of the file.
func (Transcripts) Advance(p history.Progress, path string) (history.Progress, error) {
	return transcript.Advance(p, path)
}

// Check reads the end of the file that holds the most of the conversation.
func (t Transcripts) Check(conversation uuid.UUID) (agent.Health, error) {
	return transcript.Check(t.Projects, conversation)
}

// Repair writes the copy next to the damaged file.
func (Transcripts) Repair(h agent.Health, conversation, as uuid.UUID) (string, error) {
	return transcript.Repair(h, conversation, as)
}
