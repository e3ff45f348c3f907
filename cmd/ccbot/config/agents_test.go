package config

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
)

// withSettings returns a good environment whose ccbot.env has lines.
func withSettings(t *testing.T, lines string, changes ...string) []string {
	t.Helper()
	environ := set(t, changes...)
	dir := filepath.Join(strings.TrimPrefix(environ[0], "HOME="), ".ccbot")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot.env"), []byte(lines), 0o600))
	return environ
}

func TestVariablesOfAgents(t *testing.T) {
	for _, tt := range []struct {
		name    string
		file    string
		environ []string
		want    map[string]string
	}{
		{"a key in the file", "ANTHROPIC_API_KEY=k\n", nil, map[string]string{"ANTHROPIC_API_KEY": "k"}},
		{"the environment wins", "AWS_PROFILE=a\n", []string{"AWS_PROFILE=b"}, map[string]string{"AWS_PROFILE": "b"}},
		{"proxies and certificates", "HTTPS_PROXY=http://p:1\n", []string{"NODE_EXTRA_CA_CERTS=/c", "SSL_CERT_FILE=/s"},
			map[string]string{"HTTPS_PROXY": "http://p:1", "NODE_EXTRA_CA_CERTS": "/c", "SSL_CERT_FILE": "/s"}},
		{"a name of one's own", "AGENT_ENV_EDITOR=vi\n", nil, map[string]string{"EDITOR": "vi"}},
		{"a name of one's own wins", "AGENT_ENV_AWS_REGION=a\n", []string{"AWS_REGION=b"}, map[string]string{"AWS_REGION": "a"}},
		{"empty is not set", "ANTHROPIC_API_KEY=\n", []string{"CLAUDE_CODE_USE_BEDROCK="}, map[string]string{}},
		{"other variables stay", "", []string{"EDITOR=vi", "LD_PRELOAD=x", "PATH=/bin"}, map[string]string{}},
		{"variables for children of Claude Code stay", "CLAUDE_CODE_SESSION_ID=x\n", []string{"CLAUDECODE=1"}, map[string]string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(withSettings(t, tt.file, tt.environ...))
			require.NoError(t, err)
			assert.Equal(t, tt.want, c.Agents)
		})
	}
}

func TestP9_AgentVariablesAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, line, want string }{
		{"the token", "AGENT_ENV_X=" + goodToken, "X, which agents get, contains the bot's token"},
		{"the token's secret half", "ANTHROPIC_API_KEY=" + goodToken[10:], "ANTHROPIC_API_KEY, which agents get, contains the bot's token"},
		{"the token in a URL", "HTTPS_PROXY=http://a:123456789%3AAAsecretsecretsecretsecret@h", "contains the bot's token"},
		{"ccbot's own secret", "AGENT_ENV_TELEGRAM_BOT_TOKEN=x", "agents do not get TELEGRAM_BOT_TOKEN"},
		{"a variable of Claude Code's children", "AGENT_ENV_CLAUDECODE=1", "agents do not get CLAUDECODE"},
		{"a variable of the launch", "AGENT_ENV_CCBOT_LAUNCH=1", "agents do not get CCBOT_LAUNCH"},
		{"an empty one", "AGENT_ENV_PATH=", "agents do not get PATH"},
		{"an empty secret", "AGENT_ENV_TELEGRAM_BOT_TOKEN=", "agents do not get TELEGRAM_BOT_TOKEN"},
		{"the window", "AGENT_ENV_TMUX_PANE=%1", "agents do not get TMUX_PANE"},
	} {
		for where, environ := range map[string][]string{
			"file": withSettings(t, tt.line+"\n"), "environment": withSettings(t, "", tt.line)} {
			t.Run(tt.name+" in the "+where, func(t *testing.T) {
				_, err := Load(environ)
				require.ErrorContains(t, err, tt.want)
				assert.Equal(t, exit.Misuse, exit.Code(err))
				assert.NotContains(t, err.Error(), tokenSecret)
			})
		}
	}
}

// Names for agents in ccbot.env are not unknown settings.
func TestAgentVariablesAreKnownSettings(t *testing.T) {
	c, err := Load(withSettings(t, "AWS_PROFILE=a\nAGENT_ENV_X=1\nEDITOR=vi\n"))
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"EDITOR": ""}, c.Unknown)
}

func TestP9_ConfigHidesAgentVariables(t *testing.T) {
	all, err := Settings(withSettings(t, "AGENT_ENV_X=sesame\n", "HTTPS_PROXY=http://u:sesame@h", "AWS_PROFILE="))
	require.NoError(t, err)
	var got []Setting
	for _, s := range all {
		assert.NotContains(t, s.Value, "sesame")
		if environment.ForAgents(s.Name) {
			got = append(got, Setting{Name: s.Name, Value: s.Value, Source: s.Source})
		}
	}
	assert.Equal(t, []Setting{{Name: "AGENT_ENV_X", Value: "hidden", Source: "file"}, {Name: "AWS_PROFILE", Value: "hidden", Source: "default"},
		{Name: "HTTPS_PROXY", Value: "hidden", Source: "environment"}}, got)
}

func TestTelegramUsesProxyOfSettings(t *testing.T) {
	c, err := Load(withSettings(t, "HTTPS_PROXY=http://proxy:3128\nno_proxy=inside\n"))
	require.NoError(t, err)
	for address, want := range map[string]string{"https://api.telegram.org": "http://proxy:3128", "https://inside": "", "http://127.0.0.1:1": ""} {
		q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
		require.NoError(t, err)
		proxy, err := c.Proxy()(q)
		require.NoError(t, err)
		if want == "" {
			assert.Nil(t, proxy, address)
			continue
		}
		assert.Equal(t, want, proxy.String(), address)
	}
}

