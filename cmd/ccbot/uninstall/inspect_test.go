package uninstall

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/service"
	"ccbot/loop"
	"ccbot/port"
)

// TestP2_HooksOfOtherFoldersStay, and a file that cannot be edited keeps the state folder.
func TestP2_HooksOfOtherFoldersStay(t *testing.T) {
	with := func(data, dir string) string {
		command, err := claudesettings.InstalledCommand("/bin/ccbot-hook", dir)
		require.NoError(t, err)
		text, _, err := claudesettings.Install([]byte(data), command)
		require.NoError(t, err)
		return string(text)
	}
	mine, other := with("", "/state"), with("", "/other")
	both := strings.Replace(mine, "/state", "/other", 1)
	require.Contains(t, both, "/state")
	tests := []struct {
		name, text string
		mode       os.FileMode
		hooks      []string
		err, other string // a part of each
	}{
		{"ours", mine, 0o600, []string{"SessionStart", "UserPromptSubmit"}, "", ""},
		{"of another folder", other, 0o600, nil, "", "hooks in"},
		{"of another folder, in a file that cannot be edited", other, 0o400, nil, "", "hooks in"},
		{"of both", both, 0o600, []string{"UserPromptSubmit"}, "/other", ""},
		{"ours, and it cannot be edited", mine, 0o400, []string{"SessionStart", "UserPromptSubmit"}, "read-only", ""},
		{"damaged, with a hook", mine[:len(mine)-3], 0o600, nil, "line", ""},
		{"damaged, without a hook", "{", 0o600, nil, "", ""},
		{"none", "{}", 0o600, nil, "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			require.NoError(t, os.WriteFile(filepath.Join(dir, "settings.json"), []byte(tt.text), tt.mode))
			var w World
			w.findHooks(claudesettings.SettingsIn(dir), "/state")
			assert.Equal(t, tt.hooks, w.Hooks)
			assert.Equal(t, tt.err == "", w.HooksErr == "", w.HooksErr)
			assert.Contains(t, w.HooksErr, tt.err)
			assert.Contains(t, strings.Join(w.Others, "\n"), tt.other)
			assert.Equal(t, tt.other == "", len(w.Others) == 0)
		})
	}
	var w World
	w.findHooks(claudesettings.SettingsIn(t.TempDir()), "/state")
	assert.Empty(t, w.hooks(), "there is no file")
}

// TestP2_ServiceOfAnotherFolderStays: a user has one service.
func TestP2_ServiceOfAnotherFolderStays(t *testing.T) {
	for name, tt := range map[string]struct {
		installed, mine string
		own             bool
	}{
		"the default":        {"", "", true},
		"another folder":     {"/other", "/other", true},
		"its is the default": {"", "/other", false},
		"ours is":            {"/other", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			silent := func(context.Context, ...string) (string, error) { return "", errors.New("no manager") }
			p := service.Program{Binary: "/ccbot", Home: home, StateDir: tt.mine}
			file := filepath.Join(home, ".config/systemd/user/ccbot.service")
			require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o700))
			installed := p
			installed.StateDir = tt.installed
			require.NoError(t, os.WriteFile(file, []byte(service.Unit(installed)), 0o600))
			var w World
			require.NoError(t, w.findService(t.Context(), Uninstall{Service: service.New("linux", "", 1, p, silent, nil)}))
			assert.Equal(t, tt.own, w.Unit == file)
			assert.Equal(t, tt.own, len(w.Others) == 0)
		})
	}
}

// TestCompletionsAsPrintedAreRemoved: no other file of that name is.
func TestCompletionsAsPrintedAreRemoved(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) Completion { return Completion{filepath.Join(dir, name), "text\n"} }
	for name, text := range map[string]string{"same": "text\n", "longer": "text\nmine\n", "shorter": "tex"} {
		require.NoError(t, os.WriteFile(at(name).Path, []byte(text), 0o600))
	}
	require.NoError(t, os.Symlink(at("same").Path, at("link").Path))
	var w World
	u := Uninstall{Completions: []Completion{at("same"), at("longer"), at("shorter"), at("link"), at("missing")}}
	w.findCompletions(u.Completions)
	assert.Equal(t, []string{at("same").Path}, w.Completions)
	assert.Len(t, w.Others, 3)
	require.NoError(t, u.removeCompletions())
	assert.NoFileExists(t, at("same").Path)
	assert.FileExists(t, at("longer").Path)
	assert.FileExists(t, at("shorter").Path)
}

// TestLeftFilesAreNamed: files in the state folder that are not ccbot's, and settings in another
// folder.
func TestLeftFilesAreNamed(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(dir, "notes"), filepath.Join(dir, "alive"), filepath.Join(home, "ccbot.env")} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	d := offline.View{Config: config.Config{Dir: dir, File: filepath.Join(home, "ccbot.env")}}
	var w World
	require.NoError(t, w.findState(d))
	assert.Equal(t, []string{"alive"}, w.Known)
	assert.Equal(t, []string{filepath.Join(dir, "notes") + ", which is not ccbot's",
		"the settings file " + filepath.Join(home, "ccbot.env") + ", which is in another folder"}, w.Others)
	d.File = filepath.Join(dir, "ccbot.env")
	w = World{}
	require.NoError(t, w.findState(d))
	assert.Len(t, w.Others, 1)
}

// TestWorktreesOfLoopsAreNamed: the state folder is the only place that knows them.
func TestWorktreesOfLoopsAreNamed(t *testing.T) {
	dir, stands := t.TempDir(), t.TempDir()
	require.NoError(t, os.Mkdir(offline.Loops(dir), 0o700))
	for i, made := range []*port.LoopWorktree{nil, {Dir: stands}, {Dir: stands, Removed: true}, {Dir: filepath.Join(stands, "gone")}, {}} {
		l := loop.Loop{Version: loop.Version, Loop: port.Loop{ID: uuid.UUID{15: byte(i + 1)}, Session: uuid.UUID{1}, State: port.LoopOrphaned, Step: port.LoopCheck, Worktree: made}}
		data, err := json.Marshal(l)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(offline.Loops(dir), l.ID.String()+".json"), data, 0o600))
	}
	var w World
	require.NoError(t, w.findWorktrees(dir))
	assert.Equal(t, []string{"the git worktree " + stands + ", which a loop has made"}, w.Others)
}
