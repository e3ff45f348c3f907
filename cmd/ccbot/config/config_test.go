package config

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/i18n"
	"ccbot/internal/hookwire"
	"ccbot/internal/token"
)

// goodToken has the form of a token, but belongs to no bot.
const (
	goodToken   = "123456789:AAsecretsecretsecretsecret"
	tokenSecret = "AAsecret" // must not be in an error
)

// documented are the rows that docs/configuration.md must have, from the struct
// itself.
func documented() []string {
	var rows []string
	for f := range fields() {
		fallback := "none"
		if d := f.Tag.Get("envDefault"); d != "" {
			fallback = "`" + d + "`"
		}
		rows = append(rows, fmt.Sprintf("| `%s` | %s | %s |", f.Tag.Get("env"), fallback, f.Tag.Get("doc")))
	}
	return rows
}

// constantName is a comment of the page behind a number, which the rules of the tree check.
var constantName = regexp.MustCompile(`<!--.*?-->`)

// fields are Config's fields that are read from the environment.
func fields() func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		all := reflect.TypeFor[Config]()
		for i := range all.NumField() {
			if f := all.Field(i); f.Tag.Get("env") != "" && !yield(f) {
				return
			}
		}
	}
}

func TestConfigurationIsDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../docs/configuration.md")
	require.NoError(t, err)
	var rows []string
	first, _, _ := strings.Cut(string(page), "\n## ") // the later sections have tables as well
	for line := range strings.Lines(first) {
		if strings.HasPrefix(line, "| `") {
			rows = append(rows, constantName.ReplaceAllString(strings.TrimSpace(line), ""))
		}
	}
	want := documented()
	assert.Equal(t, want, rows, "docs/configuration.md should have these rows:\n%s", strings.Join(want, "\n"))
	for f := range fields() {
		assert.NotEmpty(t, f.Tag.Get("doc"), "%s has no doc text", f.Name)
	}
}

// set returns a good configuration in a separate home, with changes.
func set(t *testing.T, changes ...string) []string {
	t.Helper()
	return append([]string{"HOME=" + t.TempDir(), "TELEGRAM_BOT_TOKEN=" + goodToken, "ALLOWED_USERS=1"}, changes...)
}

func TestLoadConfigDefaults(t *testing.T) {
	environ := set(t)
	home := strings.TrimPrefix(environ[0], "HOME=")
	c, err := Load(environ)
	require.NoError(t, err)
	assert.Equal(t, "https://api.telegram.org", c.APIURL)
	assert.Equal(t, filepath.Join(home, ".ccbot"), c.Dir)
	assert.Equal(t, filepath.Join(home, ".claude"), c.ClaudeDir)
	assert.Equal(t, "ccbot", c.TmuxSession)
	assert.Empty(t, c.TmuxSocket)
	assert.Equal(t, 12*time.Second, c.KillGrace)
	assert.Equal(t, 24*time.Hour, c.IdleAfter)
	assert.Equal(t, 90*24*time.Hour, c.PurgeAfter)
	assert.Equal(t, map[int64]bool{1: true}, c.AllowedUsers.Set())
	assert.Empty(t, c.Flags)
	assert.NoDirExists(t, c.Dir, "reading the configuration makes nothing")
}

// TestVariableWithoutNameIsNoSetting: execve allows "=x" in an environment.
func TestVariableWithoutNameIsNoSetting(t *testing.T) {
	environ := set(t)
	want, err := Load(environ)
	require.NoError(t, err)
	got, err := Load(append(slices.Clone(environ), "=odd"))
	require.NoError(t, err)
	assert.Equal(t, fmt.Sprintf("%+v", want), fmt.Sprintf("%+v", got))
}

