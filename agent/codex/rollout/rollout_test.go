package rollout

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port"
	"ccbot/port/talk"
)

var (
	_ agent.Transcripts = New("")
	_ agent.Replies     = New("")
	_ agent.Keeper      = New("")
	_ agent.Proof       = New("")
	_ history.Reader    = New("")
	_ history.Excerpts  = New("")
	_ history.Folders   = New("")
	_ history.Usage     = New("")
)

// The conversations of the samples: turns of all kinds, a fork, a file whose last line was cut
// before it was resumed twice, and failed turns.
var (
	turns    = uuid.MustParse("01a218bf-1ff2-7662-b877-89551f85d5f7")
	fork     = uuid.MustParse("01a218c2-02ee-76d0-960d-412237ebbb76")
	cut      = uuid.MustParse("01a218c1-de89-7830-967c-92c91b9c906f")
	failures = uuid.MustParse("01a218c2-98ae-7193-a4a0-071886949ea6")
)

// home makes a folder of Codex with the samples.
func home(t *testing.T) Files {
	t.Helper()
	f := New(t.TempDir())
	day := filepath.Join(f.Folder(), "2026", "11", "26")
	require.NoError(t, os.CopyFS(day, os.DirFS("testdata")))
	return f
}

func path(t *testing.T, f Files, id uuid.UUID) string {
	t.Helper()
	path, err := f.Find(id)
	require.NoError(t, err)
	return path
}

// items are the items of a rollout, each in one line.
func items(t *testing.T, path string) (all []string) {
	t.Helper()
	follow := New("").Follow(talk.Cursor{Path: path}, nil, slog.New(slog.DiscardHandler))
	defer follow.Close()
	for {
		i, failed, ok, err := follow.Now()
		require.NoError(t, err)
		if !ok {
			return all
		}
		one := strings.TrimSpace(fmt.Sprint(i.Kind, " ", i.Text))
		if i.Tool != nil {
			one = fmt.Sprint(i.Kind, " ", i.Tool.Step, " ", i.Tool.Failed, i.Tool.Denied)
		}
		all = append(all, strings.TrimSpace(fmt.Sprint(one, " ", i.Ends, " ", failed.Kind)))
	}
}

func TestItemsOfRealTurns(t *testing.T) {
	f := home(t)
	assert.Equal(t, []string{
		"user_prompt say hello one", "text hello one", "turn_end done",
		"user_prompt run echo tool-output", "text I will run it.", "tool_use echo tool-output false false", "tool_result  false false",
		`text tool result: "Chunk ID: ab742f\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 3\nOutput:\ntool-output\n"`, "turn_end done",
		"user_prompt esc touch /home/me/outside", "text I need more rights.", "tool_use touch /home/me/outside false false", "tool_result  false false",
		`text tool result: "Chunk ID: 2df96c\nWall time: 0.0000 seconds\nProcess exited with code 0\nOriginal token count: 0\nOutput:\n"`, "turn_end done",
		"user_prompt esc touch /home/me/outside2", "text I need more rights.", "tool_use touch /home/me/outside2 false false", "tool_result  true true",
		`text tool result: "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"`, "turn_end done",
		"user_prompt patch b.txt", "text I will write it.", "tool_use apply_patch b.txt false false", "tool_result  false false",
		`text tool result: "unsupported custom tool call: apply_patch"`, "turn_end done",
		"user_prompt slow 60", "user_prompt say while busy", "text while busy", "turn_end done",
		"user_prompt slow 60", "interrupt stopped",
		`user_prompt error 400`, `api_error {"error":{"message":"scripted error 400","type":"scripted","code":"scripted"}} failed request`,
		"user_prompt two\nlines `!` /new", "text echo: two\nlines `!` /new", "turn_end done",
		"user_prompt /compact", "text echo: /compact", "turn_end done",
		"compact_boundary", "turn_end done",
		"local_command !echo from shell", "local_output from shell", "turn_end done",
		"user_prompt say by hand", "text by hand", "turn_end done",
	}, items(t, path(t, f, turns)))
}

