package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"ccbot/agent/claude/claudeflags"
	"ccbot/bot/report"
	"ccbot/bot/turn"
	"ccbot/i18n"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/loopback"
	"ccbot/internal/wording"
	"ccbot/port/talk"
)

// longestShown is shorter than the secret half of any token.
const longestShown = 20

// butIs quotes the value that was given. It never shows a value that may be a token in the wrong
// line, or a part of one.
func butIs(value string) string {
	if len(value) > longestShown || strings.ContainsAny(value, ":0123456789") {
		return ""
	}
	return fmt.Sprintf(", not %q", value)
}

// oneOf requires that a setting has one of the given values.
func oneOf(name, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	last := len(values) - 1
	return fmt.Errorf("%s is %s or %s%s", name, strings.Join(values[:last], ", "), values[last], butIs(value))
}

// checkPeople requires a bot and at least one allowed person.
func (c *Config) checkPeople() error {
	switch {
	case c.Token.Empty():
		return errors.New("TELEGRAM_BOT_TOKEN is missing: `ccbot setup` asks for the token from @BotFather, and for the people who may use the bot; " +
			"`ccbot try` needs none")
	case !c.Token.Valid():
		return errors.New("TELEGRAM_BOT_TOKEN is not a bot token: it looks like 123456789:AA…")
	case len(c.AllowedUsers) == 0:
		return errors.New("ALLOWED_USERS is empty: no person could use the bot. @userinfobot shows your id")
	case slices.ContainsFunc(c.AllowedUsers, func(id int64) bool { return id < 0 }):
		return errors.New("ALLOWED_USERS has the id of a group; groups go into ALLOWED_CHATS")
	}
	return nil
}

// CheckAPI refuses addresses that would send the token over the network unencrypted.
func (c *Config) CheckAPI() error {
	u, err := url.Parse(strings.TrimRight(c.APIURL, "/"))
	if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
		return errors.New("TELEGRAM_API_URL is not an http or https address")
	}
	if u.Scheme == "http" && !loopback.IsHost(u.Hostname()) {
		return errors.New("TELEGRAM_API_URL: plain http would send the token in clear; use https, or a server on this machine")
	}
	c.APIURL = u.String()
	return nil
}

