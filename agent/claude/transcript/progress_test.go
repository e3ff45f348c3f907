package transcript

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"ccbot/agent/history"
	"ccbot/agent/jsonl"
	"ccbot/port"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// inProgress are recordings of Claude Code 2.1.328 and 2.1.197; long lines that nothing is read
// from were taken out.
const inProgress = "testdata/progress"

func recording(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(inProgress, name))
	require.NoError(t, err)
	return string(data)
}

// continuedIn is written by 2.1.332 when /background or ← moves the conversation.
const continuedIn = `{"type":"continued-in","timestamp":"2026-11-29T16:08:57.488Z","sessionId":"11111111-1111-4111-8111-111111111111",` +
	`"continuedInSessionId":"99de0be5-d739-4988-a3e8-0bf2a5ec6f9b"}` + "\n"

// advanced is the progress of one whole transcript.
func advanced(t testing.TB, content string) history.Progress {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a.jsonl")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	p, err := Advance(history.Progress{}, path)
	require.NoError(t, err)
	assert.Equal(t, path, p.Path)
	p.Path = ""
	return p
}

func at(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		panic(err)
	}
	return t
}

func TestProgressOfRecordings(t *testing.T) {
	tests := []struct {
		file string
		want history.Progress
	}{
		{"tasks.jsonl", history.Progress{Turns: 5, TurnsWell: 5, LastTurnAt: at("2026-11-20T17:28:38.484Z"), Model: "claude-opus-5-5", Tokens: port.Tokens{Input: 250, CacheCreation: 0, CacheRead: 432770, Output: 80},
			Tasks: []port.Task{{ID: "1", Text: "Write the reader", Status: "completed"}, {ID: "2", Text: "Test the reader well", Status: "completed"},
				{ID: "4", Text: "no subject", Status: "completed"}, {ID: "5", Text: "Another round", Status: "pending"}, {ID: "6", Text: "After all done", Status: "pending"},
				{ID: "7", Text: "After a resume", Status: "pending"}}}},
		{"todo.jsonl", history.Progress{Turns: 1, TurnsWell: 1, LastTurnAt: at("2026-11-20T17:28:43.81Z"), Model: "claude-opus-5-5", Tokens: port.Tokens{Input: 60, CacheCreation: 0, CacheRead: 87267, Output: 19},
			Tasks: []port.Task{{ID: "", Text: "Write the reader", Status: "completed"}, {ID: "", Text: "Test the reader", Status: "completed"}}}},
		{"old.jsonl", history.Progress{Turns: 1, TurnsWell: 1, LastTurnAt: at("2026-11-20T17:30:30.041Z"), Model: "claude-opus-4-8", Tokens: port.Tokens{Input: 50, CacheCreation: 0, CacheRead: 112334, Output: 16},
			Tasks: []port.Task{{ID: "1", Text: "One", Status: "in_progress"}}}},
		// Three ended by themselves, one by an error of the API, two by Esc.
		{"ends.jsonl", history.Progress{Turns: 6, TurnsWell: 3, LastTurnAt: at("2026-11-20T17:29:30.227Z"), Model: "claude-opus-5-5", Tokens: port.Tokens{Input: 60, CacheCreation: 0, CacheRead: 83436, Output: 28}}},
	}
	for _, tc := range tests {
		t.Run(tc.file, func(t *testing.T) {
			content := recording(t, tc.file)
			got := advanced(t, content)
			tc.want.PermissionMode, tc.want.Offset, tc.want.LastMessage = "default", int64(len(content)), got.LastMessage
			if tc.file != "old.jsonl" {
				tc.want.RequestedModel = tc.want.Model
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

// Read in pieces, wherever they end, it comes to the same as read at once.
func TestProgressGoesOnWhereItWas(t *testing.T) {
	for _, name := range []string{"tasks.jsonl", "todo.jsonl", "old.jsonl", "ends.jsonl"} {
		t.Run(name, func(t *testing.T) {
			content := recording(t, name)
			whole := advanced(t, content)
			path := filepath.Join(t.TempDir(), "a.jsonl")
			rapid.Check(t, func(t *rapid.T) {
				cuts := rapid.SliceOfN(rapid.IntRange(0, len(content)), 0, 12).Draw(t, "cuts")
				slices.Sort(cuts)
				write(t, path, "")
				var p history.Progress
				for i, cut := range append(cuts, len(content)) {
					before := 0
					if i > 0 {
						before = cuts[i-1]
					}
					appendTo(t, path, content[before:cut])
					next, err := Advance(p, path)
					require.NoError(t, err)
					require.LessOrEqual(t, p.Offset, next.Offset)
					require.LessOrEqual(t, next.Offset, int64(cut))
					p = next
				}
				p.Path = ""
				require.Equal(t, whole, p)
			})
		})
	}
}

func TestProgressIsUnchanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.jsonl")
	write(t, path, recording(t, "todo.jsonl"))
	p, err := Advance(history.Progress{}, path)
	require.NoError(t, err)
	for name, other := range map[string]string{"no path": "", "no file": filepath.Join(dir, "none.jsonl")} {
		t.Run(name, func(t *testing.T) {
			got, err := Advance(p, other)
			require.NoError(t, err)
			assert.Equal(t, p, got)
		})
	}
	t.Run("nothing new", func(t *testing.T) {
		got, err := Advance(p, path)
		require.NoError(t, err)
		assert.Equal(t, p, got)
	})
	t.Run("no regular file", func(t *testing.T) {
		got, err := Advance(p, dir)
		require.Error(t, err)
		assert.Equal(t, p, got)
	})
	t.Run("half a line", func(t *testing.T) {
		appendTo(t, path, `{"type":"permission-mode","permissionMode":"plan"}`)
		got, err := Advance(p, path)
		require.NoError(t, err)
		assert.Equal(t, p, got)
		appendTo(t, path, "\n")
		got, err = Advance(p, path)
		require.NoError(t, err)
		assert.Equal(t, "plan", got.PermissionMode)
	})
	t.Run("the file is gone", func(t *testing.T) {
		require.NoError(t, os.Remove(path))
		got, err := Advance(p, path)
		require.NoError(t, err)
		assert.Equal(t, p, got)
	})
}

func TestProgressBeginsAnew(t *testing.T) {
	dir := t.TempDir()
	path, other := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	write(t, path, recording(t, "tasks.jsonl"))
	write(t, other, recording(t, "todo.jsonl"))
	p, err := Advance(history.Progress{}, path)
	require.NoError(t, err)

	after, err := Advance(p, other)
	require.NoError(t, err)
	assert.Equal(t, 1, after.Turns, "another conversation")
	assert.Equal(t, other, after.Path)

	write(t, path, recording(t, "todo.jsonl"))
	cut, err := Advance(p, path)
	require.NoError(t, err)
	assert.Equal(t, []int{5, 6, 1}, []int{p.TurnsWell, after.TurnsWell, cut.TurnsWell}, "over all conversations; a file that was cut begins anew")
	after.Path, after.TurnsWell = path, cut.TurnsWell
	assert.Equal(t, after, cut, "a file that was cut")
}

const (
	turnEnd   = `{"type":"system","subtype":"turn_duration","timestamp":"2026-11-20T17:28:43.81Z"}` + "\n"
	interrupt = `{"type":"user","timestamp":"2026-11-20T17:28:44Z","message":{"content":[{"type":"text","text":"[Request interrupted by user]"}]}}` + "\n"
	planMode  = `{"type":"permission-mode","permissionMode":"plan"}` + "\n"
	ofNoModel = `{"type":"assistant","message":{"id":"s","model":"<synthetic>","content":[],"usage":{"output_tokens":0}}}` + "\n"
)

// calls is a line in which the agent calls a tool.
func calls(id, tool, input string) string {
	return fmt.Sprintf(`{"type":"assistant","message":{"id":"m-%s","model":"claude-x","content":[{"type":"tool_use","id":%q,"name":%q,"input":%s}],"usage":{"output_tokens":1}}}`,
		id, id, tool, input) + "\n"
}

// returns is a line in which the tool has answered.
func returns(id, text, result string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]},"toolUseResult":%s}`, id, text, result) + "\n"
}

func fails(id string) string {
	return fmt.Sprintf(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":"no","is_error":true}]},"toolUseResult":"Error"}`, id) + "\n"
}

