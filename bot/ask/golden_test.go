package ask

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudeask"
	"ccbot/port/talk"
)

var update = flag.Bool("update", false, "write the golden file anew")

// goldenStates are requests of every kind of tool, with every kind of input.
func goldenStates() (names []string, states map[string]State) {
	states = make(map[string]State)
	add := func(name string, s State) { names, states[name] = append(names, name), s }
	lines, wide := strings.Repeat("echo hello\n", 500), strings.Repeat("x", 3000)
	dirs := `{"type":"addDirectories","directories":["/home/u/x","/opt"]}`
	every := `{"type":"addRules","rules":[{"toolName":"WebFetch"},{"toolName":"Bash","ruleContent":"ls (every use)"}],"behavior":"allow"}`
	many := `{"type":"addRules","rules":[{"toolName":"A"},{"toolName":"B"},{"toolName":"C"},{"toolName":"D"},{"toolName":"E"}],"behavior":"allow"}`
	own := `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls"}],"behavior":"allow","destination":"projectSettings"}`
	mode := `{"type":"setMode","mode":"acceptEdits","destination":"session"}`
	odd := `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls\u200b"}],"behavior":"allow"}`

	add("command", stateOf("Bash", `{"command":"ls"}`))
	add("command with everything", stateOf("Bash", `{"command":"npm test","description":"Run the tests","timeout":120000,"run_in_background":true,"dangerouslyDisableSandbox":true}`, npmRule))
	add("command with rules", stateOf("Bash", `{"command":"ls"}`, every, dirs))
	add("command, its own rule", stateOf("Bash", `{"command":"ls"}`, own))
	add("command, a rule with a star", stateOf("Bash", `{"command":"ls *"}`, strings.ReplaceAll(own, `"ls"`, `"ls *"`)))
	add("command, many rules", stateOf("Bash", `{"command":"ls"}`, many))
	add("command, invisible rule", stateOf("Bash", `{"command":"ls"}`, odd))
	add("command, long rule", stateOf("Bash", `{"command":"ls"}`, strings.ReplaceAll(own, `"ls"`, `"`+wide[:200]+`"`)))
	add("command, mode and folder alone", stateOf("Bash", `{"command":"ls"}`, mode, dirs))
	add("command, null suggestion", stateOf("Bash", `{"command":"ls"}`, `null`))
	add("command of many lines", stateOf("Bash", object("command", lines)))
	add("command, wide", stateOf("Bash", object("command", wide, "description", "ls")))
	add("command, formatted", stateOf("Bash", `{"command":"echo '</pre>' 𝒳","description":"@all *now* <b> & \"x\""}`))
	add("command, not a text", stateOf("Bash", `{"command":["ls"],"Command":"rm <&>","a":"","b":" x","c":"\"q\"","d":"two\nlines","e":null,"f":{"x":[1.50,"<"]}}`))
	add("command, hidden", stateOf("Bash", object("command", "echo \u202egnp.exe \x1b[8mrm\r\t\u200b"+strings.Repeat(" ", 90)+"x"+strings.Repeat("\n", 30)+"end")))
	add("command, half a character", stateOf("Bash", `{"command":"echo \ud800","command2":1e999}`))
	add("command, key twice", stateOf("Bash", `{"command":"ls","command":"rm","a\u200fb":1}`))
	add("command, right to left", stateOf("Bash", object("command", "deploy א 1", "description", "א 1")))
	add("command, blank", stateOf("Bash", `{"command":" \n","description":" "}`))
	add("edit", stateOf("Edit", object("file_path", "/home/u/proj/a.go", "old_string", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj", "new_string", "a\nB\nc\nd\ne\nf\ng\nh\ni\nJ", "replace_all", false)))
	add("edit, input in another order", stateOf("Edit", `{"replace_all":true,"new_string":"x\ny","old_string":"","file_path":"/home/user/a","more":1}`))
	add("edit, nothing changes", stateOf("Edit", `{"file_path":"/a","old_string":"x","new_string":"x","replace_all":"yes"}`))
	add("edit, not texts", stateOf("Edit", `{"file_path":7,"old_string":"x","new_string":["x"]}`))
	add("edit, tabs and ends", stateOf("Edit", object("file_path", "/a.go", "old_string", "\ta\n\n\tb\n", "new_string", "    a\n\n\tb א 1")))
	add("edit, hidden", stateOf("Edit", object("file_path", "/a.go", "old_string", "a\u200b", "new_string", strings.Repeat("\n", 9)+"b")))
	add("edit, long", stateOf("Edit", object("file_path", "/a.go", "old_string", lines, "new_string", strings.ReplaceAll(lines, "hello", "world"))))
	add("edit, beyond a diff", stateOf("Edit", object("file_path", "/a.go", "old_string", strings.Repeat("a\n", 20_000), "new_string", strings.Repeat("b\n", 20_000))))
	add("many edits", stateOf("MultiEdit", `{"file_path":"/a","edits":[{"old_string":"","new_string":"x"}]}`))
	add("notebook", stateOf("NotebookEdit", `{"notebook_path":"/n.ipynb","new_source":"print(1)\n","cell_id":"c1","edit_mode":"insert"}`))
	add("file", stateOf("Write", `{"content":"one\ntwo\n","file_path":"/home/user/x"}`))
	add("file, empty", stateOf("Write", `{"file_path":"/x","content":""}`))
	add("file, long", stateOf("Write", object("file_path", "/home/u/a", "content", strings.Repeat("0123456789\n", 11_000))))
	add("file, huge", stateOf("Write", object("file_path", "/home/u/a", "content", strings.Repeat("0123456789\n", 20_000), "more", map[string]string{"x": wide})))
	add("read", stateOf("Read", `{"file_path":"/home/u/x","limit":3,"offset":9}`))
	add("read, blank at an end", stateOf("Read", `{"file_path":" /x"}`))
	add("glob", stateOf("Glob", `{"pattern":"**/*.go","path":"/home/u"}`))
	add("grep", stateOf("Grep", `{"pattern":"a.*","path":"/home/u","-n":true,"output_mode":"content"}`))
	add("fetch", stateOf("WebFetch", `{"url":"https://e.com/?a","prompt":"Sum\nup"}`, every))
	add("web search", stateOf("WebSearch", `{"query":"go 1.26","allowed_domains":["a"]}`))
	add("server's tool", stateOf("mcp__git_hub__new_issue", `{"title":"a <b>\n","n":{"x":[1.50,null]}}`))
	add("unknown tool", stateOf("Skill", `{"skill":"\" /x\"","e":{},"l":[]}`))
	add("tool without input", stateOf("mcp__x", `{}`))
	add("tool with a long name", stateOf(wide[:200], `{"a":1}`))
	add("tool, deep", stateOf("X", `{"a":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`))
	add("tool, many fields", stateOf("X", object(manyFields()...)))
	add("plan", stateOf("ExitPlanMode", object("plan", somePlan, "planFilePath", "/home/u/.claude/plans/x.md")))
	add("plan, link", stateOf("ExitPlanMode", object("plan", "Read [this](https://evil.example)"), npmRule))
	add("plan, none", stateOf("ExitPlanMode", `{}`))
	add("plan, long", stateOf("ExitPlanMode", object("plan", lines, "allowedPrompts", []string{"a"})))
	add("questions", stateOf("AskUserQuestion", twoQuestions))
	add("question, more", stateOf("AskUserQuestion", `{"more":{"a":1},"questions":[{"question":"One?","x":"y","options":[{"label":"`+wide[:60]+`","preview":"a\nb"},{"label":"B","description":"*b*"}]}]}`, npmRule))
	add("question, long", stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "A?" + wide, "options": []any{map[string]any{"label": "x"}}}})))
	add("question, too long", stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "A?", "options": []any{map[string]any{"label": "x", "description": strings.Repeat("d ", 50_000)}}}})))
	add("question, huge", stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "A?", "options": []any{map[string]any{"label": "x", "description": strings.Repeat("d ", 90_000)}}}})))
	add("question, hidden", stateOf("AskUserQuestion", strings.Replace(twoQuestions, "OTEL", "OT\u200bEL", 1)))
	add("question, unseen label", stateOf("AskUserQuestion", `{"questions":[{"question":"A?","options":[{"label":"\u200b"}]}]}`))
	add("question, twice", stateOf("AskUserQuestion", `{"questions":[{"question":"A?","options":[{"label":"x"}]},{"question":"A?","options":[{"label":"y"}]}]}`))
	add("question, none", stateOf("AskUserQuestion", `{"questions":[]}`))

	s := stateOf("Bash", `{"command":"ls"}`, npmRule)
	s.Request.SubagentID, s.Request.Subagent, s.Request.Mode, s.Request.Cwd = "a1", "general-purpose", "plan", "/home/u"
	s.Project = []talk.Answerer{talk.AnswersByHook, talk.AnswersByRule, talk.AnswersByPlugin}
	add("subagent", described(s))
	s.Request.Subagent, s.Request.Cwd = "", ""
	add("subagent without a kind", described(s))
	s.Request.SubagentID, s.Request.Subagent, s.Request.Cwd = "", wide[:200]+"\u202e", "/home/u/"+wide[:300]
	add("names that are cut", described(s))
	return names, states
}