func TestLoadConfig(t *testing.T) {
	root := t.TempDir()
	for _, tt := range []struct {
		name   string
		change string
		want   func(t *testing.T, c Config)
	}{
		{"several people, with blanks", "ALLOWED_USERS=1, 22,333", func(t *testing.T, c Config) {
			assert.Equal(t, ids{1, 22, 333}, c.AllowedUsers)
		}},
		{"groups are negative", "ALLOWED_CHATS=-100123", func(t *testing.T, c Config) { assert.Equal(t, ids{-100123}, c.AllowedChats) }},
		{"plain http to this machine", "TELEGRAM_API_URL=http://127.0.0.1:8081/", func(t *testing.T, c Config) {
			assert.Equal(t, "http://127.0.0.1:8081", c.APIURL)
		}},
		{"plain http to this machine, IPv6", "TELEGRAM_API_URL=http://[::1]:8081", func(t *testing.T, c Config) {
			assert.Equal(t, "http://[::1]:8081", c.APIURL)
		}},
		{"empty is not set", "TMUX_SESSION_NAME=", func(t *testing.T, c Config) { assert.Equal(t, "ccbot", c.TmuxSession) }},
		{"a proxy without its kind", "HTTPS_PROXY=proxy:3128", func(t *testing.T, c Config) { assert.NotNil(t, c.Proxy()) }},
		{"a proxy with a password", "HTTPS_PROXY=socks5h://u:p@[::1]:1080", func(t *testing.T, c Config) { assert.NotNil(t, c.Proxy()) }},
		{"flags are shell words", `CLAUDE_FLAGS=--model opus --append-system-prompt 'be "brief"'`, func(t *testing.T, c Config) {
			assert.Equal(t, []string{"--model", "opus", "--append-system-prompt", `be "brief"`}, c.Flags)
		}},
		{"flags are not expanded", "CLAUDE_FLAGS=--a 'costs $5 or `x`' \\$HOME '{b,c}' * {d} ''", func(t *testing.T, c Config) {
			assert.Equal(t, []string{"--a", "costs $5 or `x`", "$HOME", "{b,c}", "*", "{d}", ""}, c.Flags)
		}},
		{"flags have no home folder", "CLAUDE_FLAGS=--add-dir ~/x ~root/y '~' a~", func(t *testing.T, c Config) {
			assert.Equal(t, []string{"--add-dir", "~/x", "~root/y", "~", "a~"}, c.Flags)
		}},
		{"a flag that only looks forbidden", "CLAUDE_FLAGS=--permission-prompt-tool x", func(t *testing.T, c Config) {
			assert.Len(t, c.Flags, 2)
		}},
		{"minutes", "KILL_GRACE=2m", func(t *testing.T, c Config) { assert.Equal(t, 2*time.Minute, c.KillGrace) }},
		{"days", "KILL_GRACE=1d", func(t *testing.T, c Config) { assert.Equal(t, 24*time.Hour, c.KillGrace) }},
		{"none", "KILL_GRACE=0", func(t *testing.T, c Config) { assert.Zero(t, c.KillGrace) }},
		{"no idle archive", "IDLE_ARCHIVE_AFTER=0", func(t *testing.T, c Config) { assert.Zero(t, c.IdleAfter) }},
		{"an idle archive after a day", "IDLE_ARCHIVE_AFTER=24h", func(t *testing.T, c Config) {
			assert.Equal(t, 24*time.Hour, time.Duration(c.IdleAfter))
		}},
		{"nothing is forgotten", "ARCHIVE_PURGE_AFTER=0", func(t *testing.T, c Config) { assert.Zero(t, c.PurgeAfter) }},
		{"centuries", "ARCHIVE_PURGE_AFTER=106751d", func(t *testing.T, c Config) {
			assert.Equal(t, 106751*24*time.Hour, c.PurgeAfter)
		}},
		{"no running session is given up", "STALE_RUNNING_AFTER=0", func(t *testing.T, c Config) {
			assert.Zero(t, c.Limits().StaleRunning)
		}},
		{"no metrics", "METRICS_ADDR=", func(t *testing.T, c Config) { assert.Empty(t, c.MetricsAddr) }},
		{"metrics for this machine", "METRICS_ADDR=127.0.0.1:9095", func(t *testing.T, c Config) {
			assert.Equal(t, "127.0.0.1:9095", c.MetricsAddr)
		}},
		{"metrics for this machine, by its name", "METRICS_ADDR=localhost:9095", func(t *testing.T, c Config) {
			assert.Equal(t, "localhost:9095", c.MetricsAddr)
		}},
		{"metrics for this machine, IPv6", "METRICS_ADDR=[::1]:9095", func(t *testing.T, c Config) {
			assert.Equal(t, "[::1]:9095", c.MetricsAddr)
		}},
		{"work goes on", "CCBOT_RESUME_ON_START=continue", func(t *testing.T, c Config) { assert.Equal(t, "continue", c.ResumeOnStart) }},
		{"all come back", "CCBOT_RESUME_ON_START=all", func(t *testing.T, c Config) { assert.Equal(t, "all", c.ResumeOnStart) }},
		{"roots", "CCBOT_ROOTS=" + root, func(t *testing.T, c Config) { assert.Equal(t, []string{root}, c.RootFolders) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := Load(set(t, tt.change))
			require.NoError(t, err)
			tt.want(t, c)
		})
	}
}