func creates(id, task, text string) string {
	return calls(id, "TaskCreate", fmt.Sprintf(`{"subject":%q}`, text)) + returns(id, "Task #"+task+" created successfully: "+text, "{}")
}

func TestProgressOfLines(t *testing.T) {
	one := []port.Task{{ID: "1", Text: "one", Status: "pending"}}
	aside := func(line string) string { return strings.Replace(line, `{`, `{"isSidechain":true,`, 1) }
	tests := []struct {
		name    string
		content string
		want    history.Progress // Offset and LastMessage aside
	}{
		{"nothing", "", history.Progress{}},
		{"broken lines are passed", "no json\n\n[1]\n\x00\x00\n{\"type\":\n" + turnEnd, history.Progress{Turns: 1, TurnsWell: 1, LastTurnAt: at("2026-11-20T17:28:43.81Z")}},
		{"an interrupted turn has ended", interrupt, history.Progress{Turns: 1, LastTurnAt: at("2026-11-20T17:28:44Z")}},
		{"a time that cannot be read", strings.Replace(turnEnd, "2026", "soon", 1), history.Progress{Turns: 1, TurnsWell: 1}},
		{"a person's text that looks like an interrupt is none", strings.Replace(interrupt, `{`, `{"origin":{"kind":"human"},`, 1), history.Progress{}},
		{"the lines of one answer tell its tokens once", reply("m", "a") + reply("m", "b") + reply("n", "c"), history.Progress{Tokens: port.Tokens{Output: 14}}},
		{"a number that no answer has", strings.Replace(reply("m", "a"), `"output_tokens":7`, `"input_tokens":9223372036854775807,"output_tokens":-9`, 1) +
			reply("n", "c"), history.Progress{Tokens: port.Tokens{Output: 7}}},
		{"the model that was asked for", strings.Replace(calls("a", "Bash", "{}"), `{`, `{"requestedModel":"claude-x[1m]",`, 1),
			history.Progress{Model: "claude-x", RequestedModel: "claude-x[1m]", Tokens: port.Tokens{Output: 1}}},
		{"one that an older version answers with is not known so", strings.Replace(calls("a", "Bash", "{}"), `{`, `{"requestedModel":"claude-x[1m]",`, 1) +
			strings.Replace(calls("b", "Bash", "{}"), "claude-x", "claude-y", 1), history.Progress{Model: "claude-y", Tokens: port.Tokens{Output: 2}}},
		{"what Claude Code says itself is of no model", calls("a", "Bash", "{}") + ofNoModel, history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 1}}},
		{"no name is cut", strings.Replace(calls("a", "Bash", "{}"), `{`, `{"requestedModel":"`+strings.Repeat("x", 300)+`",`, 1),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 1}}},
		{"the mode is the last one", planMode + `{"type":"user","permissionMode":"acceptEdits","message":{"content":"hi"}}` + "\n",
			history.Progress{PermissionMode: "acceptEdits"}},
		{"of a subagent the tokens count only", aside(calls("a", "TodoWrite", `{"todos":[{"content":"x","status":"pending"}]}`)) +
			aside(returns("a", "ok", "{}")) + aside(turnEnd) + aside(interrupt) + aside(planMode), history.Progress{Tokens: port.Tokens{Output: 1}}},
		{"the id stands in the text where nothing else says it", creates("a", "1", "one"), history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 1}, Tasks: one}},
		{"a call that failed has done nothing", creates("a", "1", "one") + calls("b", "TaskUpdate", `{"taskId":"1","status":"completed"}`) + fails("b") +
			calls("c", "TodoWrite", `{"todos":[]}`) + fails("c") + calls("d", "TaskCreate", `{"subject":"x"}`) + fails("d"),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 4}, Tasks: one}},
		{"a task that is not there", creates("a", "1", "one") + calls("b", "TaskUpdate", `{"taskId":"2","status":"completed"}`) + returns("b", "", `{"success":false}`) +
			calls("c", "TaskUpdate", `{"taskId":"3","status":"completed"}`) + returns("c", "", `{"success":true}`),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 3}, Tasks: one}},
		{"a later version's word", creates("a", "1", "one") + calls("b", "TaskUpdate", `{"taskId":"1","status":"blocked"}`) + returns("b", "", `{"success":true}`),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 2}, Tasks: []port.Task{{ID: "1", Text: "one", Status: "blocked"}}}},
		{"a list tells all of them", creates("a", "1", "one") + calls("b", "TaskList", "{}") +
			returns("b", "", `{"tasks":[{"id":"7","subject":"seven","status":"completed"}]}`),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 2}, Tasks: []port.Task{{ID: "7", Text: "seven", Status: "completed"}}}},
		{"and an empty one none", creates("a", "1", "one") + calls("b", "TaskList", "{}") + returns("b", "", `{"tasks":[]}`),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 2}}},
		{"a result of another tool is none of it", creates("a", "1", "one") + calls("b", "mcp__x__TaskList", "{}") + returns("b", "", `{"tasks":[]}`),
			history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 2}, Tasks: one}},
		{"the conversation goes on in the background", continuedIn, history.Progress{GoesOn: history.GoesOn{At: at("2026-11-29T16:08:57.488Z"),
			Conversation: uuid.MustParse("99de0be5-d739-4988-a3e8-0bf2a5ec6f9b"), Attach: "claude attach 99de0be5"}}},
		{"and here again", continuedIn + `{"type":"user","timestamp":"2026-11-29T17:00:00Z","message":{"role":"user","content":"hi"},"permissionMode":"plan"}` + "\n",
			history.Progress{PermissionMode: "plan"}},
		{"no call at all", creates("a", "1", "one") + returns("x", "", `{"tasks":[]}`), history.Progress{Model: "claude-x", Tokens: port.Tokens{Output: 1}, Tasks: one}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := advanced(t, tc.content)
			tc.want.Offset, tc.want.LastMessage = int64(len(tc.content)), got.LastMessage
			tc.want.OpenTurn = got.OpenTurn // see TestProgressOpenTurn
			assert.Equal(t, tc.want, got)
		})
	}
}

