package transcript

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/jsonl"
	"ccbot/port/talk"
)

const stamp = `"uuid":"u1","timestamp":"2026-11-20T06:17:24.214Z","sessionId":"s1",`

func TestParseLine(t *testing.T) {
	at := time.Date(2026, 11, 20, 6, 17, 24, 214e6, time.UTC)
	common := func(item jsonl.Item) jsonl.Item {
		item.UUID, item.Time = "u1", at
		return item
	}
	tests := []struct {
		name string
		line string
		want []jsonl.Item
	}{
		{"prompt", `{"parentUuid":null,` + stamp + `"type":"user","message":{"role":"user","content":"say from inline"},"origin":{"kind":"human"},"promptSource":"typed"}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "say from inline"}}},
		{"prompt of an older version", `{` + stamp + `"type":"user","message":{"content":"hi"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "hi"}}},
		{"prompt as blocks, with an image", `{` + stamp + `"type":"user","message":{"content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}]}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "look"}, {Kind: jsonl.UserPrompt, Images: []talk.Image{{MediaType: "image/png", Offset: 210, Length: 4}}}}},
		{"a long paste", `{` + stamp + `"type":"user","message":{"content":"see this:\n\n<pasted_content id=\"ab8c\">\none\ntwo\n</pasted_content id=\"ab8c\">\n"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "see this:\n\none\ntwo"}}},
		{"prompt with a reminder", `{` + stamp + `"type":"user","message":{"content":"fix it\n<system-reminder>\nnoise\n</system-reminder>\n"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "fix it"}}},
		{"a person's own mark", `{` + stamp + `"type":"user","message":{"content":"see <\\pasted_content id"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "see <\\pasted_content id"}}},
		{"prompt of a subagent", `{` + stamp + `"isSidechain":true,"type":"user","message":{"content":"dig"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "dig", Sidechain: true}}},
		{"a person quotes an interrupt", `{` + stamp + `"type":"user","origin":{"kind":"human"},"message":{"content":"[Request interrupted by user] what is that?"}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "[Request interrupted by user] what is that?"}}},
		{"interrupt", `{` + stamp + `"type":"user","message":{"role":"user","content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`,
			[]jsonl.Item{{Kind: jsonl.Interrupt, Text: "[Request interrupted by user for tool use]"}}},
		{"injected", `{` + stamp + `"type":"user","isMeta":true,"message":{"content":"<local-command-caveat>The command below"}}`,
			[]jsonl.Item{{Kind: jsonl.Other, Meta: true, Text: "<local-command-caveat>The command below"}}},
		{"not of a person", `{` + stamp + `"type":"user","origin":{"kind":"task-notification"},"message":{"content":"agent done"}}`,
			[]jsonl.Item{{Kind: jsonl.Other, Meta: true, Text: "agent done"}}},
		{"a plan in a new conversation", `{` + stamp + `"type":"user","origin":{"kind":"auto-continuation"},"planContent":"# Plan","message":{"content":"Implement the following plan:\n\n# Plan"}}`,
			[]jsonl.Item{{Kind: jsonl.PlanBegun, Text: "Implement the following plan:\n\n# Plan"}}},
		{"compact summary", `{` + stamp + `"type":"user","isCompactSummary":true,"message":{"content":"This session is being continued"}}`,
			[]jsonl.Item{{Kind: jsonl.Other, Meta: true, Text: "This session is being continued"}}},
		{"slash command", `{` + stamp + `"type":"user","message":{"content":"<command-name>/compact</command-name>\n            <command-message>compact</command-message>\n            <command-args>keep it short</command-args>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalCommand, Command: "/compact", Text: "/compact keep it short"}}},
		{"slash command, message first", `{` + stamp + `"type":"user","message":{"content":"<command-message>go</command-message>\n<command-name>/go</command-name>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalCommand, Command: "/go", Text: "/go"}}},
		{"command output", `{` + stamp + `"type":"user","message":{"content":"<local-command-stdout>Compacted</local-command-stdout>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "Compacted"}}},
		{"command that printed nothing", `{` + stamp + `"type":"system","subtype":"local_command","content":"<local-command-stdout></local-command-stdout>","commandRun":{"command":"clear","args":""}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Command: "/clear"}}},
		{"bash mode", `{` + stamp + `"type":"user","message":{"content":"<bash-input>touch x</bash-input>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalCommand, Command: "!", Text: "!touch x"}}},
		{"bash mode output", `{` + stamp + `"type":"user","message":{"content":"<bash-stdout>a</bash-stdout>\n<bash-stderr>b</bash-stderr>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Command: "!", Text: "a\nb"}}},
		{"bash mode, quiet", `{` + stamp + `"type":"user","message":{"content":"<bash-stdout>(Bash completed with no output)</bash-stdout><bash-stderr></bash-stderr>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Command: "!", Text: "(Bash completed with no output)"}}},
		{"the end of a turn", `{` + stamp + `"type":"assistant","message":{"stop_reason":"end_turn","content":[{"type":"text","text":"Done."}]}}`,
			[]jsonl.Item{{Kind: jsonl.Text, Text: "Done.", Last: true}}},
		{"between two calls", `{` + stamp + `"type":"assistant","message":{"stop_reason":"tool_use","content":[{"type":"text","text":"I look."}]}}`,
			[]jsonl.Item{{Kind: jsonl.Text, Text: "I look."}}},
		{"a line of an earlier version, which does not say", `{` + stamp + `"type":"assistant","message":{"stop_reason":null,"content":[{"type":"text","text":"Hm."}]}}`,
			[]jsonl.Item{{Kind: jsonl.Text, Text: "Hm.", Last: true}}},
		{"tool result", `{` + stamp + `"type":"user","toolUseResult":{"x":1},"message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"out"}]}}`,
			[]jsonl.Item{{Kind: jsonl.ToolResult, Text: "out", Tool: &jsonl.Tool{ID: "t1"}}}},
		{"a hook's decision", `{` + stamp + `"type":"attachment","attachment":{"type":"hook_permission_decision","decision":"deny","toolUseID":"t1","hookEvent":"PermissionRequest"}}`,
			[]jsonl.Item{{Kind: jsonl.PermissionDecision, Text: "deny", Tool: &jsonl.Tool{ID: "t1"}}}},
		{"another attachment", `{` + stamp + `"type":"attachment","attachment":{"type":"date","date":"2026-11-20"}}`, nil},
		{"tool rejected", `{` + stamp + `"type":"user","toolDenialKind":"user-rejected","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":true,"content":"no"}]}}`,
			[]jsonl.Item{{Kind: jsonl.ToolResult, Text: "no", Tool: &jsonl.Tool{ID: "t1", IsError: true, Denial: "user-rejected"}}}},
		{"tool result with an image", `{` + stamp + `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":[{"type":"text","text":"a"},{"type":"image","source":{"type":"base64","media_type":"image/jpeg","data":"/9j="}},{"type":"text","text":"b"}]}]}}`,
			[]jsonl.Item{{Kind: jsonl.ToolResult, Text: "a\nb", Tool: &jsonl.Tool{ID: "t1"}, Images: []talk.Image{{MediaType: "image/jpeg", Offset: 260, Length: 4}}}}},
		{"two tool results", `{` + stamp + `"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"},{"type":"tool_result","tool_use_id":"t2"}]}}`,
			[]jsonl.Item{{Kind: jsonl.ToolResult, Tool: &jsonl.Tool{ID: "t1"}}, {Kind: jsonl.ToolResult, Tool: &jsonl.Tool{ID: "t2"}}}},
		{"assistant", `{` + stamp + `"type":"assistant","message":{"id":"m1","model":"opus","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"hello"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":10,"cache_creation_input_tokens":2,"cache_read_input_tokens":3,"output_tokens":4}}}`,
			[]jsonl.Item{
				{Kind: jsonl.Thinking, Text: "hm", MessageID: "m1"},
				{Kind: jsonl.Text, Text: "hello", MessageID: "m1", Last: true},
				{Kind: jsonl.ToolUse, MessageID: "m1", Tool: &jsonl.Tool{Name: "Bash", ID: "t1", Input: json.RawMessage(`{"command":"ls"}`)}},
			}},
		{"blank assistant text", `{` + stamp + `"type":"assistant","message":{"id":"m1","content":[{"type":"text","text":"\n"},{"type":"redacted_thinking","data":"x"}]}}`, nil},
		{"api error", `{` + stamp + `"type":"assistant","isApiErrorMessage":true,"error":"unknown","message":{"id":"m1","model":"<synthetic>","content":[{"type":"text","text":"API Error: 400"}]}}`,
			[]jsonl.Item{{Kind: jsonl.APIError, Text: "API Error: 400", MessageID: "m1", Failure: talk.Failure{Kind: talk.FailedRequest, Text: "API Error: 400"}}}},
		{"unknown command with a proposal", `{` + stamp + `"type":"system","subtype":"informational","content":"Unknown command: /bg. Did you mean /bug?"}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "Unknown command: /bg. Did you mean /bug?", Command: "/bg", Off: true}}},
		{"unknown command", `{` + stamp + `"type":"system","subtype":"informational","content":"Unknown command: /nope"}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "Unknown command: /nope", Command: "/nope"}}},
		{"unknown command in 2.1.128", `{` + stamp + `"promptId":"p","type":"user","message":{"role":"user","content":"Unknown command: /bg"},"version":"2.1.128"}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "Unknown command: /bg", Command: "/bg", Off: true}}},
		{"the same words of a person", `{` + stamp + `"promptId":"p","type":"user","message":{"role":"user","content":"Unknown command: /bg"},"permissionMode":"default","version":"2.1.128"}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "Unknown command: /bg"}}},
		{"an error that Claude Code has mended", `{` + stamp + `"type":"assistant","apiError":"media_removed","isApiErrorMessage":true,"message":{"id":"m1","model":"<synthetic>","stop_reason":"tool_use","content":[{"type":"text","text":"API Error: an image was removed."}]}}`,
			[]jsonl.Item{{Kind: jsonl.Text, Text: "API Error: an image was removed.", MessageID: "m1"}}},
		{"command without content", `{` + stamp + `"type":"user","message":{"content":"<local-command-stdout>(no content)</local-command-stdout>"}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput}}},
		{"notice", `{` + stamp + `"type":"system","subtype":"informational","level":"notice","content":"See the full changelog"}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "See the full changelog"}}},
		{"refused by a hook", `{` + stamp + `"type":"system","subtype":"informational","content":"UserPromptSubmit operation blocked by hook:\nnot today\n\nOriginal prompt: say a","promptSubmitEnding":{"ending":{"kind":"blocked_by_hook"}}}`,
			[]jsonl.Item{{Kind: jsonl.LocalOutput, Text: "UserPromptSubmit operation blocked by hook:\nnot today", Refused: "say a", Failure: talk.Failure{Kind: talk.FailedHook, Text: "not today"}}}},
		{"turn end", `{` + stamp + `"type":"system","subtype":"turn_duration","durationMs":260}`,
			[]jsonl.Item{{Kind: jsonl.TurnEnd}}},
		{"a schedule of the agent's own", `{` + stamp + `"type":"system","subtype":"scheduled_task_fire","content":"Running scheduled task (Nov 29 12:32am)","isMeta":false,"taskId":"b3f5ca1c","cron":"* * * * *","prompt":"say tick"}`,
			[]jsonl.Item{{Kind: jsonl.ScheduleFired, Text: "say tick"}}},
		{"compact boundary", `{` + stamp + `"type":"system","subtype":"compact_boundary","content":"Conversation compacted"}`,
			[]jsonl.Item{{Kind: jsonl.CompactBoundary, Text: "Conversation compacted"}}},
		{"enqueue", `{` + stamp + `"type":"queue-operation","operation":"enqueue","content":"say queued"}`,
			[]jsonl.Item{{Kind: jsonl.QueueOperation, Operation: "enqueue", Text: "say queued"}}},
		{"dequeue", `{` + stamp + `"type":"queue-operation","operation":"dequeue"}`,
			[]jsonl.Item{{Kind: jsonl.QueueOperation, Operation: "dequeue"}}},
		{"stop hook summary", `{` + stamp + `"type":"system","subtype":"stop_hook_summary","hookCount":1}`, nil},
		{"unknown type", `{"type":"teleport","message":{"content":"x"}}`, nil},
		{"no type", `{}`, nil},
		{"blank", " \t", nil},
		{"a bulk line is not even parsed", `{"type":"api-request-blob","message":`, nil},
		{"a key of another type hides nothing", `{` + stamp + `"type":"user","isMeta":"no","origin":"human","message":{"content":"hi","usage":[]}}`,
			[]jsonl.Item{{Kind: jsonl.UserPrompt, Text: "hi"}}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got, err := parseLine(jsonl.Line{Text: []byte(tc.line)})
			require.NoError(t, err)
			for i := range tc.want {
				tc.want[i] = common(tc.want[i])
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// TestNotices has the texts of 2.1.328 with an account, with a key, and without a network.
func TestNotices(t *testing.T) {
	shown := func(text string) *jsonl.Item { return &jsonl.Item{Kind: jsonl.LocalOutput, Text: text} }
	answers := func(command, text string) *jsonl.Item {
		return &jsonl.Item{Kind: jsonl.LocalOutput, Command: command, Text: text}
	}
	type row struct {
		level, text string
		want        *jsonl.Item // nil: it is not for the chat
	}
	tests := []row{
		{"notice", "See the full changelog at: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md",
			shown("See the full changelog at: https://github.com/anthropics/claude-code/blob/main/CHANGELOG.md")},
		{"warning", "/install-github-app isn't available while ANTHROPIC_BASE_URL is set.",
			answers("/install-github-app", "/install-github-app isn't available while ANTHROPIC_BASE_URL is set.")},
		{"warning", "Operation stopped by hook: not now", shown("Operation stopped by hook: not now")},
		{"notice", "Goal paused · send a message to continue, or run /goal clear", shown("Goal paused · send a message to continue, or run /goal clear")},
		{"notice", "Usage limit reached · continuing automatically at 1:20am · esc to cancel", nil},
		{"notice", "Usage limit reached again · continuing automatically at 1:20am · esc to cancel", nil},
		{"notice", "Automatic continue cancelled · /rate-limit-options to re-arm", nil},
		{"notice", "Auto mode lets Claude handle permission prompts automatically — Claude checks each tool call.", nil},
		{"info", "Started in the background: look around", nil},
		{"suggestion", "Session resumed", nil},
		{"", "of an earlier version", nil},
	}
	for _, command := range []string{"/privacy-settings", "/voice", "/remote-control", "/upgrade", "/usage-credits", "/desktop", "/teleport",
		"/web-setup", "/ultrareview", "/autofix-pr", "/artifacts", "/rate-limit-options"} {
		text := command + " needs a Claude subscription. This session uses ANTHROPIC_API_KEY instead."
		tests = append(tests, row{"warning", text, answers(command, text)})
	}
	for _, command := range []string{"/design-login", "/import", "/advisor"} {
		text := command + " isn't available while CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC is set."
		tests = append(tests, row{"warning", text, answers(command, text)})
	}
	for _, tc := range tests {
		t.Run(tc.text, func(t *testing.T) {
			line, err := json.Marshal(map[string]any{"type": "system", "subtype": "informational", "level": tc.level, "content": tc.text, "isMeta": false})
			require.NoError(t, err)
			got, err := parseLine(jsonl.Line{Text: line})
			require.NoError(t, err)
			want := jsonl.Item{Kind: jsonl.Other, Text: tc.text, Meta: true}
			if tc.want != nil {
				want = *tc.want
			}
			assert.Equal(t, []jsonl.Item{want}, got)
		})
	}
}

func TestParseLineRefusesNonObjects(t *testing.T) {
	for _, text := range []string{"x", "[]", "123", `"a"`, `{"type":"user"`, "\x00\x00\x00", `{"type":"user"}{}`} {
		items, err := parseLine(jsonl.Line{Text: []byte(text)})
		assert.Error(t, err, text)
		assert.Empty(t, items)
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(`{"type":"user","message":{"content":[{"type":"tool_result","content":[{"type":"image","source":{}}]}]}}`))
	f.Add([]byte(`{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"a"}],"usage":{"input_tokens":1}}}`))
	f.Add([]byte(`{"type":"user","message":{"content":"<command-name>/x</command-name><bash-input>"}}`))
	f.Add([]byte(`{"type":"system","subtype":"local_command","content":"<bash-stdout>","commandRun":{"command":"c"}}`))
	f.Add([]byte("{\"type\":\"user\",\"message\":{\"content\":\"\xff\"}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		items, err := parseLine(jsonl.Line{Text: text})
		if err != nil && len(items) > 0 {
			t.Fatal("items of a broken line")
		}
		for _, item := range items {
			if (item.Kind == jsonl.ToolUse || item.Kind == jsonl.ToolResult) != (item.Tool != nil) {
				t.Fatal("a tool without a call")
			}
			jsonl.Contains(item.Text, item.Text)
		}
	})
}

// A message of endless blocks takes bounded memory: its first blocks are shown.
func TestP8_MessageBlocksFitIntoMemory(t *testing.T) {
	text := `{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"first"}` + strings.Repeat(",{}", 2*maxBlocks) + `]}}`
	var e entry
	require.NoError(t, decode([]byte(text), &e))
	assert.Len(t, blocks(e.Message.Content), maxBlocks)
	items, err := parseLine(jsonl.Line{Text: []byte(text)})
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Equal(t, "first", items[0].Text)
}

// TestLineIsCopiedTwice counts what is allocated for a large line: gjson's copy, and the text of
// the item.
func TestLineIsCopiedTwice(t *testing.T) {
	const size = 4 << 20
	text := `{"type":"user","message":{"content":[{"type":"tool_result","content":"` + strings.Repeat("x", size) + `"}]}}`
	l := jsonl.Line{Text: []byte(text)}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	items, err := parseLine(l)
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	require.Len(t, items, 1)
	assert.Len(t, items[0].Text, size)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(size*5/2))
}
