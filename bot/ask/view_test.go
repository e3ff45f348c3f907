package ask

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/go-telegram/bot/models"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/bot/render"
	"ccbot/i18n"
	"ccbot/port/talk"
)

func TestView(t *testing.T) {
	const once = "[Allow]\n[Deny][Deny with reason]"
	heredoc := "cat <<E > f\n" + strings.Repeat("line\n", 40) + "E"
	quotedHeredoc, err := json.Marshal(heredoc)
	require.NoError(t, err)
	tests := []struct {
		name string
		card State
		want string
	}{
		{"a command with all it can have", stateOf("Bash", `{"command":"npm test","description":"Run the tests","timeout":120000,"run_in_background":true,"dangerouslyDisableSandbox":true}`, npmRule),
			"🔐 work wants to run a command\nnpm test\nRun the tests\ntimeout: 120000\nrun_in_background: true\ndangerouslyDisableSandbox: true\nin ~/proj\n" +
				"“Allow for session” also allows, until the session ends:\n• Bash(npm test:*)\n[Allow][Allow for session]\n[Deny][Deny with reason]"},
		{"a command", stateOf("Bash", `{"command":"ls"}`), "🔐 work wants to run a command\nls\nin ~/proj\n" + once},
		{"a rule that changes the mode is no rule", stateOf("Bash", `{"command":"ls"}`, `{"type":"setMode","mode":"plan","destination":"session"}`),
			"🔐 work wants to run a command\nls\nin ~/proj\n" + once},
		{"all edits", stateOf("Write", `{"file_path":"/home/u/x"}`, `{"type":"addRules","rules":[{"toolName":"Write"}],"behavior":"allow"}`, `{"type":"setMode","mode":"acceptEdits","destination":"session"}`),
			"🔐 work wants to write a file\n~/x\nin ~/proj\n“Allow for session” also allows, until the session ends:\n• Write (every use)\n" +
				"“Allow all edits” lets the session change files and run common file commands in its folders, until it ends.\n" +
				"[Allow][Allow for session]\n[Allow all edits]\n[Deny][Deny with reason]"},
		{"a key that only looks like the command's", stateOf("Bash", `{"command":"ls","Command":"rm -rf /"}`), "🔐 work wants to run a command\nls\nCommand: rm -rf /\nin ~/proj\n" + once},
		{"a command that is no text", stateOf("Bash", `{"command":["ls"]}`), "🔐 work wants to run a command\ncommand: [\"ls\"]\nin ~/proj\n" + once},
		{"a command of two lines, with a rule of two lines", stateOf("Bash", object("command", "echo a\necho 👩💻"), `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"echo a\necho *"}],"behavior":"allow"}`),
			"🔐 work wants to run a command\necho a\necho 👩💻\nin ~/proj\n“Allow for session” also allows, until the session ends:\n• Bash(echo a⏎echo *)\n[Allow][Allow for session]\n[Deny][Deny with reason]"},
		{"a long command that is its own rule", stateOf("Bash", object("command", heredoc), `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":`+string(quotedHeredoc)+`}],"behavior":"allow"}`),
			"🔐 work wants to run a command\n" + heredoc + "\nin ~/proj\n“Allow for session” also allows, until the session ends:\n• Bash (this command, exactly as it is)\n[Allow][Allow for session]\n[Deny][Deny with reason]"},
		{"an edit", stateOf("Edit", object("file_path", "/home/u/proj/a.go", "old_string", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj", "new_string", "a\nB\nc\nd\ne\nf\ng\nh\ni\nJ", "replace_all", false)),
			"🔐 work wants to change a file\n~/proj/a.go\n a\n-b\n+B\n c\n d\n e\n⋯\n g\n h\n i\n-j\n+J\nin ~/proj\n" + once},
		{"an edit that changes nothing", stateOf("Edit", `{"file_path":"/a","old_string":"x","new_string":"x","replace_all":"yes"}`),
			"🔐 work wants to change a file\n/a\nold_string: x\nnew_string: x\nreplace_all: yes\nin ~/proj\n" + once},
		{"an edit of every place", stateOf("Edit", `{"file_path":"/a","old_string":"","new_string":"x\ny","replace_all":true}`),
			"🔐 work wants to change a file\n/a\n+x\n+y\nreplace_all: true\nin ~/proj\n" + once},
		{"a file", stateOf("Write", `{"file_path":"/home/user/x","content":"one\ntwo\n"}`), "🔐 work wants to write a file\n/home/user/x\none\ntwo\nin ~/proj\n" + once},
		{"an empty file", stateOf("Write", `{"file_path":"/x","content":""}`), "🔐 work wants to write a file\n/x\ncontent: \"\"\nin ~/proj\n" + once},
		{"a path with a blank at its start", stateOf("Read", `{"file_path":" /x","limit":3}`), "🔐 work wants to read a file\nfile_path: \" /x\"\nlimit: 3\nin ~/proj\n" + once},
		{"a text in quotation marks", stateOf("Skill", `{"skill":"\" /x\""}`), `🔐 work wants to use Skill` + "\nskill: \"\\\" /x\\\"\"\nin ~/proj\n" + once},
		{"tabs", stateOf("Edit", object("file_path", "/a.go", "old_string", "\ta\n\n\tb", "new_string", "    a\n\n\tb")),
			"🔐 work wants to change a file\n/a.go\n-⇥   a\n+    a\n \n ⇥   b\nin ~/proj\n" + once},
		{"a notebook", stateOf("NotebookEdit", `{"notebook_path":"/n.ipynb","new_source":"print(1)","cell_id":"c1"}`),
			"🔐 work wants to change a file\n/n.ipynb\nprint(1)\ncell_id: c1\nin ~/proj\n" + once},
		{"a search", stateOf("Grep", `{"pattern":"a.*","path":"/home/u","-n":true}`), "🔐 work wants to search files\na.*\n~\n-n: true\nin ~/proj\n" + once},
		{"a page", stateOf("WebFetch", `{"url":"https://e.com/?a","prompt":"Sum up"}`), "🔐 work wants to open a web page\nhttps://e.com/?a\nSum up\nin ~/proj\n" + once},
		{"the web", stateOf("WebSearch", `{"query":"go 1.26"}`), "🔐 work wants to search the web\ngo 1.26\nin ~/proj\n" + once},
		{"a server's tool", stateOf("mcp__git_hub__new_issue", `{"title":"a <b>\n","n":{"x":[1.50,null]}}`),
			"🔐 work wants to use mcp__git_hub__new_issue\ntitle: \na <b>⟨1×⏎⟩\nn: {\"x\":[1.50,null]}\nin ~/proj\n" + once},
		{"an unknown tool", stateOf("Skill", `{"skill":"x","e":{},"l":[]}`), "🔐 work wants to use Skill\nskill: x\ne: {}\nl: []\nin ~/proj\n" + once},
		{"nothing", stateOf("mcp__x", `{}`), "🔐 work wants to use mcp__x\nin ~/proj\n" + once},
		{"a plan", stateOf("ExitPlanMode", object("plan", somePlan, "planFilePath", "/home/u/.claude/plans/x.md")),
			"📋 work proposes a plan\nPlan\n\n1. Look at main.go\n2. Change it\n\nfunc main() {}\n\n☐ test\n~/.claude/plans/x.md\nin ~/proj\n[Approve][Approve, allow edits]\n[Deny][Keep planning, say why]"},
		{"a plan with a link", stateOf("ExitPlanMode", object("plan", "Read [this](https://evil.example)")),
			"📋 work proposes a plan\nRead [this](https://evil.example)\nin ~/proj\n[Approve][Approve, allow edits]\n[Deny][Keep planning, say why]"},
		{"a plan without one", stateOf("ExitPlanMode", `{}`), "📋 work proposes a plan\nin ~/proj\n[Approve][Approve, allow edits]\n[Deny][Keep planning, say why]"},
		{"questions that cannot be told apart", stateOf("AskUserQuestion", `{"questions":[{"question":"A?","options":[{"label":"x"}]},{"question":"A?","options":[{"label":"y"}]}]}`),
			"🔐 work wants to use AskUserQuestion\nquestions: [{\"question\":\"A?\",\"options\":[{\"label\":\"x\"}]},{\"question\":\"A?\",\"options\":[{\"label\":\"y\"}]}]\n" +
				"This cannot be answered with buttons. Answer in the terminal.\nin ~/proj\n[Deny][Deny with reason]"},
	}
	v := viewer(t, "en")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			assert.Equal(t, tt.want, screen(v.View(tt.card, "work")))
			assert.True(t, whole(tt.card))
		})
	}
}

