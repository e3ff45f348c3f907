package realclaude

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/internal/waittest"
)

// Key is the dummy key that Env sets and Home approves.
const Key = "sk-ant-dummy-not-a-real-key-0123456789abcdef"

// Find returns the path of the pinned CLI installed by e2e/install.sh; ok is false if it is
// missing.
func Find() (path string, ok bool) {
	cache := os.Getenv("XDG_CACHE_HOME")
	if cache == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", false
		}
		cache = filepath.Join(home, ".cache")
	}
	path, err := exec.LookPath(filepath.Join(cache, "ccbot-e2e", "node_modules", ".bin", "claude"))
	return path, err == nil
}

// Require returns the path of the CLI. If the CLI is missing, Require skips the test as
// programtest.Skip does.
func Require(t testing.TB) string {
	t.Helper()
	path, ok := Find()
	if !ok {
		programtest.Skip(t, "the Claude Code CLI is not installed (run e2e/install.sh, with Node)")
	}
	return path
}

// Dirs are the private folders of one or more sessions.
type Dirs struct {
	Home   string // HOME
	Config string // CLAUDE_CONFIG_DIR; .claude.json lies inside it, not in HOME
}

// Home makes folders in which the CLI starts without a question in every folder of trusted: no
// onboarding, no question about the key, trust or the default mode. If CLAUDE_CONFIG_DIR is set,
// the CLI keeps .claude.json inside it (seen with 2.1.328).
func Home(t testing.TB, trusted ...string) Dirs {
	t.Helper()
	home, err := os.MkdirTemp("", "ccbot-claude-")
	require.NoError(t, err)
	// The CLI may still write when a test ends, so that a folder is not empty at once.
	t.Cleanup(func() {
		waittest.Until(t, func() bool { return os.RemoveAll(home) == nil })
	})
	home, err = filepath.EvalSymlinks(home)
	require.NoError(t, err)
	d := Dirs{Home: home, Config: filepath.Join(home, "config")}
	require.NoError(t, os.Mkdir(d.Config, 0o700))

	projects := make(map[string]any, len(trusted))
	for _, dir := range trusted {
		real, err := filepath.EvalSymlinks(dir)
		require.NoError(t, err)
		projects[real] = map[string]bool{"hasTrustDialogAccepted": true}
	}
	writeJSON(t, filepath.Join(d.Config, ".claude.json"), map[string]any{
		"hasCompletedOnboarding": true, "theme": "dark",
		"customApiKeyResponses":         map[string][]string{"approved": {Key[len(Key)-20:]}, "rejected": {}},
		"bypassPermissionsModeAccepted": true,
		"hasSeenAutoDefaultNudge":       true, // otherwise a dialog asks whether auto mode should be the default
		"projects":                      projects,
	})
	// A launch may bring its own settings; this is for one that does not.
	writeJSON(t, filepath.Join(d.Config, "settings.json"), map[string]any{"permissions": map[string]string{"defaultMode": "default"}})
	return d
}

func writeJSON(t testing.TB, path string, v any) {
	t.Helper()
	data, err := json.MarshalIndent(v, "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, data, 0o600))
}

// LogIn makes the CLI use a dummy account. It does so only without a key in its environment.
func (d Dirs) LogIn(t testing.TB) {
	t.Helper()
	writeJSON(t, filepath.Join(d.Config, ".credentials.json"), map[string]any{"claudeAiOauth": map[string]any{
		"accessToken": "sk-ant-oat01-dummy", "refreshToken": "sk-ant-ort01-dummy", "expiresAt": time.Now().Add(time.Hour).UnixMilli(),
		"scopes": []string{"user:inference", "user:profile"}, "subscriptionType": "max"}})
}

// Env is the whole environment of the CLI: nothing of the caller's goes along but PATH. baseURL is
// the loopback Messages API; more entries follow at the end and win.
func (d Dirs) Env(baseURL string, more ...string) []string {
	return append([]string{
		"HOME=" + d.Home, "CLAUDE_CONFIG_DIR=" + d.Config, "PATH=" + os.Getenv("PATH"),
		"TERM=tmux-256color", "LANG=C.UTF-8", "SHELL=/bin/bash",
		"ANTHROPIC_BASE_URL=" + baseURL, "ANTHROPIC_API_KEY=" + Key,
		"DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
	}, more...)
}