// TestP9_ErrorsHideToken makes every possible mistake, including a token in the wrong setting.
func TestP9_ErrorsHideToken(t *testing.T) {
	for _, tt := range []struct{ name, change, names string }{
		{"token missing", "TELEGRAM_BOT_TOKEN=", "TELEGRAM_BOT_TOKEN"},
		{"token cut", "TELEGRAM_BOT_TOKEN=" + goodToken[:15], "TELEGRAM_BOT_TOKEN"},
		{"nobody allowed", "ALLOWED_USERS=", "ALLOWED_USERS"},
		{"only commas", "ALLOWED_USERS=, ,", "ALLOWED_USERS"},
		{"a name instead of an id", "ALLOWED_USERS=@me", "ALLOWED_USERS"},
		{"the token as a person", "ALLOWED_USERS=" + goodToken, "ALLOWED_USERS"},
		{"zero", "ALLOWED_CHATS=0", "ALLOWED_CHATS"},
		{"http to the world", "TELEGRAM_API_URL=http://api.example.com", "TELEGRAM_API_URL"},
		{"http to a name that begins well", "TELEGRAM_API_URL=http://localhost.example.com", "TELEGRAM_API_URL"},
		{"the token in the address", "TELEGRAM_API_URL=http://x/bot" + goodToken, "TELEGRAM_API_URL"},
		{"no address", "TELEGRAM_API_URL=api.telegram.org", "TELEGRAM_API_URL"},
		{"a proxy without a host", "HTTPS_PROXY=http://", "HTTPS_PROXY"},
		{"a proxy that cannot be read", "https_proxy=http://u:" + goodToken[10:] + "@[", "HTTPS_PROXY"},
		{"a port that is no number", "HTTPS_PROXY=http://proxy:port", "HTTPS_PROXY"},
		{"a port alone", "HTTPS_PROXY=:3128", "HTTPS_PROXY"},
		{"an unknown kind of proxy", "HTTPS_PROXY=ftp://proxy", "HTTPS_PROXY"},
		{"a kind of proxy without a host", "HTTPS_PROXY=socks5:proxy:1080", "HTTPS_PROXY"},
		{"a flag of ours", "CLAUDE_FLAGS=--resume x", "CLAUDE_FLAGS"},
		{"a flag of ours with =", "CLAUDE_FLAGS=--session-id=x", "CLAUDE_FLAGS"},
		{"a short flag of ours", "CLAUDE_FLAGS=--model x -c", "CLAUDE_FLAGS"},
		{"print mode", "CLAUDE_FLAGS=--print", "CLAUDE_FLAGS"},
		{"settings", "CLAUDE_FLAGS=--settings /tmp/x", "CLAUDE_FLAGS"},
		{"an open quote", "CLAUDE_FLAGS='x", "CLAUDE_FLAGS"},
		{"a command", "CLAUDE_FLAGS=$(id)", "CLAUDE_FLAGS"},
		{"a variable", `CLAUDE_FLAGS="a $HOME"`, "CLAUDE_FLAGS"},
		{"a backquote", "CLAUDE_FLAGS=`id`", "CLAUDE_FLAGS"},
		{"one word for two", "CLAUDE_FLAGS={a,b}", "CLAUDE_FLAGS"},
		{"a sum", "CLAUDE_FLAGS=$((1+1))", "CLAUDE_FLAGS"},
		{"a process", "CLAUDE_FLAGS=<(id)", "CLAUDE_FLAGS"},
		{"a mode that is none", "CCBOT_PERMISSION_MODE=yes", "CCBOT_PERMISSION_MODE"},
		{"a relative folder", "CCBOT_DIR=here", "CCBOT_DIR"},
		{"a root that is not there", "CCBOT_ROOTS=/does/not/exist", "CCBOT_ROOTS"},
		{"a session name that tmux would read", "TMUX_SESSION_NAME=a:b", "TMUX_SESSION_NAME"},
		{"a socket that is a path", "CCBOT_TMUX_SOCKET=/tmp/x", "CCBOT_TMUX_SOCKET"},
		{"the token for a span", "KILL_GRACE=" + goodToken, "KILL_GRACE"},
		{"the token for a language", "CCBOT_LANG=" + goodToken, "CCBOT_LANG"},
		{"half a token for a level", "LOG_LEVEL=" + goodToken[10:], "LOG_LEVEL"},
		{"a span without unit", "KILL_GRACE=12", "KILL_GRACE"},
		{"a span of Go", "KILL_GRACE=1.5h", "KILL_GRACE"},
		{"a negative span", "IDLE_ARCHIVE_AFTER=-6h", "IDLE_ARCHIVE_AFTER"},
		{"a word for a span", "ARCHIVE_PURGE_AFTER=never", "ARCHIVE_PURGE_AFTER"},
		{"a span that would come out as another", "ARCHIVE_PURGE_AFTER=213504d", "ARCHIVE_PURGE_AFTER"},
		{"a span without end", "IDLE_ARCHIVE_AFTER=99999999999999999999d", "IDLE_ARCHIVE_AFTER"},
		{"an age without unit", "STALE_RUNNING_AFTER=30", "STALE_RUNNING_AFTER"},
		{"an age of Go", "RESUME_STALE_AFTER=90.5m", "RESUME_STALE_AFTER"},
		{"a negative grace", "ORPHAN_GRACE=-1s", "ORPHAN_GRACE"},
		{"a resume that is none", "CCBOT_RESUME_ON_START=yes", "CCBOT_RESUME_ON_START"},
		{"a command to go on with", "CCBOT_CONTINUE_TEXT=/clear", "CCBOT_CONTINUE_TEXT"},
		{"a shell command to go on with", "CCBOT_CONTINUE_TEXT=!rm x", "CCBOT_CONTINUE_TEXT"},
		{"nothing to go on with", "CCBOT_CONTINUE_TEXT=  ", "CCBOT_CONTINUE_TEXT"},
		{"a book to go on with", "CCBOT_CONTINUE_TEXT=" + strings.Repeat("x", 2001), "CCBOT_CONTINUE_TEXT"},
		{"a negative budget", "CCBOT_BUDGET_DAY=-1", "CCBOT_BUDGET_DAY"},
		{"a budget that is no number", "CCBOT_BUDGET_DAY=NaN", "CCBOT_BUDGET_DAY"},
		{"a budget without end", "CCBOT_BUDGET_DAY=Inf", "CCBOT_BUDGET_DAY"},
		{"the token for a budget", "CCBOT_BUDGET_DAY=" + goodToken, "CCBOT_BUDGET_DAY"},
		{"metrics for everybody", "METRICS_ADDR=:9095", "METRICS_ALLOW_REMOTE=1"},
		{"metrics on all addresses", "METRICS_ADDR=0.0.0.0:9095", "METRICS_ADDR"},
		{"metrics for the network", "METRICS_ADDR=192.0.2.1:9095", "METRICS_ADDR"},
		{"metrics on a name that begins well", "METRICS_ADDR=localhost.example.com:9095", "METRICS_ADDR"},
		{"metrics without a port", "METRICS_ADDR=127.0.0.1", "METRICS_ADDR"},
		{"metrics on any port", "METRICS_ADDR=127.0.0.1:0", "METRICS_ADDR"},
		{"metrics on a port by its name", "METRICS_ADDR=127.0.0.1:http", "METRICS_ADDR"},
		{"the token as a port", "METRICS_ADDR=" + goodToken, "METRICS_ADDR"},
		{"a word for yes", "METRICS_ALLOW_REMOTE=perhaps", "METRICS_ALLOW_REMOTE"},
		{"the token for yes", "METRICS_ALLOW_REMOTE=" + goodToken, "METRICS_ALLOW_REMOTE"},
		{"a language that is none", "CCBOT_LANG=xx", "CCBOT_LANG"},
		{"a level that is none", "LOG_LEVEL=loud", "LOG_LEVEL"},
		{"a format that is none", "LOG_FORMAT=xml", "LOG_FORMAT"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Load(set(t, tt.change))
			require.Error(t, err)
			assert.Equal(t, exit.Misuse, exit.Code(err))
			assert.Contains(t, err.Error(), tt.names)
			assert.Contains(t, err.Error(), "ccbot.env", "it says where to set it")
			assert.NotContains(t, err.Error(), tokenSecret)
		})
	}
}