func TestView_RulesInEveryLanguage(t *testing.T) {
	s := stateOf("Bash", `{"command":"ls"}`, `{"type":"addRules","rules":[{"toolName":"WebFetch"},{"toolName":"Bash","ruleContent":"ls (every use)"}],"behavior":"allow"}`,
		`{"type":"addDirectories","directories":["/home/u/x"]}`)
	for lang, want := range map[string]string{
		"en": "• WebFetch (every use)\n• Bash(ls (every use))\n• ~/x (folder)",
		"ru": "• WebFetch (любое использование)\n• Bash(ls (every use))\n• ~/x (папка)",
		"zh": "• WebFetch（所有调用）\n• Bash(ls (every use))\n• ~/x（目录）",
	} {
		v := viewer(t, lang)
		assert.Contains(t, v.View(s, "work").Text.Text, want)
		all := v.All(s)
		assert.Contains(t, all[len(all)-1].Text, v.Words.Say(i18n.Noted, i18n.Args{"What": "/home/u/x", "Note": v.Words.Say(i18n.AskDirectory)}))
	}
}

func TestView_Subagent(t *testing.T) {
	s := stateOf("Bash", `{"command":"ls"}`)
	s.Request.SubagentID, s.Request.Subagent, s.Request.Cwd = "a1", "general-purpose", ""
	assert.Equal(t, "🔐 work wants to run a command\nls\nasked by a subagent (general-purpose)", viewer(t, "en").View(s, "work").Text.Text)
	s.Request.Subagent = ""
	assert.Equal(t, "🔐 work wants to run a command\nls\nasked by a subagent", viewer(t, "en").View(s, "work").Text.Text)
}