// A call and its result may come in two reads.
func TestProgressWaitsForAResult(t *testing.T) {
	call := calls("b", "TaskUpdate", `{"taskId":"1","status":"completed"}`)
	tests := []struct {
		name   string
		behind string // the call
		held   bool
		status string
	}{
		{"nothing yet", "", true, "pending"},
		{"another answer", reply("m", "a"), true, "pending"},
		{"its result", returns("b", "", `{"success":true}`), false, "completed"},
		{"the end of the turn", turnEnd, false, "pending"},
		{"an interrupt", interrupt, false, "pending"},
		{"a prompt", prompt("next"), false, "pending"},
		{"something injected", prompt("<system-reminder>x</system-reminder>"), true, "pending"},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "a.jsonl")
			first := creates("a", "1", "one")
			write(t, path, first+call+tc.behind)
			p, err := Advance(history.Progress{}, path)
			require.NoError(t, err)
			assert.Equal(t, tc.status, p.Tasks[0].Status)
			want := int64(len(first + call + tc.behind))
			if tc.held {
				want = int64(len(first))
			}
			assert.Equal(t, want, p.Offset)
			appendTo(t, path, turnEnd)
			p, err = Advance(p, path)
			require.NoError(t, err)
			assert.Greater(t, p.Offset, want)
			assert.Equal(t, tc.status, p.Tasks[0].Status)
		})
	}
}

