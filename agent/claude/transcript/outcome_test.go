package transcript

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

const (
	// Of Claude Code 2.1.328; long lines that hold no call were taken out.
	recorded = "testdata/permissions.jsonl"
	askInput = `{"questions":[{"question":"Which database?","header":"Database","options":[{"label":"Postgres","description":"Relational"},` +
		`{"label":"SQLite","description":"Embedded"},{"label":"Redis","description":"In memory"}],"multiSelect":false},` +
		`{"question":"Which language?","header":"Language","options":[{"label":"Go","description":"Compiled"},{"label":"Python","description":"Interpreted"}],"multiSelect":false}]}`
	rejected = "The user doesn't want to proceed with this tool use. The tool use was rejected"
)

func TestFindOutcomeRecorded(t *testing.T) {
	bash := func(command string) string { return `{"command":"` + command + `","description":"scripted command"}` }
	tests := []struct {
		name, tool, input, at, subagent string
		want                            talk.RequestOutcome // Text is only the beginning
	}{
		{"allowed by the hook", "Bash", bash("touch one.txt; echo allowed"), "14:07:59.169", "",
			talk.RequestOutcome{ToolID: "toolu_659f76ee0827441b98712c98", ByHook: "allow", Done: true, Text: "allowed"}},
		{"denied by the hook, the same command", "Bash", bash("touch one.txt; echo allowed"), "14:08:01.425", "",
			talk.RequestOutcome{ToolID: "toolu_5b719fca74274d29ad1a0d21", ByHook: "deny", Done: true, Denial: "permission-rule", Text: "not now"}},
		{"allowed at the desk", "Bash", bash("touch two.txt; echo desk"), "14:08:03.066", "",
			talk.RequestOutcome{ToolID: "toolu_d47d24eeb85d4e6ebc6e8b83", Done: true, Text: "desk"}},
		{"Esc at the desk", "Bash", bash("touch two.txt; echo desk"), "14:08:05.659", "",
			talk.RequestOutcome{ToolID: "toolu_d2a2e4b3f3744563ad203b50", Done: true, Denial: "user-rejected", Text: rejected, Interrupted: true}},
		{"a file written", "Write", `{"content":"before\nscripted\n","file_path":"/home/u/work/new.txt"}`, "14:08:08.082", "",
			talk.RequestOutcome{ToolID: "toolu_9ad2bd2e102045b1a1e2e394", ByHook: "allow", Done: true, Text: "File created successfully"}},
		{"an edit, keys in another order", "Edit", `{"file_path":"/home/u/work/new.txt","old_string":"before","new_string":"after","replace_all":false}`, "14:08:10.476", "",
			talk.RequestOutcome{ToolID: "toolu_685d85c78bff4a8689084ed7", ByHook: "allow", Done: true, Text: "The file /home/u/work/new.txt has been updated"}},
		{"questions answered", "AskUserQuestion", askInput, "14:08:12.390", "",
			talk.RequestOutcome{ToolID: "toolu_9f94476df4f34d1da4708685", ByHook: "allow", Done: true, Text: `Your questions have been answered: "Which database?"="SQLite"`}},
		{"first of two equal calls of one message", "Bash", bash("touch t.txt; echo twice"), "14:08:13.766", "",
			talk.RequestOutcome{ToolID: "toolu_00a4444f18824a2eab3d903b", ByHook: "allow", Done: true, Text: "twice"}},
		{"second of two equal calls of one message", "Bash", bash("touch t.txt; echo twice"), "14:08:14.541", "",
			talk.RequestOutcome{ToolID: "toolu_0c7f3a96cf9b4bada784ee50", ByHook: "deny", Done: true, Denial: "permission-rule", Text: "once is enough"}},
		{"of a subagent", "Bash", bash("touch sub.txt; echo subdone"), "14:08:16.807", "a279719bb2bee30eb",
			talk.RequestOutcome{ToolID: "toolu_d87dd63a6acc4434882509af", ByHook: "allow", Done: true, Text: "subdone"}},
		{"a plan approved", "ExitPlanMode", `{"plan":"# Scripted plan\n\n1. Do the first thing\n2. Do the second thing\n","planFilePath":"/home/u/.claude/plans/plan-ethereal-squirrel.md"}`, "14:08:20.895", "",
			talk.RequestOutcome{ToolID: "toolu_fa50235add0b4d9e9a23b7e7", ByHook: "allow", Done: true, Text: "User has approved your plan."}},
		{"killed while the dialog was open", "Bash", bash("touch killed.txt"), "14:08:22.666", "",
			talk.RequestOutcome{ToolID: "toolu_50b5ad9bc9b8416ba8f75930"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at, err := time.Parse(time.RFC3339Nano, "2026-11-20T"+tt.at+"Z")
			require.NoError(t, err)
			got, found, err := FindOutcome(t.Context(), Sought{Path: recorded, Subagent: tt.subagent, Tool: tt.tool, Input: json.RawMessage(tt.input), At: at})
			require.NoError(t, err)
			require.True(t, found)
			assert.True(t, strings.HasPrefix(got.Text, tt.want.Text), "the result begins %.80q", got.Text)
			got.Text = tt.want.Text
			assert.Equal(t, tt.want, got)
		})
	}
}