func TestView_Formatting(t *testing.T) {
	s := stateOf("Bash", `{"command":"echo '</pre>' 𝒳","description":"@all *now*"}`)
	got := viewer(t, "en").View(s, "a*b").Text
	assert.Equal(t, []models.MessageEntity{
		{Type: "bold", Offset: 0, Length: 29},
		{Type: "pre", Offset: 30, Length: 16, Language: "bash"},
		{Type: "blockquote", Offset: 47, Length: 10},
		{Type: "code", Offset: 61, Length: 6},
	}, got.Entities)
}

func TestView_Questions(t *testing.T) {
	v := viewer(t, "en")
	s := stateOf("AskUserQuestion", twoQuestions)
	steps := []struct {
		verb string // and arguments
		want string
	}{
		{"", "❓ work asks (1/2)\nWhich database?\nPostgres — Relational\nSQLite — Embedded\n[Postgres][SQLite]\n[Own words][Skip all]"},
		{"o:0:1", "❓ work asks (2/2)\nWhich features?\nLogs\nTraces — OTEL\nMetrics\n[☐ Logs][☐ Traces]\n[☐ Metrics]\n[Own words][Back]\n[Skip all]"},
		{"b:1", "❓ work asks (1/2)\nWhich database?\nPostgres — Relational\nSQLite — Embedded\n[Postgres][SQLite]\n[Own words][Skip all]"},
		{"o:0:0", ""},
		{"o:1:2", ""},
		{"o:1:1", ""},
		{"o:1:0", ""},
		{"u:1:1", "❓ work asks (2/2)\nWhich features?\nLogs\nTraces — OTEL\nMetrics\n[☑ Logs][☐ Traces]\n[☑ Metrics]\n[Done]\n[Own words][Back]\n[Skip all]"},
		{"d:1:0:2", "❓ work asks\nWhich database?\n→ Postgres\nWhich features?\n→ Logs, Metrics\n\n⏳ Answered in the chat, but not delivered yet: no connection to the session. It is sent as soon as there is one."},
	}
	for _, step := range steps {
		if step.verb != "" {
			var err error
			s, err = Tap(s, person, step.verb, noon)
			require.NoError(t, err, step.verb)
		}
		if step.want != "" {
			assert.Equal(t, step.want, screen(v.View(s, "work")), step.verb)
		}
	}
	assert.Equal(t, []string{"Postgres", "Logs, Metrics"}, s.Answer.Answers)
}