// TestTelegramUsesSOCKSProxy, which resolves the name.
func TestTelegramUsesSOCKSProxy(t *testing.T) {
	proxy, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer proxy.Close()
	asked := make(chan string, 1)
	go func() {
		conn, err := proxy.Accept()
		if err != nil {
			asked <- err.Error()
			return
		}
		defer conn.Close()
		hello, request := make([]byte, 3), make([]byte, 5+len("api.telegram.org"))
		_, err = io.ReadFull(conn, hello)
		_, written := conn.Write([]byte{5, 0}) // no password
		_, read := io.ReadFull(conn, request)
		asked <- fmt.Sprint(errors.Join(err, written, read), " ", string(request[5:]))
	}()
	c, err := Load(withSettings(t, "HTTPS_PROXY=socks5://"+proxy.Addr().String()+"\n"))
	require.NoError(t, err)
	q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.telegram.org", nil)
	require.NoError(t, err)
	_, err = (&http.Transport{Proxy: c.Proxy()}).RoundTrip(q)
	require.Error(t, err)
	assert.Equal(t, "<nil> api.telegram.org", <-asked)
}

// TestProxyOfBotOrOfAgents: a variable with AGENT_ENV_ is of agents alone.
func TestProxyOfBotOrOfAgents(t *testing.T) {
	for _, tt := range []struct{ name, file, bot, agents string }{
		{"both", "HTTPS_PROXY=http://p:1\n", "http://p:1", "http://p:1"},
		{"agents only", "AGENT_ENV_HTTPS_PROXY=http://p:1\n", "", "http://p:1"},
		{"the bot only", "HTTPS_PROXY=http://p:1\nAGENT_ENV_HTTPS_PROXY=\n", "http://p:1", ""},
		{"each its own", "HTTPS_PROXY=http://p:1\nAGENT_ENV_HTTPS_PROXY=http://p:2\n", "http://p:1", "http://p:2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(withSettings(t, tt.file))
			require.NoError(t, err)
			assert.Equal(t, tt.agents, c.Agents["HTTPS_PROXY"])
			q, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "https://api.telegram.org", nil)
			require.NoError(t, err)
			proxy, err := c.Proxy()(q)
			require.NoError(t, err)
			if tt.bot == "" {
				assert.Nil(t, proxy)
			} else if assert.NotNil(t, proxy) {
				assert.Equal(t, tt.bot, proxy.String())
			}
		})
	}
}

// TestLackingProxyOfBot: a proxy of the bot alone needs two lines.
func TestLackingProxyOfBot(t *testing.T) {
	environ := withSettings(t, "", "HTTPS_PROXY=http://p:1", "AGENT_ENV_HTTPS_PROXY=")
	mine, err := Load(environ)
	require.NoError(t, err)
	its, err := Load(environ[:3])
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"HTTPS_PROXY": "http://p:1", "AGENT_ENV_HTTPS_PROXY": ""}, Lacking(environ, mine, its))
}

// TestLacking: a program that reads only ccbot.env lacks what only the environment sets.
func TestLacking(t *testing.T) {
	environ := withSettings(t, "KILL_GRACE=5s\nAWS_PROFILE=a\n", "AWS_PROFILE=a", "AGENT_ENV_X=1", "ANTHROPIC_API_KEY=k", "LOG_LEVEL=debug", "EDITOR=vi")
	mine, err := Load(environ)
	require.NoError(t, err)
	its, err := Load(environ[:3])
	require.NoError(t, err)
	assert.Equal(t, map[string]string{"AGENT_ENV_X": "1", "ANTHROPIC_API_KEY": "k", "LOG_LEVEL": "debug"}, Lacking(environ, mine, its))
}

// With a folder that cannot be used, a session of Codex is refused when it starts.
func TestCodexFolderStopsNoBot(t *testing.T) {
	for _, tt := range []struct{ name, file, want string }{
		{"none", "", "~/.codex"},
		{"in the home", "CODEX_HOME=~/c\n", "~/c"},
		{"relative", "CODEX_HOME=c\n", "c"},
		{"as of agents", "AGENT_ENV_CODEX_HOME=/c/../d\n", "/d"},
		{"of agents first", "CODEX_HOME=/c\nAGENT_ENV_CODEX_HOME=/d\n", "/d"},
		{"none of agents", "CODEX_HOME=/c\nAGENT_ENV_CODEX_HOME=\n", "~/.codex"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(withSettings(t, tt.file))
			require.NoError(t, err)
			assert.Equal(t, expandHome(tt.want, c.Home), c.CodexDir)
			assert.NotContains(t, c.Agents, "CODEX_HOME", "the launch sets it")
		})
	}
}

// TestAgentVariablesAreDocumented: docs/configuration.md names each of them.
func TestAgentVariablesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	_, after, _ := strings.Cut(string(page), "### Variables of agents")
	section, _, _ := strings.Cut(after, "\n#")
	for _, name := range environment.AgentNames {
		if name == strings.ToUpper(name) {
			assert.Contains(t, section, "`"+name+"`")
		}
	}
	for _, prefix := range environment.AgentPrefixes {
		if prefix != "DEMOAGENT_" { // of the stand-in
			assert.Contains(t, section, "`"+prefix+"…`")
		}
	}
}
