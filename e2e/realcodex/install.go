package realcodex

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

// Require returns the native program of the Codex that e2e/install.sh has installed. If it is
// missing, Require skips the test as programtest.Skip does.
func Require(t testing.TB) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	require.NoError(t, err)
	found, err := filepath.Glob(filepath.Join(cache, "ccbot-e2e", "node_modules", "@openai", "codex-*", "vendor", "*", "bin", "codex"))
	require.NoError(t, err)
	if len(found) != 1 {
		programtest.Skip(t, "Codex is not installed: run e2e/install.sh")
	}
	return found[0]
}

// NoNetwork is a variable that keeps Codex from all addresses but those of loopback: no program
// listens at the proxy.
const NoNetwork = "HTTPS_PROXY=http://127.0.0.1:1"

// Models of Codex' own catalog. All but the older one are in code mode, in which a model has one tool, for
// scripts that call the others.
const (
	InCodeMode = "gpt-6.1-sol"
	Classic    = "gpt-5.5"
)

// NoRetries are the lines of a Config after which Codex repeats no request that has failed.
const NoRetries = "request_max_retries = 0\nstream_max_retries = 0"

// Config is the config.toml of a home in which Codex asks nothing in the trusted folders, and talks
// only to the Responses API at an address of loopback. The key is in SCRIPTED_KEY.
func Config(api, model string, trusted ...string) []byte {
	text := fmt.Appendf(nil, `model = %q
model_provider = "scripted"
check_for_update_on_startup = false
disable_paste_burst = true
[model_providers.scripted]
name = "scripted"
base_url = "http://%s/v1"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
%s
[sandbox_workspace_write]
exclude_slash_tmp = true
exclude_tmpdir_env_var = true
[tui]
screen_reader_detection_done = true
[analytics]
enabled = false
[notice]
hide_rate_limit_model_nudge = true
[notice.model_migrations]
"gpt-5.5" = "gpt-6-sol"
`, model, api, NoRetries)
	for _, dir := range trusted {
		text = fmt.Appendf(text, "[projects.%q]\ntrust_level = \"trusted\"\n", dir)
	}
	return text
}