// What a button says whole is not said in the text too; a long label has a row of its own.
func TestView_OptionsAreSaidOnce(t *testing.T) {
	v := viewer(t, "en")
	s := stateOf("AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"A colour between"},{"label":"Blue"},{"label":"Green"}]}]}`)
	assert.Equal(t, "❓ work asks\nWhich?\n[Red]\n[A colour between]\n[Blue][Green]\n[Own words][Skip]", screen(v.View(s, "work")))
	s = stateOf("AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"R\u200bed"},{"label":"Blue"}]}]}`)
	assert.Contains(t, screen(v.View(s, "work")), "R⟨U+200B⟩ed\nBlue\n", "without buttons the text has them")
}

// TestView_OptionsStayWhileWriting: the buttons are gone then, and the ticks are sent with the words.
func TestView_OptionsStayWhileWriting(t *testing.T) {
	v, s := viewer(t, "en"), stateOf("AskUserQuestion", `{"questions":[{"question":"Which?","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":true}]}`)
	for _, option := range []string{"o:0:1", "x:0"} {
		var err error
		s, err = Tap(s, person, option, noon)
		require.NoError(t, err)
	}
	assert.Contains(t, screen(v.View(s, "work")), "Which?\n☐ Red\n☑ Blue\n")
}

// TestView_LongQuestionTakesOwnWords: the lines of its options make it too long for one message.
func TestView_LongQuestionTakesOwnWords(t *testing.T) {
	s := stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": strings.Repeat("x", maxBody-9), "options": []any{
		map[string]any{"label": "Red"}, map[string]any{"label": "Blue and green"}}}}))
	require.True(t, whole(s))
	s, err := Tap(s, person, "x:0", noon)
	require.NoError(t, err)
	_, err = applyText(s, person, "Yellow", noon)
	require.NoError(t, err)
}