// TestP7_OutcomesAtTheDesk reads what the oldest and the newest version of Claude Code have written
// about permissions that were answered at the desk. 2.1.128 writes no kind of a denial.
func TestP7_OutcomesAtTheDesk(t *testing.T) {
	type o = talk.RequestOutcome
	no := o{Done: true, Denial: "user-rejected", Interrupted: true}
	for _, tt := range []struct {
		version, command, at string
		want                 o
	}{
		{"2.1.128", "touch m-Escape", "00:51:26.3", no},
		{"2.1.128", "touch m-No", "00:51:31.8", no},
		{"2.1.128", "touch m-1", "00:51:36.8", o{Done: true}},
		{"2.1.128", "sleep 33; touch m-run", "00:51:41.8", o{Done: true}}, // it was allowed, and interrupted while it ran
		{"2.1.328", "touch m-Escape", "00:53:41", no},
		{"2.1.328", "touch m-No", "00:53:46", no},
		{"2.1.328", "touch m-1", "00:53:51.2", o{Done: true}},
		{"2.1.328", "tail -f /dev/null; touch m-run", "00:53:56.4", no}, // the same words as those of a denial
	} {
		input := `{"command":"` + tt.command + `","description":"scripted command"}`
		at, err := time.Parse(time.RFC3339Nano, "2026-11-29T"+tt.at+"Z")
		require.NoError(t, err)
		got, found, err := FindOutcome(t.Context(), Sought{Path: filepath.Join("testdata", "permissions-"+tt.version+".jsonl"), Tool: "Bash",
			Input: json.RawMessage(input), At: at})
		require.NoError(t, err)
		assert.True(t, found, tt.version+": "+tt.command)
		tt.want.ToolID, got.Text = got.ToolID, ""
		assert.Equal(t, tt.want, got, tt.version+": "+tt.command)
	}
}