// The mode waits for no result: the process may be gone, and what it was switched to
// last is all that a restore goes by.
func TestProgressTakesModeAfterCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	first := creates("a", "1", "one") + `{"type":"permission-mode","permissionMode":"acceptEdits"}` + "\n"
	write(t, path, first+calls("b", "TodoWrite", `{"todos":[]}`)+planMode)
	p, err := Advance(history.Progress{}, path)
	require.NoError(t, err)
	assert.Equal(t, "plan", p.PermissionMode)
	assert.Equal(t, int64(len(first)), p.Offset, "the call is left for the next time")
	p, err = Advance(p, path)
	require.NoError(t, err)
	assert.Equal(t, "plan", p.PermissionMode)
	appendTo(t, path, returns("b", "", "{}"))
	p, err = Advance(p, path)
	require.NoError(t, err)
	assert.Equal(t, "plan", p.PermissionMode)
	assert.Empty(t, p.Tasks)
}

func TestProgressIsBounded(t *testing.T) {
	var content strings.Builder
	for i := range 130 {
		content.WriteString(creates(fmt.Sprint("c", i), fmt.Sprint(i), strings.Repeat("ä", 500)))
		if i < 10 {
			content.WriteString(calls(fmt.Sprint("u", i), "TaskUpdate", fmt.Sprintf(`{"taskId":"%d","status":"completed"}`, 2*i)) +
				returns(fmt.Sprint("u", i), "", `{"success":true}`))
		}
	}
	p := advanced(t, content.String())
	require.Len(t, p.Tasks, maxTasks)
	assert.Equal(t, strings.Repeat("ä", jsonl.MaxText), p.Tasks[0].Text)
	assert.Equal(t, "129", p.Tasks[99].ID)
	for _, task := range p.Tasks {
		assert.Equal(t, "pending", task.Status, "finished ones go first")
	}
}