func TestP9_HiddenInputCannotBeAllowed(t *testing.T) {
	long := strings.Repeat("echo hello\n", 500)
	wide := strings.Repeat("x", 3000)
	manyRules := `{"type":"addRules","rules":[{"toolName":"A"},{"toolName":"B"},{"toolName":"C"},{"toolName":"D"},{"toolName":"E"}],"behavior":"allow"}`
	tests := []struct {
		name string
		card State
		says string // part of the message
	}{
		{"too many lines", stateOf("Bash", object("command", long)), "… 5,230 more characters"},
		{"too wide", stateOf("Bash", object("command", wide)), "… 1,800 more characters"},
		{"short lines, but many", stateOf("Bash", object("command", strings.Repeat("a\n", 200))), "more characters"},
		{"a long description", stateOf("Bash", object("command", "ls", "description", wide)), "more"},
		{"a hidden field", stateOf("Bash", object("command", "ls", "more", map[string]string{"a": wide})), "more"},
		{"many fields", stateOf("Bash", object(manyFields()...)), "more characters"},
		{"bidi", stateOf("Bash", object("command", "echo \u202egnp.exe")), "⟨U+202E⟩"},
		{"isolates in a description", stateOf("Bash", object("command", "ls", "description", "a\u2066b")), "⟨U+2066⟩"},
		{"a zero width space in a path", stateOf("Write", object("file_path", "/a\u200b/b", "content", "x")), "⟨U+200B⟩"},
		{"a joiner of letters", stateOf("Bash", object("command", "echo a\u200db")), "⟨U+200D⟩"},
		{"a joiner behind an emoji", stateOf("Bash", object("command", "echo 👩\u200db")), "⟨U+200D⟩"},
		{"one long line above another", stateOf("Bash", object("command", wide, "description", "ls")), "… 1,803 more characters"},
		{"an escape", stateOf("Bash", object("command", "echo \x1b[8mrm -rf /\x1b[0m")), "⟨U+001B⟩[8mrm -rf /"},
		{"a carriage return", stateOf("Bash", object("command", "rm -rf /\rls")), "⟨U+000D⟩"},
		{"blanks before the tail", stateOf("Bash", object("command", "ls"+strings.Repeat(" ", 200)+"; rm -rf /")), "⟨200×␠⟩; rm -rf /"},
		{"ideographic blanks", stateOf("Bash", object("command", "ls"+"\u3000; rm")), "ls⟨U+3000⟩; rm"},
		{"empty lines before the tail", stateOf("Bash", object("command", "ls"+strings.Repeat("\n", 30)+"\nrm -rf /")), "⟨30×⏎⟩"},
		{"lines of blanks before the tail", stateOf("Bash", object("command", "ls"+strings.Repeat("\n  ", 30)+"\nrm -rf /")), "ls\n⟨2×␠⟩\n⟨2×␠⟩"},
		{"a blank that is none", stateOf("Bash", object("command", "./deploy\u00a0--dry-run")), "./deploy⟨U+00A0⟩--dry-run"},
		{"a blank behind a backslash", stateOf("Bash", object("command", "./deploy \\ \n --dry-run")), "./deploy \\⟨1×␠⟩\n --dry-run"},
		{"another semicolon", stateOf("Bash", object("command", "ls\u037e rm")), "ls⟨U+037E⟩ rm"},
		{"a dot over an i", stateOf("Bash", object("command", "./i\u0307nstall")), "./i⟨U+0307⟩nstall"},
		{"what Unicode may add", stateOf("Bash", object("command", "ls \u0378")), "ls ⟨U+0378⟩"},
		{"a sign that is text", stateOf("Bash", object("command", "./a⟨U+00A0⟩b")), "./a⟨U+27E8⟩U+00A0⟩b"},
		{"an emoji and its selector", stateOf("Bash", object("command", "ls ⚠\ufe0f")), "ls ⚠⟨U+FE0F⟩"},
		{"a path with a blank at its end", stateOf("Read", `{"file_path":"/x "}`), `file_path: "/x "`},
		{"a key in the dark", stateOf("X", `{"a\u2028b":1}`), "a⟨U+2028⟩b: 1"},
		{"a mark that turns the direction in a key", stateOf("Bash", `{"command":"ls","a\u200fb":1}`), "⟨U+200F⟩"},
		{"a key that is there twice", stateOf("Bash", `{"command":"ls","command":"rm"}`), "command: rm"},
		{"one that is there twice inside", stateOf("X", `{"a":[{"b":1,"b":2}]}`), `"b":2`},
		{"too deep", stateOf("X", `{"a":`+strings.Repeat("[", 40)+strings.Repeat("]", 40)+`}`), "Not everything is visible here"},
		{"half a character", stateOf("Bash", `{"command":"echo \ud800"}`), "⟨U+FFFD⟩"},
		{"blank letters", stateOf("Bash", object("command", "ls \u3164")), "⟨U+3164⟩"},
		{"tags", stateOf("Bash", object("command", "ls \U000E0041")), "⟨U+E0041⟩"},
		{"a selector behind no emoji", stateOf("Bash", object("command", "ls\ufe0f")), "⟨U+FE0F⟩"},
		{"a selector behind a digit", stateOf("Bash", object("command", "rm file1\ufe0f")), "⟨U+FE0F⟩"},
		{"a selector behind a sign of the shell", stateOf("Bash", object("command", "ls |\ufe0f wc")), "⟨U+FE0F⟩"},
		{"accents over the line", stateOf("Bash", object("command", "ls a"+strings.Repeat("\u0301", 9))), "Not everything is visible here"},
		{"an invisible rule", stateOf("Bash", `{"command":"ls"}`, `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls\u200b"}],"behavior":"allow"}`), "⟨U+200B⟩"},
		{"rules that are not listed", stateOf("Bash", `{"command":"ls"}`, manyRules), "… 1 more"},
		{"a rule that is long", stateOf("Bash", `{"command":"ls"}`, `{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"`+strings.Repeat("x", 200)+`"}],"behavior":"allow"}`), "Bash(xxx"},
		{"a plan that is long", stateOf("ExitPlanMode", object("plan", long)), "more"},
		{"a question that is long", stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "A?" + wide, "options": []any{map[string]any{"label": "x"}}}})), "more"},
		{"a later question with something invisible", stateOf("AskUserQuestion", strings.Replace(twoQuestions, "OTEL", "OT\u200bEL", 1)), "Not everything is visible here"},
	}
	v := viewer(t, "en")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.False(t, whole(tt.card))
			seen := v.View(tt.card, "work")
			assert.Contains(t, seen.Text.Text, tt.says)
			assert.Equal(t, "no why all", verbs(seen))
			for _, verb := range []string{"ok", "ses", "plan", "edit", "o:0:0", "x:0"} {
				after, err := Tap(tt.card, person, verb, noon)
				assert.Error(t, err, verb)
				assert.Equal(t, tt.card, after)
			}
			_, err := Tap(tt.card, person, "all", noon)
			require.NoError(t, err)

			shown := tt.card
			shown.AllShown = true
			assert.Regexp(t, `^(ok|plan|o:0:0) `, verbs(v.View(shown, "work")), "then it can be allowed")
			after, err := Tap(tt.card, person, "no", noon)
			require.NoError(t, err, "a denial needs nothing")
			assert.Equal(t, StageSent, after.Stage)
		})
	}
}

