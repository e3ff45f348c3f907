package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/joho/godotenv"
	"mvdan.cc/sh/v3/shell"
)

// config is everything that can be set, with its defaults. The documentation is
// checked against this struct.
type config struct {
	Token          secret   `env:"TELEGRAM_BOT_TOKEN" doc:"the bot's token from @BotFather; required"`
	AllowedUsers   ids      `env:"ALLOWED_USERS" doc:"comma list of the user ids that may speak to the bot; required"`
	APIURL         string   `env:"TELEGRAM_API_URL" envDefault:"https://api.telegram.org" doc:"address of the Bot API server; plain http only to loopback"`
	AllowedChats   ids      `env:"ALLOWED_CHATS" doc:"comma list of group chat ids in which allowed people may speak; private chats need none"`
	Dir            string   `env:"CCBOT_DIR" envDefault:"~/.ccbot" doc:"folder of ccbot's own files; its path has at most 95 bytes, because a socket lies in it"`
	TmuxSession    string   `env:"TMUX_SESSION_NAME" envDefault:"ccbot" doc:"tmux session that the windows are made in"`
	TmuxSocket     string   `env:"CCBOT_TMUX_SOCKET" doc:"name for tmux -L; empty: your default server"`
	Claude         string   `env:"CLAUDE_COMMAND" envDefault:"claude" doc:"Claude Code's command, a name on PATH or a path"`
	ClaudeFlags    string   `env:"CLAUDE_FLAGS" doc:"more arguments for Claude Code, as shell words without expansion"`
	ClaudeDir      string   `env:"CLAUDE_CONFIG_DIR" envDefault:"~/.claude" doc:"Claude Code's own configuration folder"`
	PermissionMode string   `env:"CCBOT_PERMISSION_MODE" envDefault:"ask" doc:"ask: Claude Code asks before it acts; bypass: it does not (refused as root)"`
	Roots          string   `env:"CCBOT_ROOTS" doc:"colon list of folders that sessions may be opened in; empty: all"`
	KillGrace      duration `env:"KILL_GRACE" envDefault:"12s" doc:"from hang-up to KILL when a session is ended"`
	IdleAfter      duration `env:"IDLE_ARCHIVE_AFTER" envDefault:"6h" doc:"a session that is idle for this long is archived; 0: never"`
	PurgeAfter     duration `env:"ARCHIVE_PURGE_AFTER" envDefault:"14d" doc:"a session that ended this long ago is forgotten, never its transcript; 0: never"`
	Lang           string   `env:"CCBOT_LANG" envDefault:"en" doc:"language of the bot's sentences: en, ru or zh"`
	LogLevel       string   `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error"`
	LogFormat      string   `env:"LOG_FORMAT" envDefault:"auto" doc:"auto: colours on a terminal, else text; text; json"`

	home         string
	flags        []string
	roots        []string
	claudeDirSet bool
}

// configFile lies in CCBOT_DIR.
const configFile = "ccbot.env"

// secret is a text that no log and no error shows.
type secret string

// LogValue hides it from slog.
func (secret) LogValue() slog.Value { return slog.StringValue("redacted") }

// String hides it from fmt.
func (secret) String() string { return "redacted" }

// GoString hides it from %#v.
func (secret) GoString() string { return "redacted" }

// ids is a comma list of Telegram ids.
type ids []int64

// UnmarshalText reads the list; blanks around the numbers are fine.
func (l *ids) UnmarshalText(text []byte) error {
	for i, word := range strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || r == ' ' }) {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil || id == 0 {
			return fmt.Errorf("entry %d is not a numeric id", i+1) // never the value: people paste tokens into the wrong line
		}
		*l = append(*l, id)
	}
	return nil
}

func (l ids) set() map[int64]bool {
	set := make(map[int64]bool, len(l))
	for _, id := range l {
		set[id] = true
	}
	return set
}

// duration is a time span with the units s, m, h and d.
type duration time.Duration

