package claudesettings

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"
	"pgregory.net/rapid"
)

// drawObject makes a JSON object whose members have distinct keys, in any order.
func drawObject(t *rapid.T, label string, keys *rapid.Generator[string], atLeast int, value func(key string) string) string {
	members := rapid.SliceOfNDistinct(keys, atLeast, 4, rapid.ID[string]).Draw(t, label)
	for i, key := range members {
		members[i] = quoteJSON(key) + ":" + value(key)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func drawValue(t *rapid.T, depth int) string {
	kinds := []string{"number", "text", "null", "object", "array"}
	if depth == 0 {
		kinds = kinds[:3]
	}
	switch rapid.SampledFrom(kinds).Draw(t, "kind") {
	case "number":
		return rapid.SampledFrom([]string{"0", "-1.50", "1e+30", "true", "12345678901234567890"}).Draw(t, "number")
	case "text":
		return quoteJSON(rapid.String().Draw(t, "text"))
	case "object":
		return drawObject(t, "object", rapid.String(), 0, func(string) string { return drawValue(t, depth-1) })
	case "array":
		var items []string
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			items = append(items, drawValue(t, depth-1))
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	return "null"
}

// drawHook draws a foreign hook, or one of ccbot if allowed.
func drawHook(t *rapid.T, own bool) string {
	commands := []string{"true", "echo ccbot-hook", "my-hook --dir 'x'", "/bin/ccbot-hook | tee log"}
	if own {
		commands = append(commands, ours, later)
	}
	if !rapid.Bool().Draw(t, "is a hook") {
		return drawValue(t, 1)
	}
	return `{"type":"command","command":` + quoteJSON(rapid.SampledFrom(commands).Draw(t, "command")) + `,"timeout":7}`
}

func drawGroup(t *rapid.T, own bool) string {
	if rapid.IntRange(0, 4).Draw(t, "odd") == 0 {
		return drawValue(t, 1)
	}
	return drawObject(t, "group", rapid.SampledFrom([]string{"matcher", "hooks", "x"}), 0, func(key string) string {
		switch key {
		case "matcher":
			return rapid.SampledFrom([]string{`""`, `"*"`, `"startup"`, "null"}).Draw(t, "matcher")
		case "hooks":
			return drawList(t, func() string { return drawHook(t, own) })
		}
		return drawValue(t, 1)
	})
}

func drawList(t *rapid.T, item func() string) string {
	var items []string
	for range rapid.IntRange(0, 3).Draw(t, "length") {
		items = append(items, item())
	}
	return "[" + strings.Join(items, ",") + "]"
}

// drawSettings is a settings file in some layout.
func drawSettings(t *rapid.T, own bool) string {
	events := rapid.SampledFrom([]string{"SessionStart", "UserPromptSubmit", "Stop", "Other"})
	keys := rapid.OneOf(rapid.SampledFrom([]string{"hooks", "model", "permissions"}), rapid.String())
	doc := drawObject(t, "settings", keys, 0, func(key string) string {
		if key != "hooks" {
			return drawValue(t, 3)
		}
		return drawObject(t, "hooks", events, 0, func(string) string {
			return drawList(t, func() string { return drawGroup(t, own) })
		})
	})
	return drawLayout(t, doc)
}

func drawLayout(t *rapid.T, doc string) string {
	layouts := []string{"compact", "spaced", "  ", "    ", "\t", "", "crlf", "comma first"}
	mark := rapid.SampledFrom([]string{"", "", byteOrderMark}).Draw(t, "mark")
	switch l := rapid.SampledFrom(layouts).Draw(t, "layout"); l {
	case "compact":
		return mark + doc
	case "spaced":
		return mark + strings.ReplaceAll(indented(doc, "", ""), "\n", " ")
	case "comma first":
		return mark + strings.ReplaceAll(indented(doc, "", "  "), ",\n", "\n,")
	case "crlf":
		return mark + strings.ReplaceAll(indented(doc, "", "  "), "\n", "\r\n") + "\r\n"
	default:
		return mark + indented(doc, "", l) + "\n"
	}
}

func indented(value, prefix, unit string) string {
	var b bytes.Buffer
	_ = json.Indent(&b, []byte(value), prefix, unit)
	return b.String()
}

// Uninstall after Install restores a settings file without ccbot's hooks.
func TestP10_InstallAndUninstallLeaveNoTrace(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawSettings(t, false)
		installed, changes, err := Install([]byte(in), ours)
		require.NoError(t, err)
		require.Len(t, changes, 2)
		out, _, err := Uninstall(installed, []byte(in))
		require.NoError(t, err)
		assert.Equal(t, in, string(out))
	})
}

// For any file: install twice is install once, the file is whole, the status agrees, and all
// foreign parts are kept in their order.
func TestP10_InstallTwiceIsOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		in := drawSettings(t, true)
		before, err := Inspect([]byte(in), ours)
		require.NoError(t, err)
		once, changes, err := Install([]byte(in), ours)
		require.NoError(t, err)
		assert.Equal(t, before.Complete(), len(changes) == 0)
		assert.Equal(t, before.Complete(), in == string(once))
		checkKept(t, []byte(in), once)
		after, err := Inspect(once, ours)
		require.NoError(t, err)
		assert.True(t, after.Complete(), "%v", after)
		twice, changes, err := Install(once, ours)
		require.NoError(t, err)
		assert.Empty(t, changes)
		assert.Equal(t, string(once), string(twice))
		out, _, err := Uninstall(once, nil)
		require.NoError(t, err)
		checkKept(t, []byte(in), out)
		none, err := Inspect(out, ours)
		require.NoError(t, err)
		assert.Equal(t, []EventState{{Event: "SessionStart", State: InstallMissing}, {Event: "UserPromptSubmit", State: InstallMissing}},
			none.Events)
	})
}

