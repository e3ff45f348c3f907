package claude

import (
	"path/filepath"

	"github.com/google/uuid"

	"ccbot/agent"
	"ccbot/agent/claude/transcript"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
)

// Transcripts is the agent.Transcripts, agent.Replies, agent.Proof and agent.Keeper of Claude Code,
// and implements package history for it.
type Transcripts struct {
	*jsonl.Form
	Projects string // the folder <config>/projects
}

// NewTranscripts returns the transcripts in a folder of projects.
func NewTranscripts(projects string) Transcripts { return Transcripts{transcript.Form(), projects} }

// Find finds <projects>/*/<id>.jsonl, also after a folder was moved.
func (t Transcripts) Find(conversation uuid.UUID) (string, error) {
	return transcript.Find(t.Projects, conversation)
}

// All finds every <projects>/*/<id>.jsonl.
func (t Transcripts) All(conversation uuid.UUID) ([]string, error) {
	return transcript.All(t.Projects, conversation)
}

// Own accepts <id>.jsonl in a folder of projects.
func (t Transcripts) Own(path string, conversation uuid.UUID) string {
	return transcript.Own(t.Projects, path, conversation)
}

// Sibling names the file <id>.jsonl.
func (Transcripts) Sibling(path string, conversation uuid.UUID) string {
	return filepath.Join(filepath.Dir(path), conversation.String()+suffix)
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
