package claudesettings

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
)

var recordID = uuid.MustParse("01890a5d-ac96-774b-bcce-b302099a8057")

func writeSettings(t *testing.T, l Launch) settings {
	t.Helper()
	path, err := l.Write(recordID, "", nil)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(l.Dir, "launch", recordID.String()+".json"), path)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	var got settings
	decoder := json.NewDecoder(strings.NewReader(string(data)))
	decoder.DisallowUnknownFields()
	require.NoError(t, decoder.Decode(&got))
	return got
}

func TestLaunch_Settings(t *testing.T) {
	dir := t.TempDir()
	tests := []struct {
		name, mode, defaultMode string
		events                  []string
	}{
		{"ask", agent.ModeAsk, "default", []string{"PermissionRequest", "SessionEnd", "SessionStart", "Stop", "StopFailure", "UserPromptSubmit"}},
		{"bypass", agent.ModeBypass, "", []string{"SessionEnd", "SessionStart", "Stop", "StopFailure", "UserPromptSubmit"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := writeSettings(t, Launch{Dir: dir, HookBinary: "/opt/ccbot-hook", Mode: tt.mode})
			run := "'/opt/ccbot-hook' --dir '" + dir + "' --launch " + recordID.String()
			clean := `/usr/bin/env -i CLAUDE_PID="${CLAUDE_PID-}" TMUX="${TMUX-}" TMUX_PANE="${TMUX_PANE-}" ` + run
			want := settings{
				Hooks: map[string][]matcher{},
				Permissions: permissions{
					DefaultMode: tt.defaultMode,
					Deny:        []string{"Read(/" + dir + "/**)", "Edit(/" + dir + "/**)"},
				},
				StatusLine: statusLine{Type: "command", Command: run + " --status >/dev/null 2>&1 || :"},
				Env: map[string]string{"CLAUDE_CODE_SHELL_PREFIX": "", "CLAUDE_CODE_CHILD_SESSION": "0", "CLAUDE_CODE_SKIP_PROMPT_HISTORY": "0",
					"CLAUDE_CODE_SIMPLE": "0", "CLAUDE_CODE_SAFE_MODE": "0",
					"LD_PRELOAD": "", "LD_AUDIT": "", "LD_LIBRARY_PATH": "", "LD_ORIGIN_PATH": "", "LD_DEBUG": "", "LD_DEBUG_OUTPUT": "",
					"LD_PROFILE": "", "LD_PROFILE_OUTPUT": "", "LD_BIND_NOW": "", "LD_BIND_NOT": "", "GLIBC_TUNABLES": "", "LOCPATH": "",
					"OPTIND": "1"},
				QuestionTimeout: "never", NoAgentView: true,
			}
			if tt.mode == agent.ModeAsk {
				want.Sandbox = &sandbox{}
			}
			for _, name := range tt.events {
				want.Hooks[name] = []matcher{{Hooks: []command{{
					Type: "command", Timeout: 5, Command: clean + " >/dev/null 2>&1 || :",
				}}}}
			}
			want.Hooks["PostToolUse"] = []matcher{{Matcher: "CronCreate|ScheduleWakeup", Hooks: want.Hooks["Stop"][0].Hooks}}
			if asks := want.Hooks["PermissionRequest"]; asks != nil {
				asks[0].Hooks[0] = command{Type: "command", Timeout: 86400, Command: clean + " 2>/dev/null || :"}
			}
			assert.Equal(t, want, got)
		})
	}
}

func TestLaunch_WriteRefuses(t *testing.T) {
	tests := []struct {
		name   string
		launch Launch
	}{
		{"unknown mode", Launch{Dir: "/d", HookBinary: "/h", Mode: "yes"}},
		{"no mode", Launch{Dir: "/d", HookBinary: "/h"}},
		{"relative folder", Launch{Dir: "d", HookBinary: "/h", Mode: agent.ModeAsk}},
		{"relative binary", Launch{Dir: "/d", HookBinary: "ccbot-hook", Mode: agent.ModeAsk}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := tt.launch.Write(recordID, "", nil)
			assert.Error(t, err)
		})
	}
}

// odd are names that a shell would take apart.
func odd() []string {
	return []string{"plain", "with space", "d'ouble'", `q"uote`, "$HOME", "$(touch x)", "`touch x`", "a;b&c|d", "new\nline", `back\slash`, "*?[a]", "-dash", "~", "#", "ünï"}
}

func TestP10_CommandReachesTheHook(t *testing.T) {
	for _, name := range odd() {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), name)
			require.NoError(t, os.Mkdir(dir, 0o700))
			binary := filepath.Join(dir, "ccbot-hook")
			out := filepath.Join(t.TempDir(), "out")
			// It prints its arguments, writes an error and fails, without an effect on the launch.
			script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >" + shellQuote(out) + "\necho out\necho err >&2\nexit 2\n"
			require.NoError(t, os.WriteFile(binary, []byte(script), 0o700))
			got := writeSettings(t, Launch{Dir: dir, HookBinary: binary, Mode: agent.ModeAsk})

			cmd := exec.Command("/bin/sh", "-c", got.Hooks["Stop"][0].Hooks[0].Command)
			cmd.Dir = t.TempDir()
			said, err := cmd.CombinedOutput()
			require.NoError(t, err)
			assert.Empty(t, string(said))
			args, err := os.ReadFile(out)
			require.NoError(t, err)
			assert.Equal(t, "--dir\x00"+dir+"\x00--launch\x00"+recordID.String()+"\x00", string(args))
			entries, err := os.ReadDir(cmd.Dir)
			require.NoError(t, err)
			assert.Empty(t, entries, "nothing in the name was run")
		})
	}
}