func manyFields() []any {
	list := []any{"command", "ls"}
	for i := range 100 {
		list = append(list, "k"+strings.Repeat("x", i), i)
	}
	return list
}

func TestP9_AllShowsAll(t *testing.T) {
	v := viewer(t, "en")
	long := strings.Repeat("echo hello world\n", 1000)
	s := stateOf("Bash", object("command", long+"\u202ertl\x07"+strings.Repeat("\n", 20)+strings.Repeat(" ", 50)+"end", "run_in_background", false, "x", map[string]int{"y": 1}), npmRule)
	s.Request.Mode, s.Request.SubagentID = "default", "a1"
	s = described(s)
	parts := v.All(s)
	var all strings.Builder
	for _, p := range parts {
		assert.LessOrEqual(t, p.Length(), render.Limit)
		all.WriteString(p.Text + "\n")
	}
	assert.Equal(t, 1000, strings.Count(all.String(), "echo hello world"))
	for _, want := range []string{"tool\nBash", "⟨U+202E⟩rtl⟨U+0007⟩\n⟨19×⏎⟩\n⟨50×␠⟩end", "run_in_background\nfalse", `"y":1`, "/home/u/proj",
		"permission_mode\ndefault", "agent_id\na1", "Bash(npm test:*)"} {
		assert.Contains(t, all.String(), want)
	}
}

func TestP9_SessionNameHidesNothing(t *testing.T) {
	title, _, _ := strings.Cut(viewer(t, "en").View(stateOf("Bash", `{"command":"ls"}`), "work\u202e <b>").Text.Text, "\n")
	assert.Equal(t, "🔐 work⟨U+202E⟩ <b> wants to run a command", title)
}