func TestFailedTurns(t *testing.T) {
	all := items(t, path(t, home(t), failures))
	assert.Contains(t, all, "api_error exceeded retry limit, last status: 429 Too Many Requests failed request")
	assert.Contains(t, strings.Join(all, "\n"), "scripted error 401, url: http://127.0.0.1:8765/v1/responses failed login")
	assert.Equal(t, talk.FailedLimit, failure{Info: []byte(`"usage_limit_exceeded"`)}.failure().Kind)
	assert.Equal(t, talk.FailedContext, failure{Info: []byte(`"context_window_exceeded"`)}.failure().Kind)
	assert.NotEmpty(t, failure{}.failure().Text, "a failure has words")
}

// limited is the end of a turn of 0.171.0 at a limit, with the windows of the account in the line before.
const limited = `{"timestamp":"2026-11-29T09:09:14.988Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}
{"timestamp":"2026-11-29T09:09:15.000Z","type":"event_msg","payload":{"type":"item_completed","turn_id":"t","item":{"type":"UserMessage","id":"u","content":[{"type":"text","text":"limit"}]}}}
{"timestamp":"2026-11-29T09:09:15.014Z","type":"event_msg","payload":{"type":"token_count","info":null,"rate_limits":{"limit_id":"codex","primary":{"window_minutes":300,"resets_at":1795946955,"used_percent":PRIMARY},"secondary":{"used_percent":SECONDARY,"window_minutes":10080,"resets_at":1796116155}}}}
{"timestamp":"2026-11-29T09:09:15.017Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t","error":{"message":"You’ve hit your usage limit. Try again at 10:09 AM.","codex_error_info":"usage_limit_exceeded"}}}
`

// A limit ends when all windows that are used up begin anew: in the chat, in a list, and for a loop.
func TestLimitHasItsEnd(t *testing.T) {
	for _, tt := range []struct {
		name, primary, secondary string
		until                    time.Time
	}{
		{"the first window", "100.0", "40.0", time.Unix(1795946955, 0).UTC()},
		{"both", "100.0", "100.0", time.Unix(1796116155, 0).UTC()},
		{"another limit", "12.5", "40.0", time.Time{}},
		{"a time that cannot be stored", `100.0,"resets_at":9000000000000`, "40.0", time.Time{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := New(t.TempDir())
			file := filepath.Join(t.TempDir(), "a.jsonl")
			text := strings.NewReplacer("PRIMARY", tt.primary, "SECONDARY", tt.secondary).Replace(limited)
			require.NoError(t, os.WriteFile(file, []byte(text), 0o600))

			follow := f.Follow(talk.Cursor{Path: file}, nil, slog.New(slog.DiscardHandler))
			defer follow.Close()
			_, _, _, err := follow.Now()
			require.NoError(t, err)
			_, failed, _, err := follow.Now()
			require.NoError(t, err)
			assert.Equal(t, tt.until, failed.Until)

			reply, err := f.Reply(talk.Cursor{Path: file}, time.Time{}, "limit")()
			require.NoError(t, err)
			assert.Equal(t, failed, reply.Failure)

			p, err := f.Advance(history.Progress{}, file)
			require.NoError(t, err)
			assert.Equal(t, failed, p.Failed)
		})
	}
}

// A compaction has no id of ccbot's. The receipt of the command is the end of a turn without a prompt, whether
// it has compacted or failed, that has begun since.
func TestP4_ReceiptOfCompact(t *testing.T) {
	const began, prompt, ended = `{"timestamp":"2026-11-29T09:09:14Z","type":"event_msg","payload":{"type":"task_started","turn_id":"t"}}` + "\n",
		`{"timestamp":"2026-11-29T09:09:15Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"hi"}]}}}` + "\n",
		`{"timestamp":"2026-11-29T09:09:16Z","type":"event_msg","payload":{"type":"task_complete","turn_id":"t"}}` + "\n"
	const compacted = `{"timestamp":"2026-11-29T09:09:15Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"ContextCompaction","id":"i"}}}` + "\n"
	said := strings.NewReplacer("UserMessage", "AgentMessage").Replace(prompt)
	before, at := time.Date(2026, 11, 29, 9, 9, 13, 0, time.UTC), time.Date(2026, 11, 29, 9, 9, 14, 500, time.UTC)
	for _, tt := range []struct {
		name, lines string
		since       time.Time
		want        bool
	}{
		{"it has compacted", began + compacted, before, true},
		{"it has failed", began + ended, before, true},
		{"it runs", began, before, false},
		{"it began before", began + compacted + ended, at, false},
		{"another turn", began + prompt + ended, before, false},
		{"a turn of a goal", began + said + ended, before, false},
		{"a turn that compacts by itself", began + prompt + compacted + ended, before, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := New(t.TempDir())
			file := filepath.Join(f.Folder(), "2026", "11", "26", "rollout-2026-11-26T00-00-00-"+turns.String()+".jsonl")
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			require.NoError(t, os.WriteFile(file, []byte(tt.lines), 0o600))
			has, err := f.HasReceipt(turns, agent.Sent{ID: uuid.New(), Text: "/compact", At: tt.since})
			require.NoError(t, err)
			assert.Equal(t, tt.want, has)
		})
	}
}