// split splits a setting into words as a shell would, without expanding anything but ~. If home is
// empty, a ~ stays too.
func split(name, text, home, instead string) (words []string, err error) {
	env := &expand.Config{Env: expand.FuncEnviron(func(name string) string { return map[string]string{"HOME": home}[name] })}
	for word, err := range syntax.NewParser().WordsSeq(strings.NewReader(text)) {
		if err != nil {
			return nil, fmt.Errorf("%s cannot be split into words as a shell does it: look at its quotes, and at signs such as ; & |", name)
		}
		plain := true
		syntax.Walk(word, func(part syntax.Node) bool {
			switch part := part.(type) {
			case nil, *syntax.Word, *syntax.Lit:
			case *syntax.SglQuoted:
				plain = plain && !part.Dollar
			case *syntax.DblQuoted:
				plain = plain && !part.Dollar
			default:
				plain = false
			}
			return plain
		})
		if !plain { // the next function would fill it in, or end the program
			return nil, fmt.Errorf("%s: there is no expansion, so $ and ` are allowed in single quotes only%s", name, instead)
		}
		if first, is := word.Parts[0].(*syntax.Lit); is && home == "" && strings.HasPrefix(first.Value, "~") {
			first.Value = `\` + first.Value
		}
		one, err := expand.Fields(env, word)
		if err != nil || len(one) != 1 {
			return nil, fmt.Errorf("%s: there is no expansion, so {a,b} is allowed in quotes only%s", name, instead)
		}
		words = append(words, one[0])
	}
	return words, nil
}

func (c *Config) checkFlags() error {
	words, err := split("CLAUDE_FLAGS", c.ClaudeFlags, "", "")
	if err != nil {
		return err
	}
	if name, found := claudeflags.Forbidden(words); found {
		return fmt.Errorf("CLAUDE_FLAGS: %s is ccbot's own business", name)
	}
	c.Flags = words
	return nil
}

func (c *Config) checkMode() error {
	switch err := oneOf("CCBOT_PERMISSION_MODE", c.PermissionMode, "ask", "bypass"); {
	case err != nil:
		return err
	case c.PermissionMode == "bypass" && os.Geteuid() == 0:
		return errors.New("CCBOT_PERMISSION_MODE: the agent refuses bypass as root; run ccbot as another user, or use ask")
	case c.PermissionMode == "bypass":
		c.Flags = append(c.Flags, claudeflags.Bypass)
	}
	return nil
}

func (c *Config) checkPaths() error {
	for _, dir := range []*string{&c.Dir, &c.ClaudeDir} {
		if *dir = expandHome(*dir, c.Home); !filepath.IsAbs(*dir) {
			return errors.New("CCBOT_DIR and CLAUDE_CONFIG_DIR must be absolute paths")
		}
		*dir = filepath.Clean(*dir) // the kernel would follow a link before a "..", and the code here would not
	}
	if c.CodexDir = expandHome(c.CodexDir, c.Home); filepath.IsAbs(c.CodexDir) { // otherwise only a session of Codex is refused
		c.CodexDir = filepath.Clean(c.CodexDir)
	}
	if c.ClaudeSet != "" {
		c.ClaudeSet = c.ClaudeDir
	}
	if c.Machine == "" {
		c.Machine, _ = os.Hostname() // fails only without a system
	}
	return nil
}

// CheckRoots sets RootFolders. It resolves the roots, so that a link inside one cannot lead out.
func (c *Config) CheckRoots() error {
	c.RootFolders = nil
	for root := range strings.SplitSeq(c.Roots, ":") {
		if root == "" {
			continue
		}
		real, err := filepath.EvalSymlinks(expandHome(root, c.Home))
		if err != nil || !filepath.IsAbs(real) {
			return wording.Errorf("CCBOT_ROOTS names %q, which is not there or not absolute", wording.Path(root))
		}
		c.RootFolders = append(c.RootFolders, real)
	}
	return nil
}

// checkWords checks what is one of a few words.
func (c *Config) checkWords() error {
	return cmp.Or(oneOf("LOG_LEVEL", strings.ToLower(c.LogLevel), "debug", "info", "warn", "error"),
		oneOf("LOG_FORMAT", c.LogFormat, "auto", "text", "json"), oneOf("CCBOT_LANG", c.Lang, i18n.Languages()...),
		oneOf("SHOW_STEPS", c.ShowSteps, string(turn.OnCard), string(turn.Nowhere)),
		oneOf("CCBOT_RICH_MESSAGES", c.Rich, "auto", "off"), oneOf("VOICE_CONFIRM", c.VoiceConfirm, "off", "on"), c.checkZone())
}

func (c *Config) checkZone() error {
	if _, err := time.LoadLocation(c.TimeZone); err != nil {
		return errors.New("CCBOT_TIME_ZONE is not a time zone of this machine: it is a name such as Europe/Berlin, or Local")
	}
	return nil
}

var tmuxName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func (c *Config) checkTmux() error {
	if !tmuxName.MatchString(c.TmuxSession) || c.TmuxSocket != "" && !tmuxName.MatchString(c.TmuxSocket) {
		return errors.New("TMUX_SESSION_NAME and CCBOT_TMUX_SOCKET have letters, digits, _ and - only")
	}
	return nil
}

func (c *Config) checkResume() error {
	if err := oneOf("CCBOT_RESUME_ON_START", c.ResumeOnStart, report.ResumeAsk, report.ResumeAll, report.ResumeContinue, report.ResumeNever); err != nil {
		return err
	}
	launch := claudeflags.Launch{PermissionMode: c.PermissionMode, Flags: c.Flags}
	if c.ResumeOnStart == report.ResumeContinue && claudeflags.Bypasses(launch) {
		return errors.New("CCBOT_RESUME_ON_START=continue is for agents that ask before they act: without CCBOT_PERMISSION_MODE=bypass and such CLAUDE_FLAGS")
	}
	if _, class, ok := talk.Normalise(c.ContinueText); c.ContinueText != "" && (!ok || class != talk.ClassPlain || len(c.ContinueText) > 2000) {
		return errors.New("CCBOT_CONTINUE_TEXT is up to 2000 bytes of text, without / or ! at its beginning")
	}
	return nil
}

// checkMetrics keeps the metrics away from other machines unless the person wants them there. A
// host name is not resolved, because its address may change before the next lookup.
func (c *Config) checkMetrics() error {
	if c.MetricsAddr == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(c.MetricsAddr)
	if n, numberErr := strconv.ParseUint(port, 10, 16); err != nil || numberErr != nil || n == 0 {
		return errors.New("METRICS_ADDR is a host and a port, like 127.0.0.1:9095")
	}
	if !loopback.IsHost(host) && !bool(c.MetricsRemote) {
		return errors.New("METRICS_ADDR would be reached from other machines; use 127.0.0.1, or set METRICS_ALLOW_REMOTE=1")
	}
	return nil
}

func (c *Config) checkVoice() (err error) {
	c.VoiceWords, err = split("VOICE_COMMAND", c.Voice, c.Home, "; write a script")
	return err
}

// VoiceCommand is the program of VOICE_COMMAND: it runs in the home folder.
func (c Config) VoiceCommand() (program string) {
	if len(c.VoiceWords) > 0 {
		program = c.VoiceWords[0]
	}
	if strings.Contains(program, "/") && !filepath.IsAbs(program) {
		program = filepath.Join(c.Home, program)
	}
	return program
}

// checkAgents refuses a variable of agents that contains the bot's token.
func (c *Config) checkAgents() error {
	for _, name := range slices.Sorted(maps.Keys(c.Agents)) {
		if c.Token.Clean(c.Agents[name]) != c.Agents[name] {
			return fmt.Errorf("%s, which agents get, contains the bot's token", name)
		}
	}
	return nil
}