func TestP9_LargeRequestIsLeftToTerminal(t *testing.T) {
	v := viewer(t, "en")
	for name, s := range map[string]State{
		"long":                  stateOf("Write", object("file_path", "/a", "content", strings.Repeat("0123456789\n", 11_000))),
		"very long":             stateOf("Write", object("file_path", "/a", "content", strings.Repeat("0123456789\n", 13_000))),
		"long as it is shown":   stateOf("Write", object("file_path", "/a", "content", strings.Repeat("\u200b", 12_000))),
		"a question that is so": stateOf("AskUserQuestion", object("questions", []any{map[string]any{"question": "A?", "options": []any{map[string]any{"label": "x", "description": strings.Repeat("d ", 50_000)}}}})),
	} {
		t.Run(name, func(t *testing.T) {
			s.AllShown = true // and still it was not
			assert.Contains(t, v.View(s, "work").Text.Text, "only be allowed in the terminal")
			assert.Equal(t, "no why", verbs(v.View(s, "work")))
			for _, verb := range []string{"ok", "all"} {
				_, err := Tap(s, person, verb, noon)
				assert.Error(t, err)
			}
		})
	}
}

func TestView_States(t *testing.T) {
	bash, plan := stateOf("Bash", `{"command":"ls"}`, npmRule), stateOf("ExitPlanMode", `{"plan":"x"}`)
	tap := func(s State, verb string) State {
		s, err := Tap(s, person, verb, noon)
		require.NoError(t, err)
		return s
	}
	over := func(s State, o Outcome) State {
		s.Stage, s.Outcome = StageEnded, o
		return s
	}
	why, err := applyText(tap(bash, "why"), person, "use make test", noon)
	require.NoError(t, err)
	asked := stateOf("AskUserQuestion", twoQuestions)
	s, err := Tap(asked, person, "x:0", noon)
	require.NoError(t, err)
	v := viewer(t, "en")
	tests := []struct {
		name string
		card State
		want string // the last lines, buttons included
	}{
		{"asked why", tap(bash, "why"), "Write it now, as your next message.\n[Deny][Cancel]"},
		{"asked what to do instead", tap(plan, "why"), "Write it now, as your next message.\n[Deny][Cancel]"},
		{"asked for an answer", s, "Write it now, as your next message.\n[Skip all][Cancel]"},
		{"noted", tap(bash, "ok"), "⏳ Allowed in the chat, but not delivered yet: no connection to the session. It is sent as soon as there is one."},
		{"noted, denied", why, "⏳ Denied in the chat, but not delivered yet: no connection to the session. It is sent as soon as there is one."},
		{"allow", give(tap(bash, "ok"), noon), "⏳ Allowed in the chat. The agent has not confirmed it yet."},
		{"for the session", give(tap(bash, "ses"), noon), "⏳ Allowed in the chat for this session. The agent has not confirmed it yet."},
		{"deny", give(tap(bash, "no"), noon), "⏳ Denied in the chat. The agent has not confirmed it yet."},
		{"approve", give(tap(plan, "edit"), noon), "⏳ Approved in the chat. The agent has not confirmed it yet."},
		{"away", leave(bash, false, noon), v.Words.Say(i18n.AskAway)},
		{"sent back", give(tap(plan, "no"), noon), "⏳ Denied in the chat. The agent has not confirmed it yet."},
		{"a plan sent back", over(tap(plan, "no"), Outcome{What: Denied, Chat: true}), "❌ Denied in the chat"},
		{"not answered", over(tap(asked, "no"), Outcome{What: Denied, Chat: true}), "⏭ Skipped in the chat"},
		{"another hook allowed", over(bash, Outcome{What: Allowed, Hook: true}), "✅ Allowed by another hook"},
		{"another hook denied", over(tap(bash, "ok"), Outcome{What: Denied, Hook: true, Late: true}), "❌ Denied by another hook\nYou tapped too late."},
		{"another hook answered", over(asked, Outcome{What: Allowed, Hook: true}), "✅ Answered by another hook"},
		{"allowed here", over(tap(bash, "ok"), Outcome{What: Allowed, Chat: true}), "✅ Allowed in the chat"},
		{"allowed for the session", over(tap(bash, "ses"), Outcome{What: Allowed, Chat: true}), "✅ Allowed in the chat for this session"},
		{"allowed at the desk", over(bash, Outcome{What: Allowed}), "✅ Allowed in the terminal"},
		{"too late", over(tap(bash, "ok"), Outcome{What: Denied, Late: true}), "❌ Denied in the terminal\nYou tapped too late."},
		{"denied here", over(why, Outcome{What: Denied, Chat: true}), "❌ Denied in the chat"},
		{"approved here", over(tap(plan, "plan"), Outcome{What: Allowed, Chat: true}), "✅ Approved in the chat"},
		{"approved here, with edits", over(tap(plan, "edit"), Outcome{What: Allowed, Chat: true}), "✅ Approved in the chat"},
		{"approved at the desk", over(plan, Outcome{What: Allowed}), "✅ Approved in the terminal"},
		{"answered at the desk", over(stateOf("AskUserQuestion", twoQuestions), Outcome{What: Allowed, Reply: "\"A?\"=\"x\""}), "✅ Answered in the terminal\n\"A?\"=\"x\""},
		{"interrupted", over(bash, Outcome{What: Interrupted}), "⏹ Interrupted, or denied in the terminal"},
		{"ended", over(bash, Outcome{What: Ended}), "⏹ The session ended before an answer"},
		{"unknown", over(bash, Outcome{What: Unknown}), "❔ Outcome unknown"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, last, _ := strings.Cut(screen(v.View(tt.card, "work")), "\n\n")
			assert.Equal(t, tt.want, last)
		})
	}
}

