package claudesettings

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
)

// ours is the installed command in the documents of these tests.
const ours = `'/opt/ccbot-hook' --dir '/state' --installed >/dev/null 2>&1 || :`

func oursJSON() string { return `{"type":"command","command":"` + ours + `","timeout":5}` }

// full puts our hook where a document says OURS, and another binary's where it says OLD.
func full(doc string) string {
	doc = strings.ReplaceAll(doc, "OURS", oursJSON())
	return strings.ReplaceAll(doc, "OLD", `{"type":"command","command":"`+later+`","timeout":5}`)
}

func lines(l ...string) string { return strings.Join(l, "\n") + "\n" }

// installed is the result of Install for an empty file.
func installed() string {
	return full(`{"hooks":{"SessionStart":[{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`)
}

func TestInstalledCommand(t *testing.T) {
	command, err := InstalledCommand("/opt/it's/ccbot-hook", "/my state")
	require.NoError(t, err)
	assert.Equal(t, `'/opt/it'\''s/ccbot-hook' --dir '/my state' --installed >/dev/null 2>&1 || :`, command)
	for name, paths := range map[string][2]string{
		"relative binary": {"ccbot-hook", "/s"},
		"relative folder": {"/ccbot-hook", "s"},
		"not UTF-8":       {"/\xff/ccbot-hook", "/s"},
	} {
		_, err := InstalledCommand(paths[0], paths[1])
		assert.Error(t, err, name)
	}
}

// The line as a shell runs it: silent, and exit 0 even when there is no such binary.
func TestP10_InstalledCommandIsSilent(t *testing.T) {
	command, err := InstalledCommand("/nowhere/ccbot-hook", t.TempDir())
	require.NoError(t, err)
	out, err := exec.Command("/bin/sh", "-c", command).CombinedOutput()
	assert.NoError(t, err)
	assert.Empty(t, string(out))
}