// hookOutput returns the output of the hook for a state's decision.
func hookOutput(t *testing.T, s State) string {
	t.Helper()
	d, err := claudeask.Decide(s.Request, *s.Answer)
	require.NoError(t, err)
	data, err := json.Marshal(d)
	require.NoError(t, err)
	return string(data)
}

// goldenSteps are the taps, texts and outcomes that are tried on each request.
var goldenSteps = []string{"", "all", "ok", "ses", "plan", "edit", "no", "why", "why|use <make>\u202e", "desk", "o:0:0", "o:0:1 o:1:2 o:1:0", "o:0:0 b:1",
	"o:0:0 o:1:1 d:1:1", "x:0|My <own>", "o:0:1 o:1:2 x:1|Alerts"}

// goldenStep applies taps, each to the result of the one before. It returns false if one changes
// nothing.
func goldenStep(s State, steps string) (State, bool) {
	taps, text, _ := strings.Cut(steps, "|")
	for _, tap := range strings.Fields(taps) {
		next, err := Tap(s, person, tap, noon)
		if err != nil {
			return s, false
		}
		next.AllShown = next.AllShown || tap == "all"
		s = next
	}
	if text == "" {
		return s, true
	}
	next, err := applyText(s, person, text, noon)
	return next, err == nil
}

// TestP9_CardsStayTheSame compares each kind of card, as a person reads it, and the hook's output
// for each decision with those on record. Long cards are in TestView and in the tests of sizes.
func TestP9_CardsStayTheSame(t *testing.T) {
	path := filepath.Join("testdata", "cards.golden")
	var got strings.Builder
	english := viewer(t, "en")
	names, states := goldenStates()
	for _, name := range names {
		for _, steps := range goldenSteps {
			s, ok := goldenStep(states[name], steps)
			if !ok {
				continue
			}
			fmt.Fprintf(&got, "== %s, after %q\n", name, steps)
			if s.Answer != nil {
				fmt.Fprintln(&got, hookOutput(t, s))
			}
			if v := english.View(s, "work"); len(v.Text.Text) < 800 {
				fmt.Fprintln(&got, screen(v))
			}
		}
	}
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o700))
		require.NoError(t, os.WriteFile(path, []byte(got.String()), 0o600))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	wantCards, gotCards := strings.Split(string(want), "\n== "), strings.Split(got.String(), "\n== ")
	require.Len(t, gotCards, len(wantCards))
	for i := range wantCards {
		assert.Equal(t, wantCards[i], gotCards[i])
	}
}