// An earlier value stays what it was: it may be a record's that others read.
func TestProgressChangesNoEarlierValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jsonl")
	write(t, path, creates("a", "1", "one")+creates("b", "2", "two"))
	p, err := Advance(history.Progress{}, path)
	require.NoError(t, err)
	before := slices.Clone(p.Tasks)
	appendTo(t, path, calls("c", "TaskUpdate", `{"taskId":"1","status":"completed"}`)+returns("c", "", "{}")+
		calls("d", "TaskUpdate", `{"taskId":"2","status":"deleted"}`)+returns("d", "", "{}")+creates("e", "3", "three"))
	next, err := Advance(p, path)
	require.NoError(t, err)
	assert.Equal(t, before, p.Tasks)
	assert.Equal(t, []port.Task{{ID: "1", Text: "one", Status: "completed"}, {ID: "3", Text: "three", Status: "pending"}}, next.Tasks)
}

func FuzzProgress(f *testing.F) {
	for _, name := range []string{"todo.jsonl", "ends.jsonl"} {
		f.Add(recording(f, name))
	}
	f.Add(creates("a", "1", "one") + calls("b", "TaskList", "{}") + returns("b", "", `{"tasks":[{"id":1}]}`))
	f.Fuzz(func(t *testing.T, content string) {
		p := advanced(t, content)
		assert.LessOrEqual(t, len(p.Tasks), maxTasks)
		assert.LessOrEqual(t, p.Offset, int64(len(content)))
	})
}