// No denial looks like a permission, and a word that ccbot does not know is none.
func TestP7_UnknownWordsAllowNothing(t *testing.T) {
	type o = talk.RequestOutcome
	const denied = "The user doesn't want to proceed with this tool use. The tool use was rejected"
	for name, tt := range map[string]struct {
		tool, kind, text string
		isError          bool
		want             o
	}{
		"a result":                                {"Bash", "", "done", false, o{Done: true}},
		"a failed command":                        {"Bash", "", "Exit code 1", true, o{Done: true}},
		"a command that shows a denial":           {"Bash", "", denied, false, o{Done: true}},
		"a denial of a person, 2.1.128":           {"Bash", "", denied, true, o{Done: true, Denial: "user-rejected"}},
		"a denial of a rule, 2.1.128":             {"Bash", "", "Permission to use Bash has been denied.", true, o{Done: true, Denial: "permission-rule"}},
		"a denial of a classifier, 2.1.128":       {"Bash", "", "Permission for this action has been denied. Reason: x", true, o{Done: true, Denial: "permission-rule"}},
		"what an MCP server says":                 {"mcp__x__y", "", denied, true, o{Done: true, Unclear: true}},
		"a rule":                                  {"Bash", "permission-rule", "no", true, o{Done: true, Denial: "permission-rule"}},
		"auto mode":                               {"Bash", "automode-blocked", "no", true, o{Done: true, Denial: "automode-blocked"}},
		"interrupted while it ran":                {"Bash", "interrupted", "no", true, o{Done: true, Interrupted: true}},
		"cancelled with its turn":                 {"Bash", "cancelled", "no", true, o{Done: true, Interrupted: true}},
		"a kind of a version that does not exist": {"Bash", "postponed", "no", true, o{Done: true, Unclear: true}},
	} {
		t.Run(name, func(t *testing.T) {
			call := `{"type":"assistant","timestamp":"2026-11-20T10:00:00.500Z","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"` + tt.tool + `","input":{}}]}}`
			result, err := json.Marshal(map[string]any{"type": "user", "timestamp": "2026-11-20T10:00:01.500Z", "toolDenialKind": tt.kind,
				"message": map[string]any{"content": []any{map[string]any{"type": "tool_result", "tool_use_id": "a", "is_error": tt.isError, "content": tt.text}}}})
			require.NoError(t, err)
			got, found, err := FindOutcome(t.Context(), Sought{Path: story(t, call, string(result)), Tool: tt.tool, Input: json.RawMessage(`{}`), At: second(0.7)})
			require.NoError(t, err)
			assert.True(t, found)
			tt.want.ToolID, got.Text = "a", ""
			assert.Equal(t, tt.want, got)
		})
	}
	o1, _, err := FindOutcome(t.Context(), Sought{Path: story(t, "call a m1", "decision a ask"), Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), At: second(0.7)})
	require.NoError(t, err)
	assert.Equal(t, o{ToolID: "a"}, o1, "a hook that leaves it to the person decides nothing")
}

// story writes transcript lines: each a few words, dated a second apart from 10:00:00.
func story(t *testing.T, steps ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s.jsonl")
	var b strings.Builder
	for i, step := range steps {
		words := strings.SplitN(step, " ", 3)
		head := fmt.Sprintf(`{"uuid":"u%d","timestamp":"2026-11-20T10:00:%02d.500Z",`, i, i)
		switch words[0] {
		case "call": // call ID MESSAGE
			fmt.Fprintf(&b, `%s"type":"assistant","message":{"id":%q,"content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":"x"}}]}}`, head, words[2], words[1])
		case "text": // text MESSAGE
			fmt.Fprintf(&b, `%s"type":"assistant","message":{"id":%q,"content":[{"type":"text","text":"so"}]}}`, head, words[1])
		case "decision": // decision ID allow
			fmt.Fprintf(&b, `%s"type":"attachment","attachment":{"type":"hook_permission_decision","decision":%q,"toolUseID":%q}}`, head, words[2], words[1])
		case "result": // result ID TEXT
			fmt.Fprintf(&b, `%s"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}}`, head, words[1], words[2])
		case "rejected": // rejected ID
			fmt.Fprintf(&b, `%s"type":"user","toolDenialKind":"user-rejected","message":{"content":[{"type":"tool_result","tool_use_id":%q,"is_error":true,"content":"no"}]}}`, head, words[1])
		case "interrupt":
			fmt.Fprintf(&b, `%s"type":"user","message":{"content":[{"type":"text","text":"[Request interrupted by user for tool use]"}]}}`, head)
		default: // as it is
			b.WriteString(step)
		}
		b.WriteByte('\n')
	}
	require.NoError(t, os.WriteFile(path, []byte(b.String()), 0o600))
	return path
}