func TestConfigFile(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, ".ccbot")
	require.NoError(t, os.Mkdir(dir, 0o700))
	file := filepath.Join(dir, "ccbot.env")
	require.NoError(t, os.WriteFile(file, []byte("# mine\nTELEGRAM_BOT_TOKEN="+goodToken+"\nALLOWED_USERS=7\nLOG_LEVEL=debug\n"), 0o600))
	c, err := Load([]string{"HOME=" + home, "LOG_LEVEL=warn"})
	require.NoError(t, err)
	assert.Equal(t, token.Hole, c.Token.Clean(goodToken))
	assert.Equal(t, ids{7}, c.AllowedUsers)
	assert.Equal(t, "warn", c.LogLevel, "the environment wins")

	require.NoError(t, os.WriteFile(file, []byte("TELEGRAM_BOT_TOKEN AAsecretsecret\n"), 0o600))
	_, err = Load([]string{"HOME=" + home})
	require.Error(t, err)
	assert.Equal(t, exit.Misuse, exit.Code(err))
	assert.Contains(t, err.Error(), file+" cannot be read: line 1 is not KEY=value")
	assert.NotContains(t, err.Error(), tokenSecret)
}

func TestFileWithByteOrderMark(t *testing.T) {
	home := t.TempDir()
	require.NoError(t, os.Chmod(home, 0o700))
	file := filepath.Join(home, "ccbot.env")
	environ := []string{"HOME=" + home, "CCBOT_DIR=" + home}
	require.NoError(t, os.WriteFile(file, []byte("\ufeffTELEGRAM_BOT_TOKEN="+goodToken+"\r\nALLOWED_USERS=7\r\n"), 0o600))
	c, err := Load(environ)
	require.NoError(t, err)
	assert.Equal(t, ids{7}, c.AllowedUsers)
	assert.Empty(t, c.Unknown)

	require.NoError(t, os.WriteFile(file, []byte("\ufeffLOG_LEVEL=debug\njunk\n"), 0o600))
	_, err = Load(environ)
	assert.ErrorContains(t, err, "line 2 is not")
}