// A goal that is set makes Codex begin its next turn by itself. It is changed by a person, by Codex, and by a
// server that has not loaded the conversation: then only a message has it. These are lines of 0.171.0.
func TestProgressKnowsGoal(t *testing.T) {
	updated := func(status string) string {
		return `{"timestamp":"2026-11-29T09:10:13.319Z","ordinal":20,"type":"event_msg","payload":{"type":"thread_goal_updated","threadId":"01a22691-b5dc-7082-bf30-da7f0730a100","goal":{"threadId":"01a22691-b5dc-7082-bf30-da7f0730a100","objective":"count to ten","status":"` +
			status + `","tokensUsed":0,"timeUsedSeconds":0,"createdAt":1795943413,"updatedAt":1795943413}}}` + "\n"
	}
	said := func(text string) string {
		return `{"timestamp":"2026-11-29T09:10:13.313Z","ordinal":19,"type":"response_item","payload":{"type":"message","id":"msg_01a22691-b640-7302-a552-2f9dd938b5d8","role":"user","content":[{"type":"input_text","text":"` +
			text + `"}],"metadata":{"client_authored":false}}}` + "\n"
	}
	words := func(text string) string {
		return said(`<codex_internal_context source=\"user_goal\">\n` + text + `\n</codex_internal_context>`)
	}
	const active, paused = `User set goal status: \"active\".`, `User set goal status: \"paused\".`
	for _, tt := range []struct {
		name, lines string
		want        bool
	}{
		{"none", said("hello"), false},
		{"set", words(`User set the goal: \"count\"\n`+active) + updated("active"), true},
		{"its words are changed", updated("active") + words(`User set the goal: \"count on\"`), true},
		{"paused", updated("active") + updated("paused"), false},
		{"paused before a resume", updated("active") + words(paused), false},
		{"resumed", updated("paused") + words(active), true},
		{"reached", updated("active") + updated("complete"), false},
		{"cleared", updated("active") + words("User cleared the goal."), false},
		{"a person's words", said(active), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.jsonl")
			require.NoError(t, os.WriteFile(file, []byte(tt.lines), 0o600))
			p, err := New("").Advance(history.Progress{}, file)
			require.NoError(t, err)
			assert.Equal(t, tt.want, p.Pursues)
			told := []string(nil)
			if tt.name == "paused before a resume" {
				told = []string{"goal_paused"}
			}
			assert.Equal(t, told, items(t, file), "the chat is told that it no longer goes on")
		})
	}
}

// A picture that the model makes is in its line, as base64, which may be long.
func TestP5_PictureOfModelIsShown(t *testing.T) {
	dot, err := base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
	require.NoError(t, err)
	for name, data := range map[string][]byte{"small": dot, "long": append(slices.Clone(dot), make([]byte, 3<<20)...)} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "a.jsonl")
			line := `{"timestamp":"2026-11-29T09:58:39.683Z","ordinal":24,"type":"response_item","payload":{"type":"image_generation_call","id":"ig_6862713661a54fd299ca7dcd","status":"completed","revised_prompt":"a dot","result":"` +
				base64.StdEncoding.EncodeToString(data) + `","internal_chat_message_metadata_passthrough":{"turn_id":"01a226be-0f1e-7600-9684-ef6ce35af283"}},"metadata":{"client_authored":false}}` + "\n"
			require.NoError(t, os.WriteFile(file, []byte(line), 0o600))
			f := New("")
			follow := f.Follow(talk.Cursor{Path: file}, nil, slog.New(slog.DiscardHandler))
			defer follow.Close()
			i, _, ok, err := follow.Now()
			require.NoError(t, err)
			require.True(t, ok)
			require.Len(t, i.Images, 1)
			assert.Equal(t, "image/png", i.Images[0].MediaType)
			got, err := f.Image(i.At, i.Images[0])
			require.NoError(t, err)
			defer got.Body.Close()
			shown, err := io.ReadAll(io.NewSectionReader(got.Body, 0, got.Size))
			require.NoError(t, err)
			assert.True(t, bytes.Equal(data, shown))
		})
	}
}

