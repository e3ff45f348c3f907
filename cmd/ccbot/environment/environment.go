package environment

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
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

// colourless are variables of a tmux server by which Claude Code draws without attributes. Its hint
// in the empty prompt box then looks like a person's draft, so no session ever becomes ready (2.1.332).
// An agent has them only by a variable with CustomPrefix.
var colourless = []string{"NO_COLOR", "CI"}

// fixed are the variables that ccbot, tmux or the caller of Agent sets for an agent.
var fixed = []string{"PATH", "HOME", "CLAUDE_CONFIG_DIR", "CCBOT_LAUNCH", "CCBOT_DIR", "TMUX", "TMUX_PANE"}

// AgentNames and AgentPrefixes are the variables that an agent gets from the environment or from
// ccbot.env: what Claude Code and its providers need. docs/configuration.md lists them.
var (
	AgentNames = []string{
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
		"NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR",
		"CLOUD_ML_REGION", "API_TIMEOUT_MS", "MCP_TIMEOUT", "MCP_TOOL_TIMEOUT", "MAX_MCP_OUTPUT_TOKENS",
		"MAX_THINKING_TOKENS", "BASH_DEFAULT_TIMEOUT_MS", "BASH_MAX_TIMEOUT_MS", "BASH_MAX_OUTPUT_LENGTH",
		"DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_COST_WARNINGS",
	}
	AgentPrefixes = []string{"ANTHROPIC_", "CLAUDE_CODE_", "AWS_", "GOOGLE_", "VERTEX_REGION_", "OTEL_", "DEMOAGENT_"}
)

// CustomPrefix is the beginning of variables that agents get without it: AGENT_ENV_X=1 is X=1.
const CustomPrefix = "AGENT_ENV_"

// ForAgents reports whether agents get the variable name.
func ForAgents(name string) bool {
	if custom, is := strings.CutPrefix(name, CustomPrefix); is {
		return custom != ""
	}
	prefixed := slices.ContainsFunc(AgentPrefixes, func(p string) bool { return strings.HasPrefix(name, p) })
	return (prefixed || slices.Contains(AgentNames, name)) && !slices.Contains(agentUnset, name)
}

// OfAgents returns the variables that agents get, by the names under which agents get them. An
// empty value means that the variable is not set. A variable with CustomPrefix wins over the same
// name without it. It is an error if a variable with CustomPrefix names one that agents must not
// have, or one that ccbot sets itself.
func OfAgents(vars map[string]string) (map[string]string, error) {
	agents := make(map[string]string)
	for name, value := range vars {
		custom, is := strings.CutPrefix(name, CustomPrefix)
		_, overridden := vars[CustomPrefix+name]
		switch {
		case is && (slices.Contains(agentUnset, custom) || slices.Contains(fixed, custom)):
			return nil, fmt.Errorf("%s: agents do not get %s from a setting", name, custom)
		case !ForAgents(name) || overridden || value == "":
		case is:
			agents[custom] = value
		default:
			agents[name] = value
		}
	}
	return agents, nil
}

// Network returns the proxies and certificates in vars that ccbot itself uses. An empty value means
// that the variable is not set.
func Network(vars map[string]string) map[string]string {
	network := make(map[string]string)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR"} {
		if value := vars[name]; value != "" {
			network[name] = value
		}
	}
	return network
}

// Agent returns the variables that an agent gets and those it must not have. agents are the
// variables of OfAgents; PATH and HOME come from ccbot's own environment vars. The agent and ccbot
// must use the same configuration folder: configDir is that folder, or empty for Claude Code's
// default.
func Agent(vars, agents map[string]string, configDir string) (set map[string]string, unset []string) {
	set = make(map[string]string, len(agents)+len(fixed))
	for name, value := range agents {
		set[name] = value
	}
	for _, name := range []string{"PATH", "HOME"} {
		if value, is := vars[name]; is {
			set[name] = value
		}
	}
	unset = slices.Clone(agentUnset)
	for _, name := range colourless {
		if _, is := set[name]; !is {
			unset = append(unset, name)
		}
	}
	if configDir != "" {
		set["CLAUDE_CONFIG_DIR"] = configDir
		return set, unset
	}
	return set, append(unset, "CLAUDE_CONFIG_DIR")
}

// WithFolder appends a folder to a PATH, so that its programs hide no others. The folder has the
// `ccbot` of `ccbot send`.
func WithFolder(path, folder string) string {
	if slices.Contains(filepath.SplitList(path), folder) {
		return path
	}
	if path == "" {
		path = "/usr/local/bin:/usr/bin:/bin" // a shell's default
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