func TestErrorNamesLine(t *testing.T) {
	tests := []struct {
		name, text string
		want       int
	}{
		{"the first line", "junk\nA=1\n", 1},
		{"in the middle", "# mine\nA=1\njunk here\nB=2\n", 3},
		{"the last line", "A=1\n\njunk\n", 3},
		{"after a value of several lines", "A=\"1\n2\"\njunk\n", 3},
		{"a quote without an end", "A=1\nB=\"x\nC=3\n", 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "ccbot.env")
			require.NoError(t, os.WriteFile(file, []byte(tt.text), 0o600))
			_, err := readSettings(file, file)
			assert.ErrorContains(t, err, fmt.Sprintf("line %d is not", tt.want))
		})
	}
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	for _, real := range []string{t.TempDir(), pipe} {
		_, err := readSettings("/x", real)
		assert.EqualError(t, err, "/x cannot be read: not a regular file of this user")
	}
}

// An agent that acts without permission never continues by itself.
func TestBypassRefusesContinue(t *testing.T) {
	for _, bypass := range []string{"CCBOT_PERMISSION_MODE=bypass", "CLAUDE_FLAGS=--dangerously-skip-permissions", "CLAUDE_FLAGS=--permission-mode bypassPermissions"} {
		_, err := Load(set(t, "CCBOT_RESUME_ON_START=continue", bypass))
		require.Error(t, err, bypass)
		if !strings.Contains(err.Error(), "root") { // root must not use that mode at all
			assert.ErrorContains(t, err, "CCBOT_RESUME_ON_START=continue is for agents that ask")
		}
	}
}