// second is a moment of a story: 3.7 is after the fourth step and before the fifth.
func second(s float64) time.Time {
	return time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC).Add(time.Duration(s * float64(time.Second)))
}

func TestFindOutcomePicksTheCall(t *testing.T) {
	done := func(id, by string) talk.RequestOutcome {
		return talk.RequestOutcome{ToolID: id, ByHook: by, Done: true, Text: "r"}
	}
	tests := []struct {
		name  string
		at    float64
		steps []string
		want  talk.RequestOutcome // without ToolID: not found
	}{
		{"no result yet", 0.7, []string{"call a m1"}, talk.RequestOutcome{ToolID: "a"}},
		{"the first of two open calls", 0.7, []string{"call a m1", "call b m1"}, talk.RequestOutcome{ToolID: "a"}},
		{"the second, when the first was done", 2.7, []string{"call a m1", "call b m1", "result a r"}, talk.RequestOutcome{ToolID: "b"}},
		{"an earlier ask of the same is not taken", 2.7, []string{"call a m1", "result a r", "call b m2", "decision b allow", "result b r"}, done("b", "allow")},
		{"a later ask of the same is not taken", 0.7, []string{"call a m1", "result a r", "call b m2"}, done("a", "")},
		{"its line is still to come", 1.51, []string{"call a m1", "result a r"}, talk.RequestOutcome{}},
		{"its line never came", 0.1, []string{"text m0", "text m1", "call b m2"}, talk.RequestOutcome{}},
		{"a result in the same millisecond counts", 1.5004, []string{"call a m1", "result a r"}, done("a", "")},
		{"one that a crash left is passed", 2.7, []string{"call a m1", "text m2", "call b m2"}, talk.RequestOutcome{ToolID: "b"}},
		{"only one that a crash left", 0.7, []string{"call a m1", "text m2"}, talk.RequestOutcome{ToolID: "a"}},
		{"a result after the conversation went on", 0.7, []string{"call a m1", "text m2", "result a r"}, done("a", "")},
		{"interrupted while it was open", 0.7, []string{"call a m1", "interrupt"}, talk.RequestOutcome{ToolID: "a", Interrupted: true}},
		{"rejected and interrupted", 0.7, []string{"call a m1", "rejected a", "interrupt"},
			talk.RequestOutcome{ToolID: "a", Done: true, Denial: "user-rejected", Text: "no", Interrupted: true}},
		{"an interrupt after its result", 0.7, []string{"call a m1", "call b m1", "result a r", "rejected b", "interrupt"}, done("a", "")},
		{"an interrupt of a later message", 0.7, []string{"call a m1", "result a r", "text m2", "interrupt"}, done("a", "")},
		{"a decision about another call", 0.7, []string{"call a m1", "decision zz deny", "result a r"}, done("a", "")},
		{"half a line at the end", 0.7, []string{"call a m1", "decision a allow", `{"type":"user","message":{"content":[{"type":"tool_result","tool_us`}, talk.RequestOutcome{ToolID: "a", ByHook: "allow"}},
		{"a line that is no JSON", 0.7, []string{"call a m1", "{broken", "result a r"}, done("a", "")},
		{"nothing at all", 0.7, nil, talk.RequestOutcome{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, found, err := FindOutcome(t.Context(), Sought{Path: story(t, tt.steps...), Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), At: second(tt.at)})
			require.NoError(t, err)
			assert.Equal(t, tt.want.ToolID != "", found)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestFindOutcomeComparesByValue(t *testing.T) {
	path := story(t, `{"type":"assistant","timestamp":"2026-11-20T10:00:00Z","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"T",`+
		`"input":{"n":1.0,"s":"a<b \u00e9","list":[1,{"k":null}],"big":9007199254740993}}]}}`)
	tests := []struct {
		name, tool, input string
		found             bool
	}{
		{"order and spelling", "T", `{"list":[1e0,{"k":null}],"big":9007199254740993,"s":"a\u003cb é","n":1}`, true},
		{"another value", "T", `{"n":2,"s":"a<b é","list":[1,{"k":null}],"big":9007199254740993}`, false},
		{"a key less", "T", `{"n":1,"s":"a<b é","big":9007199254740993}`, false},
		{"a number is no text", "T", `{"n":"1","s":"a<b é","list":[1,{"k":null}],"big":9007199254740993}`, false},
		{"another tool", "U", `{"n":1,"s":"a<b é","list":[1,{"k":null}],"big":9007199254740993}`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, found, err := FindOutcome(t.Context(), Sought{Path: path, Tool: tt.tool, Input: json.RawMessage(tt.input), At: second(1)})
			require.NoError(t, err)
			assert.Equal(t, tt.found, found)
		})
	}
}

func TestFindOutcomeReadsOnlyNearby(t *testing.T) {
	filler := `{"type":"user","message":{"content":"` + strings.Repeat("y", 300<<10) + `"}}`
	steps := []string{"call a m1", filler, filler, filler, filler, "call b m2", "result b r"}
	path := story(t, steps...)
	info, err := os.Stat(path)
	require.NoError(t, err)
	s := Sought{Path: path, From: info.Size(), Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), At: second(5.7)}

	got, found, err := FindOutcome(t.Context(), s)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, "b", got.ToolID)

	s.At = second(0.7)
	_, found, err = FindOutcome(t.Context(), s)
	require.NoError(t, err)
	assert.False(t, found, "the call stands too far before the place where the hook ran")

	s.From = 10 * info.Size() // another file than the hook saw: its end counts
	s.At = second(5.7)
	_, found, err = FindOutcome(t.Context(), s)
	require.NoError(t, err)
	assert.True(t, found)
}