var durationForm = regexp.MustCompile(`^(\d+)([smhd])$`)

// UnmarshalText reads "12s", "6h", "14d" or "0".
func (d *duration) UnmarshalText(text []byte) error {
	if string(text) == "0" {
		*d = 0
		return nil
	}
	m := durationForm.FindStringSubmatch(string(text))
	if m == nil {
		return fmt.Errorf("%q is not a time span like 12s, 5m, 6h or 14d", text)
	}
	n, err := strconv.ParseInt(m[1], 10, 32)
	if err != nil {
		return fmt.Errorf("%q is too long", text)
	}
	unit := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}[m[2]]
	if n > int64(math.MaxInt64/unit) { // it would come out as any time, also a short one
		return fmt.Errorf("%q is too long", text)
	}
	*d = duration(time.Duration(n) * unit)
	return nil
}

// loadConfig reads the environment, and $CCBOT_DIR/ccbot.env below it. Every
// error says the variable and where to set it, never a value that is secret.
func loadConfig(environ []string) (config, error) {
	vars := env.ToMap(environ)
	home := vars["HOME"]
	if home == "" {
		return config{}, usage(errors.New("HOME is not set"))
	}
	dir := expandHome(orDefault(vars["CCBOT_DIR"], "~/.ccbot"), home)
	file := filepath.Join(dir, configFile)
	fromFile, err := godotenv.Read(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return config{}, usage(fmt.Errorf("%s cannot be read: not KEY=value lines, or no permission", file))
	}
	merged := make(map[string]string)
	maps.Copy(merged, fromFile)
	maps.Copy(merged, vars)
	var c config
	if err := env.ParseWithOptions(&c, env.Options{Environment: merged}); err != nil {
		return config{}, usage(describe(err, file))
	}
	c.home, c.claudeDirSet = home, merged["CLAUDE_CONFIG_DIR"] != ""
	if err := c.check(file); err != nil {
		return config{}, usage(err)
	}
	return c, nil
}

// describe names the variables of a parse error without their values' secrets.
func describe(err error, file string) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("configuration: set it in the environment or in %s: %w", file, err)
	}
	var lines []string
	for _, e := range all.Errors {
		var field env.ParseError
		if errors.As(e, &field) {
			lines = append(lines, fmt.Sprintf("%s: %v", envName(field.Name), field.Err))
			continue
		}
		lines = append(lines, e.Error())
	}
	return fmt.Errorf("%s (set it in the environment or in %s)", strings.Join(lines, "; "), file)
}

func orDefault(value, fallback string) string {
	if value == "" {
		return fallback
	}
	return value
}

func expandHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[1:])
	}
	return path
}

// forbiddenFlags would break the promise of one conversation per window.
var forbiddenFlags = []string{"--resume", "-r", "--continue", "-c", "--session-id", "--fork-session", "--settings", "-p", "--print"}

// tokenForm is what a bot token looks like.
var tokenForm = regexp.MustCompile(`^\d+:[A-Za-z0-9_-]{20,}$`)

// check finds what is missing or malformed, and resolves paths.
func (c *config) check(file string) error {
	where := " (set it in the environment or in " + file + ")"
	switch {
	case c.Token == "":
		return errors.New("TELEGRAM_BOT_TOKEN is missing: ask @BotFather for one" + where)
	case !tokenForm.MatchString(string(c.Token)):
		return errors.New("TELEGRAM_BOT_TOKEN is not a bot token: it looks like 123456789:AA…" + where)
	case len(c.AllowedUsers) == 0:
		return errors.New("ALLOWED_USERS is empty: nobody could speak to the bot. @userinfobot tells your id" + where)
	case slices.ContainsFunc(c.AllowedUsers, func(id int64) bool { return id < 0 }):
		return errors.New("ALLOWED_USERS has the id of a group; groups go into ALLOWED_CHATS" + where)
	}
	for _, check := range []func() error{c.checkAPI, c.checkPaths, c.checkRoots, c.checkTmux, c.checkFlags, c.checkMode,
		c.checkLang, c.checkLog} {
		if err := check(); err != nil {
			return fmt.Errorf("%w%s", err, where)
		}
	}
	return nil
}

