package environment

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/caarlos0/env/v11"
)

// agentUnset are the variables that an agent must not inherit: ccbot's own secrets, the address of
// its service manager, and the variables that Claude Code sets for its children. A claude that sees
// one of these last takes itself for a child and saves no transcript.
var agentUnset = []string{
	"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS", "ALLOWED_CHATS",
	"NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID",
	"CLAUDECODE", "CLAUDE_PID", "CLAUDE_EFFORT", "AI_AGENT",
	"CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_EXECPATH",
	"CLAUDE_CODE_MESSAGING_SOCKET", "CLAUDE_CODE_MESSAGING_TOKEN", "CLAUDE_CODE_SESSION_ATTENDED",
	"CLAUDE_CODE_CHILD_NOTES_DIR",
}

// agentNames are the variables of ccbot's own environment that an agent gets, in addition to those
// that its tmux server has; agentPrefixes are the beginnings of further names.
var (
	agentNames = []string{"PATH", "HOME", "CLAUDE_CONFIG_DIR", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY",
		"http_proxy", "https_proxy", "no_proxy", "NODE_EXTRA_CA_CERTS", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY",
		"DISABLE_ERROR_REPORTING"}
	agentPrefixes = []string{"ANTHROPIC_", "CLAUDE_CODE_", "DEMOAGENT_"}
)

// Agent returns the variables that an agent gets and those it must not have. The agent and ccbot
// must use the same configuration folder, wherever it was set: configDir is that folder, and empty
// where none was set.
func Agent(environ []string, configDir string) (set map[string]string, unset []string) {
	set = make(map[string]string)
	for name, value := range env.ToMap(environ) {
		prefixed := slices.ContainsFunc(agentPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
		if (prefixed || slices.Contains(agentNames, name)) && !slices.Contains(agentUnset, name) {
			set[name] = value
		}
	}
	if configDir != "" {
		set["CLAUDE_CONFIG_DIR"] = configDir
		return set, agentUnset
	}
	delete(set, "CLAUDE_CONFIG_DIR")
	return set, append(slices.Clone(agentUnset), "CLAUDE_CONFIG_DIR")
}

// WithFolder puts a folder at the end of a PATH, so that its programs hide no others. The folder
// gives the agent `ccbot send`.
func WithFolder(path, folder string) string {
	if slices.Contains(filepath.SplitList(path), folder) {
		return path
	}
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin" // what a shell assumes without one
	}
	return path + string(filepath.ListSeparator) + folder
}

// serverNames are the variables that a tmux server started by ccbot gets. They are few, because
// tmux passes the environment of the program that starts it to every later window.
var serverNames = []string{"HOME", "PATH", "SHELL", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR",
	"TMUX_TMPDIR", "SSH_AUTH_SOCK", "DISPLAY", "WAYLAND_DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "COLORTERM"}

// Server returns the variables for a tmux server, and for any other program that ccbot starts. None
// of them is secret.
func Server(environ []string) []string {
	var env []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(serverNames, name) || strings.HasPrefix(name, "LC_") || strings.HasPrefix(name, "XDG_") {
			env = append(env, kv)
		}
	}
	return env
}
