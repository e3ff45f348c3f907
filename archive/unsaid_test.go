package archive

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/internal/session"
	"ccbot/port/talk"
)

var agents = agent.Agents{agent.Default: claude.New("", agent.Launch{}, nil)}

func cursors(path string, offset int) []talk.Cursor {
	return []talk.Cursor{{Path: path, Offset: int64(offset)}}
}

func TestUnsaid(t *testing.T) {
	const (
		prompt    = `{"type":"user","message":{"role":"user","content":"hello"}}` + "\n"
		tool      = `{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{}}]}}` + "\n"
		sidechain = `{"type":"assistant","isSidechain":true,"message":{"id":"m","content":[{"type":"text","text":"sub"}]}}` + "\n"
		blank     = `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":" \n"}]}}` + "\n"
		turnEnd   = `{"type":"system","subtype":"turn_duration","durationMs":5}` + "\n"
		interrupt = `{"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
	)
	tests := []struct {
		name    string
		content string
		offset  int
		want    bool
	}{
		{"nothing behind the cursor", line, len(line), false},
		{"an answer", line, 0, true},
		{"an answer behind others", prompt + tool + turnEnd + line, 0, true},
		{"an interruption", interrupt, 0, true},
		{"what the chat does not show", prompt + tool + sidechain + blank + turnEnd + "{broken\n", 0, false},
		{"half a line", line[:len(line)-1], 0, false},
		{"empty", "", 0, false},
		{"another file than the one that was read", line, 3, true},
		{"shorter than what was read", line, 1 << 20, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "t.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(tt.content), 0o600))
			assert.Equal(t, tt.want, unsaid(agents, session.Record{Cursors: cursors(path, tt.offset)}))
		})
	}
	folder := t.TempDir()
	path := filepath.Join(folder, "t.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(line), 0o600))
	end, absent := cursors(path, len(line)), cursors(filepath.Join(folder, "absent"), 9)
	assert.False(t, unsaid(agents, session.Record{}), "never had a transcript")
	assert.False(t, unsaid(agents, session.Record{Cursors: absent}), "Claude Code has removed it")
	assert.True(t, unsaid(agents, session.Record{Cursors: cursors(folder, 0)}), "cannot be read")
	assert.True(t, unsaid(agents, session.Record{Cursors: append(absent, cursors(path, 0)...)}), "the second one")
	assert.False(t, unsaid(agents, session.Record{Cursors: append(absent, end...)}))
}