// A tool fails by its exit code, not by words that it prints.
func TestToolFailsByExitCode(t *testing.T) {
	for output, want := range map[string]bool{
		"Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 2\nOutput:\n":                      true,
		"Chunk ID: ab\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nExit code: 1\n":        false,
		"Wall time: 0.0 seconds\nOutput:\nExit code: 1\nWall time: 0.1 seconds\nOutput:\nno such file":     true,
		"Wall time: 0.0 seconds\nOutput:\nExit code: 0\nWall time: 0.1 seconds\nOutput:\nExit code: 1\nok": false,
		"exec_command failed: no": true,
		"Wall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nrejected by user\n": false,
	} {
		quoted, err := json.Marshal(output)
		require.NoError(t, err)
		items, err := parse([]byte(`{"type":"response_item","payload":{"type":"function_call_output","output":` + string(quoted) + `}}`))
		require.NoError(t, err)
		require.Len(t, items, 1)
		assert.Equal(t, want, items[0].Tool.IsError, output)
		assert.Empty(t, items[0].Tool.Denial, output)
	}
}

// A step of code mode is the first call of its script.
func TestStepsOfScripts(t *testing.T) {
	for script, want := range map[string]string{
		`const r = await tools.exec_command({cmd: "echo \"a b\"", yield_time_ms: 1000}); text(r)`:      `echo "a b"`,
		`text(await tools.exec_command({"cmd":"touch x"}))`:                                            "touch x",
		`const cmd = 'x'; await tools.exec_command({ cmd: 'ls -l' })`:                                  "ls -l",
		"await tools.exec_command({cmd: `git log`})":                                                   "git log",
		`text(await tools.apply_patch("*** Begin Patch\n*** Update File: a.go\n+x\n*** End Patch\n"))`: "apply_patch a.go",
		"await tools.apply_patch(`*** Begin Patch\n*** Add File: b.go\n+x\n*** End Patch`)":            "apply_patch b.go",
		`text(await tools.mcp__tst__hello({to: "you"}))`:                                               "mcp__tst__hello",
		`text(1 + 1)`: "exec",
	} {
		quoted, err := json.Marshal(script)
		require.NoError(t, err)
		all, err := parse([]byte(`{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"a","name":"exec","input":` + string(quoted) + `}}`))
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, want, all[0].Tool.Step(), script)
	}
}

// TestCallHasNameOfItsRequest: an agent's request and its call are matched by the name of the tool.
func TestCallHasNameOfItsRequest(t *testing.T) {
	for payload, want := range map[string]string{
		`"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"ls\"}"`:                                                           "Bash",
		`"type":"custom_tool_call","name":"exec","input":"text(await tools.exec_command({cmd: \"ls\"}))"`:                                       "Bash",
		`"type":"function_call","name":"exec_command","arguments":"{\"cmd\":\"apply_patch <<E\\n*** Begin Patch\\n*** Add File: a\\n+x\\nE\"}"`: "apply_patch",
		`"type":"custom_tool_call","name":"apply_patch","input":"*** Begin Patch\n*** Add File: a\n+x"`:                                         "apply_patch",
	} {
		all, err := parse([]byte(`{"type":"response_item","payload":{"call_id":"a",` + payload + `}}`))
		require.NoError(t, err)
		require.Len(t, all, 1)
		assert.Equal(t, want, all[0].Tool.Name, payload)
	}
}

// A line that was cut, or ends in NULs, is passed: Codex has begun a new line after it.
func TestP5_ItemsAfterCutLine(t *testing.T) {
	assert.Equal(t, []string{"user_prompt say two", "text two", "turn_end done",
		"user_prompt say again nul", "text again nul", "turn_end done"}, items(t, path(t, home(t), cut)))
}

