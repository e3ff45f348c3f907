package transcript

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
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
		command   = `{"type":"user","uuid":"u4","timestamp":"2026-05-04T03:02:04Z","message":{"role":"user","content":"<command-name>/cost</command-name>"}}`
		bash      = `{"type":"user","uuid":"u5","timestamp":"2026-05-04T03:02:04Z","message":{"role":"user","content":"<bash-input>ls</bash-input>"}}`
		output    = `{"type":"user","uuid":"u6","timestamp":"2026-05-04T03:02:04Z","message":{"role":"user","content":"<local-command-stdout>$2</local-command-stdout>"}}`
		listed    = `{"type":"user","uuid":"u7","timestamp":"2026-05-04T03:02:04Z","message":{"role":"user","content":"<bash-stdout>go.mod</bash-stdout>"}}`
		unknown   = `{"type":"system","subtype":"informational","uuid":"s2","timestamp":"2026-05-04T03:02:04Z","content":"Unknown command: /x"}`
		atLimit   = `{"type":"assistant","uuid":"a7","isApiErrorMessage":true,"error":"rate_limit","quotaLimits":{"resetsAt":1795296211},"timestamp":"2026-05-04T03:02:06Z","message":{"id":"m5","role":"assistant","content":[{"type":"text","text":"You've hit your 5-hour limit · resets 9pm (UTC)"}]}}`
		continues = `{"type":"user","uuid":"u8","isMeta":true,"origin":{"kind":"auto-continuation"},"timestamp":"2026-05-04T05:02:06Z","message":{"role":"user","content":"Continue."}}`
		mended    = `{"type":"assistant","uuid":"a8","isApiErrorMessage":true,"timestamp":"2026-05-04T03:02:04Z","message":{"id":"m6","role":"assistant","stop_reason":"tool_use","content":[{"type":"text","text":"API Error: an image was removed."}]}}`
		refused   = `{"type":"assistant","uuid":"a6","isApiErrorMessage":true,"timestamp":"2026-05-04T03:02:06Z","message":{"id":"m4","role":"assistant","content":[{"type":"text","text":"API Error: 529 overloaded"}]}}`
	)
	tests := []struct {
		name    string
		lines   []string
		begun   bool
		over    talk.Ending
		texts   []string
		failure string
	}{
		{"nothing yet", nil, false, jsonl.Runs, nil, ""},
		{"the end of the turn before", []string{says, end}, false, jsonl.Runs, nil, ""},
		{"the turn of another prompt", []string{other, answers, end}, false, jsonl.Runs, nil, ""},
		{"at work", []string{asked, says}, true, jsonl.Runs, []string{"I look."}, ""},
		{"what is said after the work", []string{asked, says, calls, answers, more, end}, true, talk.EndedTurn, []string{"**Done**", "And more."}, ""},
		{"work at the end", []string{asked, says, calls, end}, true, talk.EndedTurn, []string{"I look."}, ""},
		{"a subagent's words", []string{asked, aside, end}, true, talk.EndedTurn, nil, ""},
		{"behind another turn", []string{other, answers, end, asked, more, end}, true, talk.EndedTurn, []string{"And more."}, ""},
		{"only the first turn", []string{asked, answers, end, other, more}, true, talk.EndedTurn, []string{"**Done**"}, ""},
		{"stopped", []string{asked, says, interrupt}, true, talk.StoppedTurn, []string{"I look."}, ""},
		{"what commands of the terminal print meanwhile", []string{asked, command, output, bash, listed, unknown, answers, end}, true, talk.EndedTurn, []string{"**Done**"}, ""},
		{"an error that Claude Code has mended", []string{asked, mended}, true, jsonl.Runs, []string{"API Error: an image was removed."}, ""},
		{"failed", []string{asked, refused}, true, talk.FailedTurn, nil, "API Error: 529 overloaded"},
		{"at a limit", []string{asked, atLimit, continues}, true, talk.FailedTurn, nil, "You've hit your 5-hour limit · resets 9pm (UTC)"},
		{"continued by Claude Code after a limit", []string{asked, calls, atLimit, continues, says}, true, jsonl.Runs, []string{"I look."}, ""},
		{"continued after a limit to its end", []string{asked, says, calls, atLimit, continues, answers, end}, true, talk.EndedTurn, []string{"**Done**"}, ""},
		{"a person's turn after a limit", []string{asked, atLimit, other, answers, end}, true, talk.FailedTurn, nil, "You've hit your 5-hour limit · resets 9pm (UTC)"},
		{"no answer after another failure", []string{asked, refused, continues, answers, end}, true, talk.FailedTurn, nil, "API Error: 529 overloaded"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			before := `{"type":"user","uuid":"u0","timestamp":"2026-05-04T03:02:00Z","message":{"role":"user","content":"fix it"}}` + "\n"
			reply := Form().ReplyTo(path, int64(len(before)), time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), "fix it")
			_, err := reply.Read()
			require.NoError(t, err, "there is no file yet")
			data := before
			for _, line := range tt.lines {
				data += line + "\n"
				require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
				_, err := reply.Read()
				require.NoError(t, err, "line by line")
				require.NoError(t, reply.Close(), "a later read opens it again")
			}
			assert.Equal(t, []any{tt.begun, tt.over, tt.texts, tt.failure}, []any{reply.Begun, reply.Ending, reply.Texts, reply.Failure.Text})
			require.NoError(t, reply.Close())
		})
	}
}