func TestFindOutcomeWithoutAnswer(t *testing.T) {
	dir := t.TempDir()
	input := json.RawMessage(`{"command":"x"}`)
	for _, s := range []Sought{
		{Path: filepath.Join(dir, "none.jsonl"), Tool: "Bash", Input: input},
		{Path: filepath.Join(dir, "none.jsonl"), Subagent: "abc", Tool: "Bash", Input: input},
	} {
		_, found, err := FindOutcome(t.Context(), s)
		assert.NoError(t, err)
		assert.False(t, found)
	}
	for name, s := range map[string]Sought{
		"a subagent's id that leads elsewhere": {Path: recorded, Subagent: "../x", Tool: "Bash", Input: input},
		"no input":                             {Path: recorded, Tool: "Bash"},
		"no file":                              {Path: dir, Tool: "Bash", Input: input},
	} {
		_, _, err := FindOutcome(t.Context(), s)
		assert.Error(t, err, name)
	}
}

func TestFindOutcomeEndsWithItsContext(t *testing.T) {
	path := story(t, "call a m1", "result a r")
	s := Sought{Path: path, Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), At: second(0.7)}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err := FindOutcome(ctx, s)
	assert.ErrorIs(t, err, context.Canceled)
}

// TestP10_FindOutcomeReadsNoEndlessFile: text far after the call is not read, in lines or in one,
// and the result that was found before counts. The file is sparse: its zeros are one line.
func TestP10_FindOutcomeReadsNoEndlessFile(t *testing.T) {
	path := story(t, "call a m1")
	near, err := os.Stat(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	require.NoError(t, err)
	far := int64(mostRead) + 8<<20
	result := `{"type":"user","timestamp":"2026-11-20T10:00:05Z","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"r"}]}}`
	_, err = file.WriteAt([]byte("\n"+result+"\n"), far)
	require.NoError(t, err)
	require.NoError(t, file.Close())
	s := Sought{Path: path, Tool: "Bash", Input: json.RawMessage(`{"command":"x"}`), At: second(0.7)}

	o, found, err := FindOutcome(t.Context(), s)
	require.NoError(t, err)
	assert.True(t, found)
	assert.Equal(t, talk.RequestOutcome{ToolID: "a"}, o)

	r := Form().Open(talk.Cursor{Path: path})
	defer r.Close()
	asked, allow := int64(0), within(t.Context(), near.Size())
	r.Allow = func(at int64) error {
		asked = at
		return allow(at)
	}
	_, ok, err := r.Next()
	require.NoError(t, err)
	require.True(t, ok)
	_, _, err = r.Next()
	require.ErrorIs(t, err, errFar)
	assert.LessOrEqual(t, asked, near.Size()+512<<10, "it stops inside a line as well")
}

func FuzzFindOutcome(f *testing.F) {
	data, err := os.ReadFile(recorded)
	require.NoError(f, err)
	f.Add(data[:4000], `{"command":"x"}`)
	f.Add([]byte(`{"type":"attachment","attachment":{"type":"hook_permission_decision","toolUseID":7}}`+"\n"), `null`)
	f.Add([]byte(`{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Bash","input":[1e999]}]}}`+"\n"), `[1e999]`)
	path := filepath.Join(f.TempDir(), "f.jsonl")
	f.Fuzz(func(t *testing.T, data []byte, input string) {
		require.NoError(t, os.WriteFile(path, data, 0o600))
		o, found, err := FindOutcome(t.Context(), Sought{Path: path, Tool: "Bash", Input: json.RawMessage(input), At: second(1)})
		if found {
			require.NoError(t, err)
			assert.NotEmpty(t, o.ToolID)
		}
	})
}

// TestFindOutcomeOfPlanInNewConversation approves a plan with an empty context: the call gets no result.
func TestFindOutcomeOfPlanInNewConversation(t *testing.T) {
	plan := `{"uuid":"u0","timestamp":"2026-11-20T10:00:00.500Z","type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"a","name":"ExitPlanMode","input":{"plan":"# P"}}]}}`
	begun := func(of string) string {
		return `{"type":"mode","mode":"normal"}` + "\n" + `{"type":"user","planContent":"# P","message":{"content":"Implement the following plan:\n\n# P\n\nread the full transcript at: ` + of + `"}}` + "\n"
	}
	tests := []struct {
		name        string
		interrupted bool
		beside      func(path string) string
		want        talk.RequestOutcome
	}{
		{"approved", false, begun, talk.RequestOutcome{ToolID: "a", Done: true}},
		{"still open", false, func(string) string { return "" }, talk.RequestOutcome{ToolID: "a"}},
		{"the plan of another conversation", false, func(string) string { return begun("/else/other.jsonl") }, talk.RequestOutcome{ToolID: "a"}},
		{"another conversation", false, func(path string) string { return `{"type":"user","message":{"content":"see ` + path + `"}}` + "\n" }, talk.RequestOutcome{ToolID: "a"}},
		{"approved, and called interrupted", true, begun, talk.RequestOutcome{ToolID: "a", Done: true}},
		{"left with Esc", true, func(string) string { return "" }, talk.RequestOutcome{ToolID: "a", Done: true, Denial: "user-rejected", Text: "no", Interrupted: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			lines := []string{plan}
			if tt.interrupted {
				lines = append(lines, "rejected a", "interrupt")
			}
			path := story(t, lines...)
			require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(path), "new.jsonl"), []byte(tt.beside(path)), 0o600))
			got, found, err := FindOutcome(t.Context(), Sought{Path: path, Tool: "ExitPlanMode", Input: json.RawMessage(`{"plan":"# P"}`), At: second(0.7)})
			require.NoError(t, err)
			require.True(t, found)
			assert.Equal(t, tt.want, got)
		})
	}
}