// TestView_EveryLanguageFits: the longest lines around the longest body fit in every language.
func TestView_EveryLanguageFits(t *testing.T) {
	s := stateOf("Bash", object("command", strings.Repeat("x", maxBody-100), "description", strings.Repeat("d", 80)), npmRule,
		`{"type":"addDirectories","directories":["`+strings.Repeat("/dir", 25)+`","`+strings.Repeat("/bir", 25)+`","`+strings.Repeat("/mir", 25)+`"]}`)
	s.Request.Subagent, s.Request.Cwd = strings.Repeat("s", maxWord), strings.Repeat("/c", maxPath/2)
	require.True(t, whole(s))
	s.Answer = &talk.Answer{Choice: talk.ChoiceDeny}
	for _, lang := range i18n.Languages() {
		v := viewer(t, lang)
		for _, state := range []Stage{StageOpen, StageSent, StageAway, StageEnded} {
			s.Stage = state
			text := v.View(s, strings.Repeat("N", 200)).Text
			assert.LessOrEqual(t, text.Length(), render.Limit)
			assert.Equal(t, state != StageEnded, strings.Contains(text.Text, "/c/c"), "%s %s: nothing was cut at the end", lang, state)
		}
	}
}

func TestButtonWordsAreFixed(t *testing.T) {
	v := viewer(t, "en")
	s := stateOf("Bash", `{"command":"ls"}`, npmRule)
	assert.Equal(t, "Allow|Allow for session|Deny|Deny with reason", words(v.View(s, "")))
	assert.Equal(t, "Approve|Approve, allow edits|Deny|Keep planning, say why", words(v.View(stateOf("ExitPlanMode", `{"plan":"x"}`), "")))
	assert.Equal(t, "Deny|Deny with reason|Show all", words(v.View(stateOf("Bash", `{"command":"\u202e"}`), "")))
	assert.Equal(t, "ok", v.View(s, "").Options[0][0].Value)
}