// checkAPI keeps the token off the network in clear.
func (c *config) checkAPI() error {
	u, err := url.Parse(strings.TrimRight(c.APIURL, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("TELEGRAM_API_URL is not an http or https address")
	}
	ip := net.ParseIP(u.Hostname())
	if u.Scheme == "http" && u.Hostname() != "localhost" && !ip.IsLoopback() {
		return errors.New("TELEGRAM_API_URL: plain http would send the token in clear; use https, or a server on this machine")
	}
	c.APIURL = u.String()
	return nil
}

// checkFlags splits the flags as a shell would, without expanding anything.
func (c *config) checkFlags() error {
	if strings.ContainsAny(c.ClaudeFlags, "$`") {
		return errors.New("CLAUDE_FLAGS: there is no expansion, so $ and ` cannot be used")
	}
	words, err := shell.Fields(c.ClaudeFlags, func(string) string { return "" })
	if err != nil {
		return fmt.Errorf("CLAUDE_FLAGS cannot be split into words: %w", err)
	}
	for _, w := range words {
		name, _, _ := strings.Cut(w, "=")
		if slices.Contains(forbiddenFlags, name) {
			return fmt.Errorf("CLAUDE_FLAGS: %s is ccbot's own business", name)
		}
	}
	c.flags = words
	return nil
}

func (c *config) checkMode() error {
	switch {
	case c.PermissionMode != "ask" && c.PermissionMode != "bypass":
		return errors.New("CCBOT_PERMISSION_MODE is ask or bypass")
	case c.PermissionMode == "bypass" && os.Geteuid() == 0:
		return errors.New("CCBOT_PERMISSION_MODE: the agent refuses bypass as root; run ccbot as another user, or use ask")
	case c.PermissionMode == "bypass":
		c.flags = append(c.flags, "--dangerously-skip-permissions")
	}
	return nil
}

func (c *config) checkPaths() error {
	c.Dir, c.ClaudeDir = expandHome(c.Dir, c.home), expandHome(c.ClaudeDir, c.home)
	if !filepath.IsAbs(c.Dir) || !filepath.IsAbs(c.ClaudeDir) {
		return errors.New("CCBOT_DIR and CLAUDE_CONFIG_DIR must be absolute paths")
	}
	return nil
}

// checkRoots resolves the roots, so that a link inside one cannot lead out.
func (c *config) checkRoots() error {
	for root := range strings.SplitSeq(c.Roots, ":") {
		if root == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(expandHome(root, c.home))
		if err != nil || !filepath.IsAbs(real) {
			return fmt.Errorf("CCBOT_ROOTS names %q, which is not there or not absolute", root)
		}
		c.roots = append(c.roots, real)
	}
	return nil
}

func (c *config) checkLog() error {
	var level slog.Level
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return errors.New("LOG_LEVEL is debug, info, warn or error")
	}
	if !slices.Contains([]string{"auto", "text", "json"}, c.LogFormat) {
		return errors.New("LOG_FORMAT is auto, text or json")
	}
	return nil
}

func (c *config) checkLang() error {
	if !slices.Contains([]string{"en", "ru", "zh"}, c.Lang) {
		return errors.New("CCBOT_LANG is en, ru or zh")
	}
	return nil
}

var tmuxName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

func (c *config) checkTmux() error {
	if !tmuxName.MatchString(c.TmuxSession) || c.TmuxSocket != "" && !tmuxName.MatchString(c.TmuxSocket) {
		return errors.New("TMUX_SESSION_NAME and CCBOT_TMUX_SOCKET have letters, digits, _ and - only")
	}
	return nil
}

// envName is the variable of a field of config.
func envName(field string) string {
	if f, ok := reflect.TypeFor[config]().FieldByName(field); ok {
		return f.Tag.Get("env")
	}
	return field
}