// A plan is in an item of its own: the message beside it has only the words around it. Without the plan a
// person would approve what they have not seen.
func TestP5_PlanIsShown(t *testing.T) {
	const real = `{"timestamp":"2026-11-29T00:22:11.624Z","ordinal":128,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01a224ad-b284-7ae3-9327-b1da2f5010ec","turn_id":"01a224ae-48fd-7f02-91dd-59810e2e7431","item":{"type":"Plan","id":"01a224ae-48fd-7f02-91dd-59810e2e7431-plan","text":"# Plan\n1. do it\n"},"started_at_ms":1795911731624,"completed_at_ms":1795911731624}}
{"timestamp":"2026-11-29T00:22:11.625Z","ordinal":129,"type":"event_msg","payload":{"type":"item_completed","thread_id":"01a224ad-b284-7ae3-9327-b1da2f5010ec","turn_id":"01a224ae-48fd-7f02-91dd-59810e2e7431","item":{"type":"AgentMessage","id":"msg_eb1e697fda2e40acb3ce913ba90baa7c","content":[{"type":"Text","text":"Here it is.\n"}]},"started_at_ms":1795911731624,"completed_at_ms":1795911731625}}
`
	file := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(real), 0o600))
	assert.Equal(t, []string{"text # Plan\n1. do it", "text Here it is."}, items(t, file))
}

// An item of a newer Codex is no broken line, and hides no text.
func TestUnknownItemsAreCounted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(`{"timestamp":"2026-11-26T16:45:31.744Z","type":"new_type","payload":{}}
{"timestamp":"2026-11-26T16:45:31.744Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"NewItem"}}}
not JSON
{"timestamp":"2026-11-26T16:45:31.744Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"seen"}],"command":7}}}
`), 0o600))
	r := form().Open(talk.Cursor{Path: file})
	defer r.Close()
	i, ok, err := r.Next()
	require.NoError(t, err)
	require.True(t, ok)
	assert.Equal(t, "seen", i.Text, "a field of another type hides no other")
	assert.Equal(t, []int{1, 2}, []int{r.Broken(), r.Unknown()})
}

func TestProgressOfRealTurns(t *testing.T) {
	f := home(t)
	p, err := f.Advance(history.Progress{}, path(t, f, turns))
	require.NoError(t, err)
	assert.Equal(t, []any{13, 11, "mock-1", "on-request"}, []any{p.Turns, p.TurnsWell, p.Model, p.PermissionMode})
	assert.Nil(t, p.OpenTurn)
	assert.Zero(t, p.Failed, "later turns went well")
	assert.Equal(t, port.Tokens{Input: 82187, CacheRead: 82182, Output: 252}, p.Tokens, "the sum of Codex")
	again, err := f.Advance(p, path(t, f, turns))
	require.NoError(t, err)
	assert.Equal(t, p, again)

	p, err = f.Advance(history.Progress{}, path(t, f, failures))
	require.NoError(t, err)
	assert.Equal(t, talk.FailedLogin, p.Failed.Kind)
}

// Codex writes nothing when it is killed: the turn stays open, with its last step.
func TestP8_KilledTurnStaysOpen(t *testing.T) {
	f := home(t)
	whole := path(t, f, turns)
	data, err := os.ReadFile(whole)
	require.NoError(t, err)
	killed, _, found := strings.Cut(string(data), `{"timestamp":"2026-11-26T16:46:02.377`)
	require.True(t, found)
	require.NoError(t, os.WriteFile(whole, []byte(killed), 0o600))
	p, err := f.Advance(history.Progress{}, whole)
	require.NoError(t, err)
	require.NotNil(t, p.OpenTurn)
	assert.Equal(t, "echo tool-output", p.OpenTurn.Step)
	assert.False(t, f.HasInterrupt(talk.Cursor{Path: whole}))
}

func TestPlanBecomesTasks(t *testing.T) {
	p := history.Progress{}
	take(&p, []byte(`{"timestamp":"2026-11-26T16:45:31.744Z","type":"response_item","payload":{"type":"function_call","name":"update_plan","arguments":"{\"plan\":[{\"step\":\"Look\",\"status\":\"completed\"},{\"step\":\"Act\",\"status\":\"in_progress\"}]}"}}`))
	assert.Equal(t, []port.Task{{Text: "Look", Status: "completed"}, {Text: "Act", Status: "in_progress"}}, p.Tasks)
	assert.Nil(t, p.OpenTurn, "a plan is no step")
}