// A command is answered by its own output, and by no other command's.
func TestReplyToACommand(t *testing.T) {
	const at = `"timestamp":"2026-05-04T03:02:04Z",`
	user := func(text string) string {
		return `{"type":"user",` + at + `"message":{"role":"user","content":"` + text + `"}}`
	}
	cost, compact := user("<command-name>/cost</command-name>"), user("<command-name>/compact</command-name>")
	output, bash := user("<local-command-stdout>$2</local-command-stdout>"), user("<bash-input>ls</bash-input>")
	listed := user("<bash-stdout>go.mod</bash-stdout>")
	tests := []struct {
		name, text string
		lines      []string
		over       talk.Ending
		texts      []string
	}{
		{"its output", "/cost", []string{cost, output}, talk.EndedTurn, []string{"$2"}},
		{"another one's", "/compact", []string{compact, cost, output}, jsonl.Runs, nil},
		{"its output, after another one's", "/compact", []string{compact, bash, listed, compact, output}, talk.EndedTurn, []string{"$2"}},
		{"of the shell", "!ls", []string{bash, listed}, talk.EndedTurn, []string{"go.mod"}},
		{"that prints nothing", "/mobile", []string{user("<command-name>/mobile</command-name>"), user("<local-command-stdout>(no content)</local-command-stdout>")}, talk.EndedTurn, nil},
		{"by a notice", "/voice", []string{`{"type":"system","subtype":"informational","level":"warning",` + at + `"content":"/voice needs a Claude subscription."}`},
			talk.EndedTurn, []string{"/voice needs a Claude subscription."}},
		{"no command of the shell's", "!ls", []string{bash, cost, output}, jsonl.Runs, nil},
		{"not known", "/x", []string{`{"type":"system","subtype":"informational",` + at + `"content":"Unknown command: /x"}`}, talk.EndedTurn, []string{"Unknown command: /x"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "x.jsonl")
			require.NoError(t, os.WriteFile(path, []byte(strings.Join(tt.lines, "\n")+"\n"), 0o600))
			reply := Form().ReplyTo(path, 0, time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC), tt.text)
			_, err := reply.Read()
			require.NoError(t, err)
			assert.Equal(t, []any{true, tt.over, tt.texts}, []any{reply.Begun, reply.Ending, reply.Texts})
			require.NoError(t, reply.Close())
		})
	}
}
