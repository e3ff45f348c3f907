package transcript

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestReplyTo follows one turn among others.
func TestReplyTo(t *testing.T) {
	const (
		asked     = `{"type":"user","uuid":"u1","timestamp":"2026-05-04T03:02:02Z","message":{"role":"user","content":"fix it"}}`
		other     = `{"type":"user","uuid":"u2","timestamp":"2026-05-04T03:02:02Z","message":{"role":"user","content":"another one"}}`
		says      = `{"type":"assistant","uuid":"a1","timestamp":"2026-05-04T03:02:03Z","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"I look."}]}}`
		calls     = `{"type":"assistant","uuid":"a2","timestamp":"2026-05-04T03:02:04Z","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}`
		answers   = `{"type":"assistant","uuid":"a3","timestamp":"2026-05-04T03:02:05Z","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"**Done**"}],"stop_reason":"end_turn"}}`
		more      = `{"type":"assistant","uuid":"a4","timestamp":"2026-05-04T03:02:05Z","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"And more."}],"stop_reason":"end_turn"}}`
		aside     = `{"type":"assistant","uuid":"a5","isSidechain":true,"timestamp":"2026-05-04T03:02:05Z","message":{"id":"m3","role":"assistant","content":[{"type":"text","text":"of a subagent"}]}}`
		end       = `{"type":"system","subtype":"turn_duration","uuid":"s1","timestamp":"2026-05-04T03:02:06Z","durationMs":4000}`
		interrupt = `{"type":"user","uuid":"u3","timestamp":"2026-05-04T03:02:06Z","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user]"}]}}`
		refused   = `{"type":"assistant","uuid":"a6","isApiErrorMessage":true,"timestamp":"2026-05-04T03:02:06Z","message":{"id":"m4","role":"assistant","content":[{"type":"text","text":"API Error: 529 overloaded"}]}}`
	)
	tests := []struct {
		name    string
		lines   []string
		begun   bool
		over    Ending
		texts   []string
		failure string
	}{
		{"nothing yet", nil, false, Runs, nil, ""},
		{"the end of the turn before", []string{says, end}, false, Runs, nil, ""},
		{"the turn of another prompt", []string{other, answers, end}, false, Runs, nil, ""},
		{"at work", []string{asked, says}, true, Runs, []string{"I look."}, ""},
		{"what is said after the work", []string{asked, says, calls, answers, more, end}, true, EndedTurn, []string{"**Done**", "And more."}, ""},
		{"work at the end", []string{asked, says, calls, end}, true, EndedTurn, []string{"I look."}, ""},
		{"a subagent's words", []string{asked, aside, end}, true, EndedTurn, nil, ""},
		{"behind another turn", []string{other, answers, end, asked, more, end}, true, EndedTurn, []string{"And more."}, ""},
		{"only the first turn", []string{asked, answers, end, other, more}, true, EndedTurn, []string{"**Done**"}, ""},
		{"stopped", []string{asked, says, interrupt}, true, StoppedTurn, []string{"I look."}, ""},
		{"failed", []string{asked, refused}, true, FailedTurn, nil, "API Error: 529 overloaded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			before := `{"type":"user","uuid":"u0","timestamp":"2026-05-04T03:02:00Z","message":{"role":"user","content":"fix it"}}` + "\n"
			reply := ReplyTo(path, int64(len(before)), time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), "fix it")
			require.NoError(t, reply.Read(), "there is no file yet")
			data := before
			for _, line := range tt.lines {
				data += line + "\n"
				require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
				require.NoError(t, reply.Read(), "line by line")
			}
			assert.Equal(t, []any{tt.begun, tt.over, tt.texts, tt.failure}, []any{reply.Begun, reply.Over, reply.Texts, reply.Failure})
			require.NoError(t, reply.Close())
		})
	}
}
