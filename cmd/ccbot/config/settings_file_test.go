package config

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/statefolder"
)

func TestEdited(t *testing.T) {
	both := map[string]string{"TELEGRAM_BOT_TOKEN": "1:new", "ALLOWED_USERS": "5,7"}
	people := map[string]string{"ALLOWED_USERS": "5,7"}
	agents := map[string]string{"AGENT_ENV_X": `a "b" $c #d \n`}
	for _, tt := range []struct {
		name    string
		old     string
		changes map[string]string
		want    string // empty: it is refused
	}{
		{"nothing is there", "", both, "TELEGRAM_BOT_TOKEN=1:new\nALLOWED_USERS=5,7\n"},
		{"the last line has no end", "LOG_LEVEL=info", people, "LOG_LEVEL=info\nALLOWED_USERS=5,7\n"},
		{"in its place", "# a\nALLOWED_USERS=5\n\n# b\nX=1\n", people, "# a\nALLOWED_USERS=5,7\n\n# b\nX=1\n"},
		{"with its comment", "ALLOWED_USERS=5  # me\n", people, "ALLOWED_USERS=5,7  # me\n"},
		{"exported and quoted", "export ALLOWED_USERS = \"5\" # me\r\nX=1\r\n", people, "export ALLOWED_USERS = 5,7 # me\r\nX=1\r\n"},
		{"as YAML", "ALLOWED_USERS: 5\n", people, "ALLOWED_USERS: 5,7\n"},
		{"twice", "ALLOWED_USERS=1\nX=1\nALLOWED_USERS=2\n", people, "ALLOWED_USERS=5,7\nX=1\n"},
		{"a comment that looks like it", "#ALLOWED_USERS=1\n", people, "#ALLOWED_USERS=1\nALLOWED_USERS=5,7\n"},
		{"a name that begins alike", "ALLOWED_USERS_OLD=1\n", people, "ALLOWED_USERS_OLD=1\nALLOWED_USERS=5,7\n"},
		{"a byte order mark", statefolder.ByteOrderMark + "ALLOWED_USERS=1\n", people, "ALLOWED_USERS=5,7\n"},
		{"it says that already", statefolder.ByteOrderMark + "ALLOWED_USERS='5,7'\n", people, statefolder.ByteOrderMark + "ALLOWED_USERS='5,7'\n"},
		{"a value that needs quotes", "", agents, "AGENT_ENV_X='a \"b\" $c #d \\n'\n"},
		{"a value that quotes cannot hold", "X=1\n", map[string]string{"AGENT_ENV_X": "it's"}, ""},
		{"nothing changes", "X=1", nil, "X=1"},
		{"inside of another value", "X=\"a\nALLOWED_USERS=1\nb\"\n", people, ""},
		{"a value of two lines", "ALLOWED_USERS=\"1\n2\"\n", people, ""},
		{"it cannot be read", "what is this\n", people, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			data, err := edited([]byte(tt.old), tt.changes)
			if tt.want == "" && tt.old != "" {
				require.ErrorIs(t, err, errEdit)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, string(data))
		})
	}
}

// Any file is changed exactly as it should be, or not at all.
func FuzzEdited(f *testing.F) {
	f.Add("export A='1'\nALLOWED_USERS=\"x # y\" # z\n")
	f.Add("ALLOWED_USERS\nALLOWED_USERS: 1\r\n")
	f.Add("X=\"\nALLOWED_USERS=1")
	f.Fuzz(func(t *testing.T, old string) {
		data, err := edited([]byte(old), map[string]string{"ALLOWED_USERS": "5"})
		if err != nil {
			return
		}
		want, err := statefolder.ParseSettings(old)
		require.NoError(t, err)
		want["ALLOWED_USERS"] = "5"
		got, err := statefolder.ParseSettings(string(data))
		require.NoError(t, err)
		assert.True(t, maps.Equal(want, got), "%q became %q", old, data)
		again, err := edited(data, map[string]string{"ALLOWED_USERS": "5"})
		require.NoError(t, err)
		assert.Equal(t, data, again)
	})
}

// A file that others may not read stays so, a link stays a link, and the remains of a killed run
// are removed, but no copy that a person has made.
func TestP9_WriteSettings(t *testing.T) {
	dir := t.TempDir()
	path, real := filepath.Join(dir, "ccbot.env"), filepath.Join(dir, "secrets", "real.env")
	require.NoError(t, os.Mkdir(filepath.Dir(real), 0o700))
	require.NoError(t, os.WriteFile(real, []byte("X=1\n"), 0o644))
	before := time.Now().Add(-2 * time.Hour)
	left, stay := ".real.env1234567890123456789", []string{".real.env.mine", ".real.env20261101", ".real.env234567890123456789"}
	for _, name := range append(stay, left) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "secrets", name), []byte("TELEGRAM_BOT_TOKEN=1"), 0o600))
		if name != stay[2] { // which another run may be writing
			require.NoError(t, os.Chtimes(filepath.Join(dir, "secrets", name), before, before))
		}
	}
	require.NoError(t, os.Symlink(real, path))
	for _, want := range []bool{true, false} {
		written, err := WriteSettings(path, map[string]string{"Y": "2"})
		require.NoError(t, err)
		assert.Equal(t, want, written)
	}
	data, err := os.ReadFile(real)
	require.NoError(t, err)
	assert.Equal(t, "X=1\nY=2\n", string(data))
	info, err := os.Stat(real)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), info.Mode())
	entries, err := os.ReadDir(filepath.Dir(real))
	require.NoError(t, err)
	require.Len(t, entries, 4)
	for i, name := range stay {
		assert.Equal(t, name, entries[i].Name())
	}
	_, err = os.Readlink(path)
	require.NoError(t, err)
}
