package claudesettings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// absent is the content of a file that does not exist.
const absent = "absent"

// later is the hook's command after new programs were put in another folder.
const later = `'/new/ccbot-hook' --dir '/state' --installed >/dev/null 2>&1 || :`

// matrixRow is one settings file, and what happens to it between install and uninstall.
type matrixRow struct {
	name, before string
	between      func(t *testing.T, s SettingsFile)
	want         string // before, if it is empty
	kept         int    // backups that uninstall keeps
}

// edited replaces text in the file, as an editor does.
func edited(old, new string) func(*testing.T, SettingsFile) {
	return func(t *testing.T, s SettingsFile) {
		now := read(t, s.Path)
		require.Contains(t, now, old)
		require.NoError(t, os.WriteFile(s.Path, []byte(strings.Replace(now, old, new, 1)), 0o640))
	}
}

// withoutBackups removes what install has noted of the file.
func withoutBackups(t *testing.T, s SettingsFile) {
	files, err := filepath.Glob(s.Path + ".ccbot-*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		require.NoError(t, os.Remove(file))
	}
}

// reinstalled installs the hooks of programs in another folder.
func reinstalled(t *testing.T, s SettingsFile) { installInto(t, s, later) }

func inOrder(all ...func(*testing.T, SettingsFile)) func(*testing.T, SettingsFile) {
	return func(t *testing.T, s SettingsFile) {
		for _, one := range all {
			one(t, s)
		}
	}
}

func installInto(t *testing.T, s SettingsFile, command string) {
	t.Helper()
	_, err := s.Edit(func(data []byte) ([]byte, error) {
		data, _, err := Install(data, command)
		return data, err
	})
	require.NoError(t, err)
}

// unedited are files that no person touches between install and uninstall.
func unedited() []matrixRow {
	return []matrixRow{
		{name: "no file", before: absent},
		{name: "empty file", before: ""},
		{name: "blank", before: " \n\n"},
		{name: "empty object", before: "{}"},
		{name: "empty object and newline", before: "{}\n"},
		{name: "empty object over lines", before: "{\n\n}\n"},
		{name: "byte order mark", before: "\ufeff"},
		{name: "byte order mark and object", before: "\ufeff{ }"},
		{name: "empty hooks", before: `{"hooks":{}}`},
		{name: "empty hooks over lines", before: "{\n  \"hooks\": {\n  }\n}\n"},
		{name: "empty hooks and other keys", before: `{"model":"opus","hooks":{ },"x":1}`},
		{name: "empty event", before: `{"hooks":{"SessionStart":[]}}`},
		{name: "two empty events", before: `{"hooks":{"SessionStart":[ ],"UserPromptSubmit":[]}}`},
		{name: "another empty event", before: "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n"},
		{name: "empty group", before: `{"hooks":{"SessionStart":[{}]}}`},
		{name: "group without hooks", before: `{"hooks":{"SessionStart":[{"hooks":[]}],"UserPromptSubmit":[{"matcher":"","hooks":[ ]}]}}`},
		{name: "own hooks", before: `{"hooks":{"SessionStart":[{"matcher":"startup","hooks":[{"type":"command","command":"mine"}]}]}}`},
		{name: "CRLF", before: "{\r\n  \"a\": 1\r\n}\r\n"},
		{name: "no final newline", before: "{\n\t\"a\": 1\n}"},
		{name: "odd blanks", before: "{ \"a\" :1 ,\n \"b\":[ 1,2 ] }\n\n\n"},
		{name: "duplicate keys", before: `{"a":1,"a":2,"hooks":{"Stop":[]}}`},
		{name: "escaped keys", before: `{"hoo\u006bs":{"SessionSt\u0061rt":[]}}`},
		{name: "a line of a person that runs the hook", before: `{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"a; /x/ccbot-hook"}]}]}}`},
	}
}

