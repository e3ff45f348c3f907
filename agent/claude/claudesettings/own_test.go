package claudesettings

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

// putFile writes a file and the folders above it.
func putFile(t *testing.T, path, data string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(data), 0o600))
}

func line(command string) string {
	data, _ := json.Marshal(map[string]any{"statusLine": map[string]any{"type": "command", "command": command, "padding": 2}})
	return string(data)
}

func TestOwnStatusLine(t *testing.T) {
	tests := []struct {
		name, local, project, user string
		want                       string
	}{
		{name: "none"},
		{name: "the user's", user: line("mine"), want: "mine"},
		{name: "the project's first", project: line("theirs"), user: line("mine"), want: "theirs"},
		{name: "the local one first", local: line("here"), project: line("theirs"), user: line("mine"), want: "here"},
		{name: "a file without one", local: `{"permissions":{}}`, user: line("mine"), want: "mine"},
		{name: "a broken file", local: `{"statusLine":`, user: line("mine"), want: "mine"},
		{name: "another kind", local: `{"statusLine":{"type":"static","command":"x"}}`, user: line("mine"), want: "mine"},
		{name: "no kind", local: `{"statusLine":{"command":"x"}}`, user: line("mine"), want: "mine"},
		{name: "unexpected types", local: `{"statusLine":"x"}`, project: `{"statusLine":{"type":"command","command":["x"]}}`, user: `[]`},
		{name: "a byte order mark", user: "\ufeff" + line("mine"), want: "mine"},
		{name: "far too long", project: `{"x":"` + strings.Repeat("x", maxUserSettings) + `"}`, user: line("mine"), want: "mine"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir, config := t.TempDir(), t.TempDir()
			for path, data := range map[string]string{
				filepath.Join(dir, ".claude", "settings.local.json"): tt.local,
				filepath.Join(dir, ".claude", "settings.json"):       tt.project,
				filepath.Join(config, "settings.json"):               tt.user,
			} {
				if data != "" {
					putFile(t, path, data)
				}
			}
			assert.Equal(t, tt.want, ownStatusLine(dir, config))
		})
	}
}

func TestOwnStatusLine_OddFiles(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "dotfiles.json")
	putFile(t, elsewhere, line("linked"))
	tests := []struct {
		name string
		make func(path string) error
		want string
	}{
		{"a link is followed", func(path string) error { return os.Symlink(elsewhere, path) }, "linked"},
		{"a link to nothing", func(path string) error { return os.Symlink("/nowhere", path) }, ""},
		{"a link to itself", func(path string) error { return os.Symlink(path, path) }, ""},
		{"a pipe that nobody writes to", func(path string) error { return syscall.Mkfifo(path, 0o600) }, ""},
		{"a folder", func(path string) error { return os.Mkdir(path, 0o700) }, ""},
		{"endless", func(path string) error { return os.Symlink("/dev/zero", path) }, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			config := t.TempDir()
			require.NoError(t, tt.make(filepath.Join(config, "settings.json")))
			assert.Equal(t, tt.want, ownStatusLine("", config))
		})
	}
}

// TestP10_StatusLineStaysThePersons runs the shell line as Claude Code would, with a hook that
// works, one that is gone and one that cannot be run.
func TestP10_StatusLineStaysThePersons(t *testing.T) {
	works := filepath.Join(t.TempDir(), "it's a hook")
	// becomes the last argument, as ours does
	script := "#!/bin/sh\nwhile [ $# -gt 1 ]; do shift; done\nexec /bin/sh -c \"$1\"\n"
	require.NoError(t, os.WriteFile(works, []byte(script), 0o700))
	dull := filepath.Join(t.TempDir(), "hook")
	require.NoError(t, os.WriteFile(dull, []byte(script), 0o600))

	own := map[string]string{
		"plain":          "echo hello",
		"reads":          "cat",
		"quotes":         `printf '%s "%s"' "it's" a\'b`,
		"fails":          "echo no; exit 3",
		"is missing":     "/nowhere/line 2>/dev/null",
		"a comment":      "echo a # b",
		"several lines":  "echo a\necho b; echo c",
		"does not parse": "echo 'open",
		"a chain":        "false || echo a && exit 4",
		"expands":        "X='$HOME `x`'; echo \"$X\" $((1+1))",
	}
	for name, command := range own {
		for kind, binary := range map[string]string{"works": works, "gone": "/nowhere/hook", "no program": dull} {
			t.Run(name+", hook "+kind, func(t *testing.T) {
				l := Launch{Dir: t.TempDir(), HookBinary: binary, Mode: agent.ModeAsk, ConfigDir: t.TempDir()}
				putFile(t, filepath.Join(l.ConfigDir, "settings.json"), line(command))
				wantOut, wantCode := shell(t, command)
				gotOut, gotCode := shell(t, writeSettings(t, l).StatusLine.Command)
				assert.Equal(t, wantOut, gotOut)
				assert.Equal(t, wantCode, gotCode)
			})
		}
	}
}

func shell(t *testing.T, command string) (out string, code int) {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", command)
	cmd.Stdin = strings.NewReader(`{"session_id":"x"}`)
	said, err := cmd.Output()
	if cmd.ProcessState == nil {
		require.NoError(t, err)
	}
	return string(said), cmd.ProcessState.ExitCode()
}

func TestLaunch_UnwrappableStatusLineIsKept(t *testing.T) {
	for name, command := range map[string]string{"endless": ": " + strings.Repeat("x", maxWrapped), "a NUL": "echo \x00"} {
		l := Launch{Dir: t.TempDir(), HookBinary: "/h", Mode: agent.ModeBypass, ConfigDir: t.TempDir()}
		putFile(t, filepath.Join(l.ConfigDir, "settings.json"), line(command))
		assert.Equal(t, command, writeSettings(t, l).StatusLine.Command, name)
	}
}

func TestLaunch_ReadsStatusLineEachTime(t *testing.T) {
	l := Launch{Dir: t.TempDir(), HookBinary: "/h", Mode: agent.ModeAsk}
	project := t.TempDir()
	read := func() string {
		path, err := l.Write(recordID, project, nil)
		require.NoError(t, err)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		return string(data)
	}
	assert.NotContains(t, read(), "--wrap")
	putFile(t, filepath.Join(project, ".claude", "settings.json"), line("echo theirs"))
	assert.Contains(t, read(), `--wrap 'echo theirs'; eval 'echo theirs'`)
	assert.NotContains(t, read(), "padding", "Claude Code merges the rest; a wrong value here would cost all of ours")
}