// TestErrorsQuoteWhatWasGiven where that cannot be a secret.
func TestErrorsQuoteWhatWasGiven(t *testing.T) {
	for change, want := range map[string]string{
		"CCBOT_PERMISSION_MODE=yes": `is ask or bypass, not "yes"`,
		"CCBOT_RESUME_ON_START=yes": `is ask, all, continue or never, not "yes"`,
		"CCBOT_LANG=xx":             ` or ` + i18n.Languages()[len(i18n.Languages())-1] + `, not "xx"`,
		"LOG_LEVEL=loud":            `is debug, info, warn or error, not "loud"`,
		"LOG_FORMAT=xml":            `is auto, text or json, not "xml"`,
		"SHOW_STEPS=messages":       `is card or off, not "messages"`,
	} {
		_, err := Load(set(t, change))
		assert.ErrorContains(t, err, want)
	}
}

// TestP9_MetricsForOthersAreMeant: only with both variables.
func TestP9_MetricsForOthersAreMeant(t *testing.T) {
	for _, yes := range []string{"1", "true"} {
		c, err := Load(set(t, "METRICS_ADDR=:9095", "METRICS_ALLOW_REMOTE="+yes))
		require.NoError(t, err)
		assert.Equal(t, ":9095", c.MetricsAddr)
	}
	_, err := Load(set(t, "METRICS_ADDR=:9095", "METRICS_ALLOW_REMOTE=0"))
	require.Error(t, err)
}

// A reading verb needs neither token nor people, but the paths.
func TestLoadForReading(t *testing.T) {
	c, err := LoadForReading([]string{"HOME=" + t.TempDir(), "STALE_RUNNING_AFTER=7d"})
	require.NoError(t, err)
	assert.Equal(t, 7*24*time.Hour, c.StaleRunning)
	for _, wrong := range []string{"CCBOT_DIR=here", "CCBOT_TMUX_SOCKET=/tmp/x", "ARCHIVE_PURGE_AFTER=never"} {
		_, err := LoadForReading([]string{"HOME=" + t.TempDir(), wrong})
		require.Error(t, err, wrong)
		assert.Equal(t, exit.Misuse, exit.Code(err))
	}
}

func TestVoiceCommandIsSplitIntoWords(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       []string
		fails      bool
	}{
		{"none", "", nil, false},
		{"a name", "whisper", []string{"whisper"}, false},
		{"words", `whisper -m 'my model.bin' --lang="de"`, []string{"whisper", "-m", "my model.bin", "--lang=de"}, false},
		{"home", "~/bin/whisper", []string{"/home/alice/bin/whisper"}, false},
		{"nothing is run", "whisper; rm x", nil, true},
		{"nothing is filled in", "whisper $HOME", nil, true},
		{"nor run in between", "whisper `id`", nil, true},
		{"a quote that is open", "whisper 'x", nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := Config{Voice: tt.text, VoiceConfirm: "off", Home: "/home/alice"}
			err := c.checkVoice()
			if tt.fails {
				require.ErrorContains(t, err, "VOICE_COMMAND")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tt.want, c.VoiceWords)
		})
	}
}

// TestFolderHasRoomForSocket compares the documented length with the kernels' limits of a socket.
func TestFolderHasRoomForSocket(t *testing.T) {
	field, _ := reflect.TypeFor[Config]().FieldByName("Dir")
	name := len("/" + hookwire.SocketName + "~")
	assert.Contains(t, field.Tag.Get("doc"), fmt.Sprintf("at most %d bytes (macOS: %d)", 107-name, 103-name))
}