func TestInstall(t *testing.T) {
	const both = `"hooks":{"SessionStart":[{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}`
	tests := []struct{ name, in, want string }{
		{"empty", "", "{" + both + "}\n"},
		{"blank", " \n\n", "{" + both + "}\n"},
		{"empty object", "{}\n", "{" + both + "}\n"},
		{"byte order mark alone", "\ufeff", "\ufeff{" + both + "}\n"},
		{"one line", `{"model":"opus"}`, `{"model":"opus",` + both + `}`},
		{"lines", "{\n\t\"model\": \"opus\"\n}\n\n", "{\n\t\"model\": \"opus\"\n," + both + "}\n\n"},
		{"CRLF and byte order mark", "\ufeff{\r\n  \"a\": 1\r\n}\r\n", "\ufeff{\r\n  \"a\": 1\r\n," + both + "}\r\n"},
		{"events that are there", `{"hooks":{"UserPromptSubmit":[{"hooks":[1]}],"SessionStart":[],"Stop":[]},"z":1}`,
			`{"hooks":{"UserPromptSubmit":[{"hooks":[1]},{"hooks":[OURS]}],"SessionStart":[{"hooks":[OURS]}],"Stop":[]},"z":1}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, changes, err := Install([]byte(tt.in), ours)
			require.NoError(t, err)
			assert.Equal(t, full(tt.want), string(out))
			assert.Equal(t, []Change{{"SessionStart", "added"}, {"UserPromptSubmit", "added"}}, changes)
		})
	}
}

func TestInstallBesideForeignHooks(t *testing.T) {
	in := lines(`{`, `  "hooks": {`, `    "SessionStart": [{`, `      "matcher": "startup",`,
		`      "hooks": [{ "type": "command", "command": "mine" }]`, `    }]`, `  },`, `  "model": "opus"`, `}`)
	out, _, err := Install([]byte(in), ours)
	require.NoError(t, err)
	assert.Contains(t, string(out), full("      \"hooks\": [{ \"type\": \"command\", \"command\": \"mine\" }]\n    },{\"hooks\":[OURS]}]\n"))
	back, _, err := Uninstall(out, nil)
	require.NoError(t, err)
	assert.Equal(t, in, string(back))
}

func TestInstallOverOlder(t *testing.T) {
	const both = `{"hooks":{"SessionStart":[{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`
	tests := []struct {
		name, in, want string
		changes        []Change
	}{
		{"installed already", both, both, nil},
		{"other path", `{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"foreign"},OLD]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`,
			`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"foreign"}]},{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`,
			[]Change{{"SessionStart", "updated"}}},
		{"duplicates", `{"hooks":{"SessionStart":[{"hooks":[OLD]},{"matcher":"","hooks":[1,OURS,OURS]},{"hooks":[]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`,
			`{"hooks":{"SessionStart":[{"matcher":"","hooks":[1]},{"hooks":[]},{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`,
			[]Change{{"SessionStart", "duplicates removed"}}},
		{"duplicates, all old", `{"hooks":{"UserPromptSubmit":[{"hooks":[OURS]}],"SessionStart":[{"hooks":[OLD,OLD]}]}}`,
			`{"hooks":{"UserPromptSubmit":[{"hooks":[OURS]}],"SessionStart":[{"hooks":[OURS]}]}}`,
			[]Change{{"SessionStart", "duplicates removed"}}},
		{"under a matcher", `{"hooks":{"SessionStart":[{"matcher":"resume","hooks":[OURS]}],"UserPromptSubmit":[{"matcher":"x","hooks":[OURS]}]}}`,
			`{"hooks":{"SessionStart":[{"matcher":"resume","hooks":[]},{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`,
			[]Change{{"SessionStart", "updated"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, changes, err := Install([]byte(full(tt.in)), ours)
			require.NoError(t, err)
			want := full(tt.want)
			if tt.name == "under a matcher" {
				want = strings.Replace(want, `"UserPromptSubmit":[{`, `"UserPromptSubmit":[{"matcher":"x",`, 1)
			}
			assert.Equal(t, want, string(out))
			assert.Equal(t, tt.changes, changes)
			again, changes, err := Install(out, ours)
			require.NoError(t, err)
			assert.Equal(t, string(out), string(again), "a second time changes nothing")
			assert.Empty(t, changes)
		})
	}
}

func TestUninstall(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"nothing there", "", ""},
		{"none of ours", `{ "hooks" : { "Stop" : [ ] , "X":null } }`, `{ "hooks" : { "Stop" : [ ] , "X":null } }`},
		{"hooks goes with the last", `{"a":1,"hooks":{"SessionStart":[{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OLD]}]},"b":2}`, `{"a":1,"b":2}`},
		{"first member", `{"hooks":{"SessionStart":[{"hooks":[OURS]}]},  "b":2}`, `{  "b":2}`},
		{"only member", `{"hooks":{"SessionStart":[{"hooks":[OURS]}]}}`, `{}`},
		{"what was empty before stays", `{"hooks":{"Stop":[],"SessionStart":[{"hooks":[]},{"hooks":[OLD]}]}}`, `{"hooks":{"Stop":[],"SessionStart":[{"hooks":[]}]}}`},
		{"foreign ones in the group stay", `{"hooks":{"SessionStart":[{"matcher":"x","hooks":[{"type":"command","command":"a"}, OURS ,{"type":"http"}]}]}}`,
			`{"hooks":{"SessionStart":[{"matcher":"x","hooks":[{"type":"command","command":"a"} ,{"type":"http"}]}]}}`},
		{"hooks is no object", `{"hooks":[{"SessionStart":[OURS]}]}`, `{"hooks":[{"SessionStart":[OURS]}]}`},
		{"a key elsewhere twice", `{"a":1,"a":2,"hooks":{"SessionStart":[{"hooks":[OURS]}]}}`, `{"a":1,"a":2}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			out, changes, err := Uninstall([]byte(full(tt.in)), nil)
			require.NoError(t, err)
			assert.Equal(t, full(tt.want), string(out))
			assert.Equal(t, tt.in == tt.want, len(changes) == 0)
		})
	}
}

func TestRefusedSettings(t *testing.T) {
	tests := []struct {
		name, in     string
		line, column int
		reason       string
		uninstall    bool // it is refused there as well
	}{
		{"a comment", "{\n  // mine\n}", 2, 3, "comments are not JSON; Claude Code ignores such a file", true},
		{"a comment behind a value", "{\n  \"a\": 1 /* mine */\n}", 2, 10, "comments are not JSON", true},
		{"no comment", "{\n  /mine\n}", 2, 3, "not valid JSON: invalid character '/'", true},
		{"a comma too many", "{\n  \"ä\": 1,\n}", 3, 1, "invalid character '}'", true},
		{"cut off", "{\"a\": [1,\n", 2, 1, "unexpected end of JSON input", true},
		{"two values", "{}\n{}", 2, 1, "after top-level value", true},
		{"UTF-16", "\xff\xfe{\x00}\x00", 1, 1, "invalid character", true},
		{"after a byte order mark", "\ufeff{,}", 1, 2, "invalid character ','", true},
		{"an array", "\n []", 2, 2, "one JSON object", true},
		{"a string", `"x"`, 1, 1, "one JSON object", true},
		{"hooks twice", "{\"hooks\":{},\n\"hoo\\u006bs\":{}}", 2, 1, `"hooks" stands here a second time`, true},
		{"an event twice", `{"hooks":{"Stop":[],"Stop":[]}}`, 1, 21, `"Stop" stands here a second time`, true},
		{"a group's hooks twice", `{"hooks":{"Stop":[{"hooks":[],"hooks":[]}]}}`, 1, 31, `"hooks" stands here`, true},
		{"a command twice", full(`{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a","command":"ccbot-hook"}]}]}}`), 1, 61, `"command" stands here`, true},
		{"a key twice in a hook of a person", `{"hooks":{"Stop":[{"hooks":[{"type":"http","headers":{"a":"1","a":"2"}}]}]}}`, 1, 63, `"a" stands here`, true},
		{"all hooks off and on", "{\"disableAllHooks\":true,\n\"disableAllHooks\":false}", 2, 1, `"disableAllHooks" stands here a second time`, true},
		{"hooks is null", `{"hooks":null}`, 1, 10, `"hooks" is not an object`, false},
		{"an event is an object", `{"hooks":{"SessionStart":{}}}`, 1, 26, `"SessionStart" is not an array`, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Install([]byte(tt.in), ours)
			var wrong *SettingsError
			require.ErrorAs(t, err, &wrong)
			assert.Equal(t, []int{tt.line, tt.column}, []int{wrong.Line, wrong.Column}, wrong.Reason)
			assert.Contains(t, err.Error(), tt.reason)
			_, _, err = Uninstall([]byte(tt.in), nil)
			assert.Equal(t, tt.uninstall, err != nil)
			_, err = Inspect([]byte(tt.in), ours)
			assert.Equal(t, tt.uninstall, err != nil)
		})
	}
}

// A line that also does something else belongs to the person who wrote it.
func TestCommandIsOurs(t *testing.T) {
	for line, want := range map[string]string{
		ours: "/state",
		`'/it'\''s/ccbot-hook' --dir '/it'\''s' --installed >/dev/null 2>&1 || :`: "/it's",
	} {
		assert.True(t, isOurs(gjson.Parse(`{"type":"command","command":`+quoteJSON(line)+`}`)), line)
		assert.Equal(t, want, StateDir(line))
	}
	for _, line := range []string{"", "ccbot-hook", `/opt/ccbot-hook --dir /state`, `'/opt/ccbot-hook' --dir '/state'`, ours + " echo", "echo; " + ours,
		`'/opt/ccbot-hook' --dir '/a'; rm '/b' --installed >/dev/null 2>&1 || :`, `'/opt/other' --dir '/state' --installed >/dev/null 2>&1 || :`,
		`'/ccbot-hook/other' --dir '/s' --installed >/dev/null 2>&1 || :`} {
		assert.False(t, isOurs(gjson.Parse(`{"type":"command","command":`+quoteJSON(line)+`}`)), line)
	}
	assert.False(t, isOurs(gjson.Parse(`{"type":"command","args":[],"command":`+quoteJSON(ours)+`}`)))
	for _, dir := range []string{"/home/me/.ccbot", "/my state", "/it's", `/a"b\c$d`, "/--dir", "/a' --dir '/b"} {
		command, err := InstalledCommand("/opt/my ccbot/ccbot-hook", dir)
		require.NoError(t, err)
		assert.Equal(t, dir, StateDir(command), command)
	}
}

func TestInspect(t *testing.T) {
	tests := []struct {
		name, in string
		start    InstallState
		prompt   InstallState
	}{
		{name: "empty", start: InstallMissing, prompt: InstallMissing},
		{name: "not hooks", in: `{"hooks":3}`, start: InstallMissing, prompt: InstallMissing},
		{name: "half", in: `{"hooks":{"UserPromptSubmit":[{"hooks":[OURS]}]}}`, start: InstallMissing, prompt: InstallCurrent},
		{name: "old", in: `{"hooks":{"SessionStart":[{"hooks":[OLD]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`, start: InstallOther, prompt: InstallCurrent},
		{name: "twice", in: `{"hooks":{"SessionStart":[{"hooks":[OURS]},{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OLD,OURS]}]}}`,
			start: InstallDuplicate, prompt: InstallDuplicate},
		{name: "limited", in: `{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[OURS]}],"UserPromptSubmit":[{"matcher":"startup","hooks":[OURS]}]}}`,
			start: InstallLimited, prompt: InstallCurrent},
		{name: "another event", in: `{"hooks":{"Stop":[{"hooks":[OURS]}]}}`, start: InstallMissing, prompt: InstallMissing},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Inspect([]byte(full(tt.in)), ours)
			require.NoError(t, err)
			assert.Equal(t, tt.start, got.Events[0].State)
			assert.Equal(t, tt.prompt, got.Events[1].State)
			assert.Len(t, got.Events, 2)
			assert.False(t, got.Complete())
			assert.False(t, got.HooksOff)
		})
	}
	got, err := Inspect([]byte(full(`{"disableAllHooks":true,"hooks":{"SessionStart":[{"hooks":[OURS]}],"UserPromptSubmit":[{"hooks":[OURS]}]}}`)), ours)
	require.NoError(t, err)
	assert.True(t, got.Complete())
	assert.True(t, got.HooksOff)
}