func TestP4_ReceiptByID(t *testing.T) {
	f := home(t)
	for id, want := range map[string]bool{"9be1aa85-acc6-4d7e-b256-5716c3681735": true, "01a218bf-f1a0-7a31-a160-d9b243be56e0": false /* a turn's id */} {
		has, err := f.HasReceipt(turns, agent.Sent{ID: uuid.MustParse(id)})
		require.NoError(t, err)
		assert.Equal(t, want, has, id)
	}
	has, err := f.HasReceipt(uuid.Must(uuid.NewV7()), agent.Sent{ID: turns})
	require.NoError(t, err, "there is no file before the first prompt")
	assert.False(t, has)
	trace, err := f.Trace(path(t, f, turns), 0, time.Time{}, "two lines `!` /new")
	require.NoError(t, err)
	assert.True(t, trace.Arrived)
}

func TestReplyToRealPrompt(t *testing.T) {
	f := home(t)
	for text, want := range map[string]talk.Reply{
		"say hello one":    {Texts: []string{"hello one"}, Ending: talk.EndedTurn},
		"!echo from shell": {Texts: []string{"from shell"}, Ending: talk.EndedTurn},
	} {
		reply, err := f.Reply(talk.Cursor{Path: path(t, f, turns)}, time.Time{}, text)()
		require.NoError(t, err)
		assert.Equal(t, want, reply, text)
	}
}

func TestFilesOfConversations(t *testing.T) {
	f := home(t)
	file := path(t, f, turns)
	_, err := f.Find(uuid.New())
	require.ErrorIs(t, err, fs.ErrNotExist)
	real, err := filepath.EvalSymlinks(file)
	require.NoError(t, err)
	assert.Equal(t, real, f.Own(file, turns))
	assert.Empty(t, f.Own(file, fork))
	link := filepath.Join(f.Folder(), "rollout-x-"+fork.String()+".jsonl")
	require.NoError(t, os.Symlink(file, link))
	assert.Empty(t, f.Own(link, fork), "a link to another conversation")
	assert.Empty(t, f.Own(filepath.Join(f.Home, filepath.Base(file)), turns), "not below sessions")
	assert.Equal(t, file, f.Sibling(file, turns))
	assert.Empty(t, f.Sibling(file, fork))
	assert.Equal(t, turns.String(), f.FirstID(file))
	assert.Equal(t, fork.String(), f.FirstID(path(t, f, fork)))

	var found []uuid.UUID
	require.NoError(t, f.InFolder(t.Context(), "/home/me/proj", func(c history.Conversation) bool {
		found = append(found, c.ID)
		return true
	}))
	assert.ElementsMatch(t, []uuid.UUID{turns, fork, cut, failures}, found)

	h, err := f.Check(turns)
	require.NoError(t, err)
	assert.Empty(t, h.Faults)
	require.NoError(t, os.WriteFile(file, []byte("\x00\x00"), 0o600))
	_, err = f.Check(turns)
	require.ErrorIs(t, err, agent.ErrNothingLeft)
}

func TestAnswersHaveModelOfTurn(t *testing.T) {
	f := home(t)
	var all []history.Answer
	see := func(a history.Answer) { all = append(all, a) }
	end, err := f.Answers(t.Context(), path(t, f, turns), 0, see)
	require.NoError(t, err)
	require.Len(t, all, 14)
	for _, a := range all {
		assert.Equal(t, []string{"mock-1", "/home/me/proj", turns.String()}, []string{a.Model, a.Dir, a.Session})
	}
	again, err := f.Answers(t.Context(), path(t, f, turns), end, see)
	require.NoError(t, err)
	assert.Equal(t, []any{end, 14}, []any{again, len(all)})
	_, err = f.Answers(t.Context(), path(t, f, turns), 5, see)
	require.ErrorIs(t, err, history.ErrTruncated)
}