// TestP10_RepositoryEnvironmentReachesNoHook runs each command line in an environment that a
// repository could set. The hook must see three variables of it.
func TestP10_RepositoryEnvironmentReachesNoHook(t *testing.T) {
	dir := t.TempDir()
	binary, out := filepath.Join(dir, "ccbot-hook"), filepath.Join(dir, "out")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\nexport -p >"+shellQuote(out)+"\n"), 0o700))
	got := writeSettings(t, Launch{Dir: dir, HookBinary: binary, Mode: agent.ModeAsk})
	for name, matchers := range got.Hooks {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/bin/sh", "-c", matchers[0].Hooks[0].Command)
			cmd.Env = []string{"CCBOT_LAUNCH=", "GOMEMLIMIT=x", "PATH=/nowhere", "IFS=/", "ENV=/nowhere", "BASH_ENV=/nowhere",
				"CLAUDE_PID=7", "TMUX=/tmp/s,1,0", "TMUX_PANE=%7"}
			require.NoError(t, cmd.Run())
			env, err := os.ReadFile(out)
			require.NoError(t, err)
			require.NoError(t, os.Remove(out))
			for _, kept := range []string{"CLAUDE_PID='7'", "TMUX='/tmp/s,1,0'", "TMUX_PANE='%7'"} {
				assert.Contains(t, strings.ReplaceAll(string(env), `"`, `'`), kept)
			}
			for _, gone := range []string{"CCBOT_LAUNCH", "GOMEMLIMIT", "PATH=", "ENV="} {
				assert.NotContains(t, strings.ReplaceAll(string(env), "PWD", ""), gone)
			}
		})
	}
}

// TestLaunch_PinsStartValues checks that the linker's variables of a person stay.
func TestLaunch_PinsStartValues(t *testing.T) {
	started := map[string]string{"LD_LIBRARY_PATH": "/opt/lib", "OPTIND": "3", "GOMEMLIMIT": "1GiB", "CLAUDE_CODE_SIMPLE": "1"}
	env := pins(started)
	assert.Equal(t, "/opt/lib", env["LD_LIBRARY_PATH"])
	assert.Equal(t, "3", env["OPTIND"])
	assert.Equal(t, "0", env["CLAUDE_CODE_SIMPLE"])
	assert.Empty(t, env["LD_PRELOAD"])
	assert.NotContains(t, env, "GOMEMLIMIT")
	assert.Len(t, env, len(pinned)+len(Inherited()))
}

func TestP10_MissingBinaryIsSilent(t *testing.T) {
	got := writeSettings(t, Launch{Dir: t.TempDir(), HookBinary: "/nowhere/ccbot-hook", Mode: agent.ModeAsk})
	lines := []string{got.StatusLine.Command}
	for _, matchers := range got.Hooks {
		lines = append(lines, matchers[0].Hooks[0].Command)
	}
	require.Len(t, lines, 8)
	for _, line := range lines {
		said, err := exec.Command("/bin/sh", "-c", line).CombinedOutput()
		require.NoError(t, err, line)
		assert.Empty(t, string(said), line)
	}
}

func TestP10_OnlyAPermissionIsHeard(t *testing.T) {
	binary := filepath.Join(t.TempDir(), "ccbot-hook")
	require.NoError(t, os.WriteFile(binary, []byte("#!/bin/sh\necho out\necho err >&2\nexit 2\n"), 0o700))
	got := writeSettings(t, Launch{Dir: t.TempDir(), HookBinary: binary, Mode: agent.ModeAsk})
	for name, matchers := range got.Hooks {
		var complaint strings.Builder
		cmd := exec.Command("/bin/sh", "-c", matchers[0].Hooks[0].Command)
		cmd.Stderr = &complaint
		said, err := cmd.Output()
		require.NoError(t, err, name)
		assert.Empty(t, complaint.String(), name)
		assert.Equal(t, name == "PermissionRequest", string(said) == "out\n", name)
	}
}

func TestLaunch_Remove(t *testing.T) {
	l := Launch{Dir: t.TempDir(), HookBinary: "/h", Mode: agent.ModeAsk}
	require.NoError(t, l.Remove(recordID), "nothing there")
	path, err := l.Write(recordID, "", nil)
	require.NoError(t, err)
	status := filepath.Join(l.Dir, "status", recordID.String()+".json")
	require.NoError(t, os.Mkdir(filepath.Dir(status), 0o700))
	require.NoError(t, os.WriteFile(status, nil, 0o600))
	require.NoError(t, l.Remove(recordID))
	assert.NoFileExists(t, path)
	assert.NoFileExists(t, status)
}

func TestDenyBelow(t *testing.T) {
	real := filepath.Join(t.TempDir(), "real (x) [y]*")
	require.NoError(t, os.Mkdir(real, 0o700))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(real, link))
	escaped := filepath.Dir(real) + `/real \(x\) \[y\]\*`
	assert.Equal(t, []string{
		"Read(/" + link + "/**)", "Edit(/" + link + "/**)",
		"Read(/" + escaped + "/**)", "Edit(/" + escaped + "/**)",
	}, denyBelow(link+"/"))
}

func TestFindHookBinary(t *testing.T) {
	dir := t.TempDir()
	self, hook := filepath.Join(dir, "ccbot"), filepath.Join(dir, "ccbot-hook")
	_, err := FindHookBinary(self)
	require.ErrorIs(t, err, errNoHookBinary)
	require.NoError(t, os.WriteFile(hook, nil, 0o600))
	_, err = FindHookBinary(self)
	require.ErrorIs(t, err, errNoHookBinary, "it cannot be run")
	require.NoError(t, os.Chmod(hook, 0o700))
	got, err := FindHookBinary(self)
	require.NoError(t, err)
	assert.Equal(t, hook, got)
}