// touched are files that change between install and uninstall.
func touched() []matrixRow {
	return []matrixRow{
		{name: "no file, a key added", before: absent, between: edited("{", "{\n  \"model\": \"opus\",\n"), want: "{\n  \"model\": \"opus\"}\n"},
		{name: "no file, newline cut", before: absent, between: edited("]}}\n", "]}}"), want: "{}"},
		{name: "empty file, a key added", before: "{}", between: edited("{", "{\"model\":1,\n"), want: "{\"model\":1}"},
		{name: "empty hooks, a key added", before: `{"hooks":{ }}`, between: edited(`{"hooks`, `{"a":1,"hooks`), want: `{"a":1,"hooks":{}}`, kept: 1},
		{name: "empty event, a key added", before: `{"hooks":{"SessionStart":[ ]}}`, between: edited(`{"hooks`, `{"a":1,"hooks`),
			want: `{"a":1,"hooks":{"SessionStart":[ ]}}`, kept: 1},
		{name: "empty group, a key added", before: `{"hooks":{"SessionStart":[{"hooks":[]}]}}`, between: edited(`{"hooks`, `{"a":1,"hooks`),
			want: `{"a":1,"hooks":{"SessionStart":[{"hooks":[]}]}}`, kept: 1},
		{name: "a value changed", before: "{\n  \"model\": \"opus\"\n}\n", between: edited("opus", "haiku"), want: "{\n  \"model\": \"haiku\"\n}\n", kept: 1},
		{name: "a matcher in our group", before: `{"a":1}`, between: edited(`[{"hooks"`, `[{"matcher":"x", "hooks"`),
			want: `{"a":1,"hooks":{"SessionStart":[{"matcher":"x", "hooks":[]}]}}`, kept: 1},
		{name: "a hook in our group", before: `{"a":1}`, between: edited(`"hooks":[{"type"`, `"hooks":[{"type":"http"}, {"type"`),
			want: `{"a":1,"hooks":{"SessionStart":[{"hooks":[{"type":"http"}]}]}}`, kept: 1},
		{name: "our hooks removed by hand", before: `{"a":1}`, between: func(t *testing.T, s SettingsFile) {
			require.NoError(t, os.WriteFile(s.Path, []byte(`{"a":2}`), 0o640))
		}, want: `{"a":2}`, kept: 1},
		{name: "the earlier bytes put back by hand", before: `{"hooks":{}}`, between: func(t *testing.T, s SettingsFile) {
			require.NoError(t, os.WriteFile(s.Path, []byte(`{"hooks":{}}`), 0o640))
		}},
		{name: "the file removed by hand", before: `{"a":1}`, between: func(t *testing.T, s SettingsFile) {
			require.NoError(t, os.Remove(s.Path))
		}, want: absent, kept: 1},
		{name: "programs in another folder", before: `{"hooks":{}}`, between: reinstalled},
		{name: "no file, programs in another folder", before: absent, between: reinstalled},
		{name: "seven folders", before: `{"hooks":{"SessionStart":[]}}`, between: func(t *testing.T, s SettingsFile) {
			for _, folder := range strings.Split("abcdefg", "") {
				installInto(t, s, strings.Replace(ours, "/opt", "/"+folder, 1))
			}
		}},
		{name: "a key added, then another folder", before: `{"hooks":{}}`, between: inOrder(edited(`{"hooks`, `{"a":1,"hooks`), reinstalled),
			want: `{"a":1,"hooks":{}}`, kept: 1},
		{name: "backups removed, nothing before", before: absent, between: withoutBackups, want: "{}\n"},
		{name: "backups removed, empty object", before: "{}\n", between: withoutBackups, want: "{}\n"},
		{name: "backups removed, other keys", before: `{"a":1}`, between: withoutBackups, want: `{"a":1}`},
		{name: "removed and made anew by a person", before: absent, between: func(t *testing.T, s SettingsFile) {
			require.NoError(t, os.WriteFile(s.Path, []byte("{}\n"), 0o640))
			installInto(t, s, ours)
		}, want: "{}\n"},
	}
}

// TestP10_UninstallMatrix compares settings files, byte for byte, with the same files after install
// and uninstall. A second and a third time have the same result.
func TestP10_UninstallMatrix(t *testing.T) {
	rows := append(unedited(), touched()...)
	require.GreaterOrEqual(t, len(rows), 40)
	for _, row := range rows {
		for _, linked := range []bool{false, true} {
			if linked && row.name == "the file removed by hand" {
				continue // the row removes the link itself
			}
			t.Run(row.name+map[bool]string{true: ", linked"}[linked], func(t *testing.T) { row.run(t, linked) })
		}
	}
}

func (row matrixRow) run(t *testing.T, linked bool) {
	s := newSettings(t, "")
	target := s.Path
	if linked {
		target = filepath.Join(filepath.Dir(s.Path), "dots.json")
		require.NoError(t, os.Symlink("dots.json", s.Path))
	}
	if row.before != absent {
		require.NoError(t, os.WriteFile(target, []byte(row.before), 0o640))
	}
	want := row.before
	if row.want != "" {
		want = row.want
	}
	installInto(t, s, ours)
	if row.between != nil {
		row.between(t, s)
	}
	for range 3 {
		outcome, err := s.Uninstall()
		require.NoError(t, err)
		assert.Equal(t, want, contentOf(t, target))
		files, err := filepath.Glob(s.Path + ".ccbot-*")
		require.NoError(t, err)
		assert.ElementsMatch(t, files, outcome.Kept, "each backup that stays is named")
		assert.Len(t, files, row.kept)
	}
}

func contentOf(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return absent
	}
	require.NoError(t, err)
	return string(data)
}

// TestP10_BackupsStayUntilReadBack uses a file that another program wrote after the edit.
func TestP10_BackupsStayUntilReadBack(t *testing.T) {
	s := newSettings(t, `{"hooks":{}}`)
	installInto(t, s, ours)
	result := snapshot{exists: true, data: []byte(`{"hooks":{}}`)}
	require.False(t, isOnDisk(s.Path, result))
	assert.Len(t, s.prune(result, result.data, false), 1)
	require.NoError(t, os.WriteFile(s.Path, result.data, 0o640))
	require.True(t, isOnDisk(s.Path, result))
	assert.Empty(t, s.prune(result, result.data, true))
}