// foreign returns everything in a settings file but ccbot's hooks and the containers that are empty
// without them, in the file's order: the keys on the path to each value, and its raw JSON.
func foreign(data []byte) []string {
	text := strings.TrimPrefix(string(data), byteOrderMark)
	if strings.TrimSpace(text) == "" {
		return nil
	}
	var walk func(path string, r gjson.Result) []string
	walk = func(path string, r gjson.Result) []string {
		if inEvent := strings.HasPrefix(path, `/"hooks"/"SessionStart"/`) || strings.HasPrefix(path, `/"hooks"/"UserPromptSubmit"/`); inEvent && isOurs(r) {
			return nil
		}
		if !r.IsObject() && !r.IsArray() {
			return []string{path + " " + r.Raw}
		}
		var all []string
		r.ForEach(func(key, value gjson.Result) bool {
			all = append(all, walk(path+"/"+quoteJSON(key.Str), value)...)
			return true
		})
		return all
	}
	return walk("", gjson.Parse(strings.TrimSpace(text)))
}

// checkKept requires that out has the foreign values of in, in the same order.
func checkKept(t require.TestingT, in, out []byte) {
	var doc json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(strings.TrimPrefix(string(out), byteOrderMark)+" "), &doc))
	assert.Equal(t, foreign(in), foreign(out))
}

func FuzzInstall(f *testing.F) {
	for _, seed := range []string{"", "{}", "\ufeff{}", `{"a":1}`, installed(), full(`{"hooks":{"Stop":[{"hooks":[OURS,OLD,1]}]}}`),
		"{\n\"hooks\":{\"SessionStart\":[{\"matcher\":\"x\",\"hooks\":[{\"type\":\"command\",\"command\":\"a\"}]\n}]}}", `{"hooks":[]}`,
		full(`{"hooks":{"Stop":[{"hooks":[OURS],"x":null},{"hooks":[{"type":"command","command":"a"}]},{"x":null}]}}`),
		`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"x/ccbot-hook","args":[]}]}]}}`, `{"a" : 1 ,` + "\n , \"b\":2}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		out, changes, err := Install(in, ours)
		if err != nil {
			assert.Nil(t, out)
			return
		}
		assert.Equal(t, len(changes) == 0, string(in) == string(out))
		checkKept(t, in, out)
		again, changes, err := Install(out, ours)
		require.NoError(t, err)
		assert.Empty(t, changes)
		assert.Equal(t, string(out), string(again))
		bare, _, err := Uninstall(out, nil)
		require.NoError(t, err)
		checkKept(t, in, bare)
	})
}