// Most of a long transcript is what tools have read and printed.
func BenchmarkProgress(b *testing.B) {
	path := filepath.Join(b.TempDir(), "a.jsonl")
	var content strings.Builder
	for i := range 1000 {
		content.WriteString(creates(fmt.Sprint("c", i), fmt.Sprint(i), "text") + calls(fmt.Sprint("b", i), "Bash", "{}") +
			returns(fmt.Sprint("b", i), strings.Repeat("x", 20_000), "{}") + turnEnd)
	}
	write(b, path, content.String())
	b.SetBytes(int64(content.Len()))
	for b.Loop() {
		if p, err := Advance(history.Progress{}, path); err != nil || p.Turns != 1000 {
			b.Fatal(p.Turns, err)
		}
	}
}

// A turn is open from its first line on until its end is written, and what ends an agent writes
// none: with SIGTERM, SIGHUP, SIGKILL and the end of the tmux server the last lines are the prompt
// and the call that was under way (2.1.328).
func TestProgressOpenTurn(t *testing.T) {
	dated := func(line, at string) string { return strings.Replace(line, `{`, `{"timestamp":"`+at+`",`, 1) }
	asks := `{"type":"user","permissionMode":"default","origin":{"kind":"human"},"message":{"content":"go"}}` + "\n"
	failed := `{"type":"assistant","isApiErrorMessage":true,"message":{"id":"e","model":"<synthetic>","content":[{"type":"text","text":"API Error"}],"usage":{}}}` + "\n"
	const first, second = "2026-11-21T17:25:47.694Z", "2026-11-21T17:25:48Z"
	tests := []struct {
		name    string
		content string
		want    *history.Turn
		well    int
	}{
		{"a prompt", dated(asks, first), &history.Turn{At: at(first)}, 0},
		{"one that is a picture", dated(strings.Replace(asks, `"go"`, `[{"type":"image","source":{"data":"aGk="}}]`, 1), first), &history.Turn{At: at(first)}, 0},
		{"a call that waits for its result", dated(asks, first) + dated(calls("a", "Bash", `{"command":"make  test\n","description":"x"}`), second),
			&history.Turn{At: at(second), Step: "make test"}, 0},
		{"a call that has one", asks + dated(calls("a", "Edit", `{"file_path":"a.go"}`), first) + returns("a", "ok", "{}"), &history.Turn{At: at(first), Step: "Edit a.go"}, 0},
		{"a word after it", asks + calls("a", "Edit", `{"file_path":"a.go"}`) + returns("a", "ok", "{}") + dated(reply("m", "done"), second),
			&history.Turn{At: at(second), Step: "Edit a.go"}, 0},
		{"a tool that is not known", calls("a", "mcp__x__y", `{"n":1}`), &history.Turn{Step: "mcp__x__y"}, 0},
		{"an input that is none", calls("a", "Bash", `[]`), &history.Turn{Step: "Bash"}, 0},
		{"to-do items are no step", calls("a", "Bash", `{"command":"ls"}`) + returns("a", "", "{}") + calls("b", "TodoWrite", `{"todos":[]}`), &history.Turn{Step: "ls"}, 0},
		{"the next prompt begins anew", calls("a", "Bash", `{"command":"ls"}`) + dated(asks, first), &history.Turn{At: at(first)}, 0},
		{"its end", asks + calls("a", "Bash", `{"command":"ls"}`) + turnEnd, nil, 1},
		{"an interrupt ends it, though not well", asks + interrupt, nil, 0},
		{"and so does an error", asks + failed, nil, 0},
		{"also one without words", asks + strings.Replace(failed, `{"type":"text","text":"API Error"}`, "", 1), nil, 0},
		{"its end with the mark of an injected line", asks + strings.Replace(turnEnd, `{`, `{"isMeta":true,`, 1), nil, 1},
		{"a turn that nobody asked for", turnEnd + dated(reply("m", "a"), first), &history.Turn{At: at(first)}, 1},
		{"of a subagent", strings.Replace(calls("a", "Bash", `{"command":"ls"}`), `{`, `{"isSidechain":true,`, 1), nil, 0},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			got := advanced(t, tc.content)
			assert.Equal(t, tc.want, got.OpenTurn)
			assert.Equal(t, tc.well, got.TurnsWell)
		})
	}
}