// TestResponsesOfGatewaysCount: a provider may give all of its responses one id, or none. A copy of
// the lines has the same ones.
func TestResponsesOfGatewaysCount(t *testing.T) {
	record := func(id string, total int) string {
		return fmt.Sprintf(`{"timestamp":"2026-11-26T16:45:3%d.818Z","type":"token_usage_record","payload":{"turn_id":"t","response_id":%q,"usage":{"input_tokens":100,"output_tokens":10},"thread_token_usage":{"total_tokens":%d}}}`+"\n",
			total/110, id, total)
	}
	for name, text := range map[string]string{
		"one id": record("resp_fixed", 110) + record("resp_fixed", 220) + record("resp_fixed", 330),
		"no id":  record("", 110) + record("", 220) + record("", 330),
		"no sum": strings.ReplaceAll(record("", 110)+record("", 220)+record("", 330), "total_tokens", "unknown"),
	} {
		t.Run(name, func(t *testing.T) {
			f := home(t)
			seen := func(copied string) (ids []string) {
				file := filepath.Join(t.TempDir(), "rollout.jsonl")
				require.NoError(t, os.WriteFile(file, []byte(copied+text), 0o600))
				_, err := f.Answers(t.Context(), file, 0, func(a history.Answer) { ids = append(ids, a.ID) })
				require.NoError(t, err)
				return slices.Compact(slices.Sorted(slices.Values(ids)))
			}
			assert.Len(t, seen(""), 3)
			assert.Equal(t, seen(""), seen(text), "a copy, and a second line about a response")
		})
	}
}

func TestLimitsOfAccount(t *testing.T) {
	f := home(t)
	limits := f.Limits(t.Context(), path(t, f, turns))
	require.Len(t, limits, 2)
	assert.Equal(t, []any{talk.FiveHours, 12.5, talk.Week, 40.0}, []any{limits[0].Window, limits[0].Percent, limits[1].Window, limits[1].Percent})
	assert.Empty(t, f.Limits(t.Context(), path(t, f, fork)))
}

func TestHistoryOfRealTurns(t *testing.T) {
	f := home(t)
	var prompts []string
	require.NoError(t, f.Older(t.Context(), path(t, f, turns), history.End, func(e history.Entry) bool {
		if e.Kind == talk.EntryPrompt {
			prompts = append(prompts, e.Texts...)
		}
		return len(prompts) < 2
	}))
	assert.Equal(t, []string{"say by hand", "!echo from shell"}, prompts)
	var found []history.Found
	_, err := f.Search(t.Context(), path(t, f, turns), history.End, "WHILE busy", func(h history.Found) bool {
		found = append(found, h)
		return true
	})
	require.NoError(t, err)
	assert.Len(t, found, 2, "the prompt and the answer")
	days := 0
	_, err = f.Days(t.Context(), path(t, f, turns), history.End, time.UTC, func(history.Day) bool { days++; return true })
	require.NoError(t, err)
	assert.Equal(t, 1, days)
	assert.Equal(t, "say by hand", f.LastPrompt(t.Context(), path(t, f, turns)))
}

// An answer of ten megabytes keeps its beginning, and the rest stays in the file.
func TestLongAnswerKeepsBeginning(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.jsonl")
	long := strings.Repeat("word ", 2<<20)
	require.NoError(t, os.WriteFile(file, []byte(`{"timestamp":"2026-11-26T16:45:31.744Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"AgentMessage","content":[{"type":"Text","text":"`+long+`"}]}}}`+"\n"), 0o600))
	follow := New("").Follow(talk.Cursor{Path: file}, nil, slog.New(slog.DiscardHandler))
	defer follow.Close()
	i, _, ok, err := follow.Now()
	require.NoError(t, err)
	require.True(t, ok)
	whole := int64(len(i.Text))
	if i.Rest != nil {
		picture, err := New("").Words(i.At, *i.Rest, false)
		require.NoError(t, err)
		defer picture.Body.Close()
		whole = picture.Size
	}
	assert.Positive(t, whole)
	assert.Equal(t, jsonl.Text, i.Kind)
}

func TestInFolderEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := home(t)
	require.ErrorIs(t, f.InFolder(ctx, "/home/me/proj", func(history.Conversation) bool { return true }), context.Canceled)
}

func FuzzLine(f *testing.F) {
	data, err := os.ReadFile(filepath.Join("testdata", "rollout-2026-11-26T16-48-08-01a218c1-de89-7830-967c-92c91b9c906f.jsonl"))
	require.NoError(f, err)
	for one := range strings.Lines(string(data)) {
		f.Add([]byte(one))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = parse(text)
		take(&history.Progress{}, text)
	})
}
