package config

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"
	"github.com/caarlos0/env/v11"

	"ccbot/agent/claude/claudekeys"
	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/health"
	"ccbot/internal/lazyregexp"
	"ccbot/internal/ownfile"
	"ccbot/internal/timespan"
	"ccbot/internal/token"
	"ccbot/recovery"
)

// Config is everything that can be set, with its defaults. The documentation is checked against
// this struct.
type Config struct {
	Token          token.Token   `env:"TELEGRAM_BOT_TOKEN" doc:"the bot's token from @BotFather; required"`
	AllowedUsers   ids           `env:"ALLOWED_USERS" doc:"ids of the allowed people, with commas; required"`
	APIURL         string        `env:"TELEGRAM_API_URL" envDefault:"https://api.telegram.org" doc:"the Bot API server; plain http only to loopback"`
	AllowedChats   ids           `env:"ALLOWED_CHATS" doc:"ids of the allowed groups, with commas"`
	Dir            string        `env:"CCBOT_DIR" envDefault:"~/.ccbot" doc:"ccbot's folder; a path of at most 95 bytes (macOS: 91), because of its socket"`
	TmuxSession    string        `env:"TMUX_SESSION_NAME" envDefault:"ccbot" doc:"tmux session of the windows"`
	TmuxSocket     string        `env:"CCBOT_TMUX_SOCKET" doc:"name for tmux -L; empty: your default server"`
	Claude         string        `env:"CLAUDE_COMMAND" envDefault:"claude" doc:"Claude Code, a name on PATH or a path"`
	ClaudeFlags    string        `env:"CLAUDE_FLAGS" doc:"more arguments for Claude Code, as shell words without expansion"`
	ClaudeDir      string        `env:"CLAUDE_CONFIG_DIR" envDefault:"~/.claude" doc:"Claude Code's folder"`
	Codex          string        `env:"CODEX_COMMAND" envDefault:"codex" doc:"Codex, a name on PATH or a path; Linux only"`
	CodexDir       string        `env:"CODEX_HOME" envDefault:"~/.codex" doc:"Codex' folder, an absolute path"`
	PermissionMode string        `env:"CCBOT_PERMISSION_MODE" envDefault:"ask" doc:"ask: the agent asks by its own rules; bypass: it does not ask (refused as root)"`
	Roots          string        `env:"CCBOT_ROOTS" doc:"folders of sessions, with colons; empty: all"`
	KillGrace      time.Duration `env:"KILL_GRACE" envDefault:"12s" doc:"from the hang-up (or TERM, without one) to KILL; at least 2s"`
	RemindAfter    time.Duration `env:"QUESTION_REMIND_AFTER" envDefault:"15m" doc:"an unanswered question comes again with a sound after this time, three times at most; 0: never"`
	IdleAfter      time.Duration `env:"IDLE_ARCHIVE_AFTER" envDefault:"24h" doc:"time after which an idle session may be archived; 0: never"`
	PurgeAfter     time.Duration `env:"ARCHIVE_PURGE_AFTER" envDefault:"90d" doc:"an ended session is forgotten after this time, or later; 0: never"`
	LoopPurge      time.Duration `env:"LOOP_PURGE_AFTER" envDefault:"30d" doc:"a loop is removed this time after its end, or later; 0: never"`
	StaleRunning   time.Duration `env:"STALE_RUNNING_AFTER" envDefault:"30d" doc:"a start may give up a session whose agent is unknown after this time without a sign of life; 0: never"`
	ResumeStale    time.Duration `env:"RESUME_STALE_AFTER" envDefault:"24h" doc:"of several sessions with a conversation that returned, those without a sign of life for this time do not count, and a loop that moved waits for a tap after a longer absence of ccbot; 0: all count, and loops go on. A text that a limit holds longer is asked about"`
	OrphanGrace    time.Duration `env:"ORPHAN_GRACE" envDefault:"30s" doc:"age up to which a launch may lack its window, a start finishes a resume and spares leftovers; 0: none"`
	ResumeOnStart  string        `env:"CCBOT_RESUME_ON_START" envDefault:"ask" doc:"after the machine or tmux went down; ask: the chat offers to resume its sessions; all: those of a reboot are resumed; continue: as all, and those seen at work continue, once; never: neither"`
	ContinueText   string        `env:"CCBOT_CONTINUE_TEXT" doc:"the prompt of [Continue]; empty: a sentence in the language of the chat"`
	BudgetDay      dollars       `env:"CCBOT_BUDGET_DAY" doc:"dollars at list prices that all sessions together may cost in a day; empty: no limit"`
	Rich           string        `env:"CCBOT_RICH_MESSAGES" envDefault:"auto" doc:"auto: answers as rich messages if the Bot API server has them; off: never"`
	ShowSteps      string        `env:"SHOW_STEPS" envDefault:"card" doc:"card: the steps of a turn in one message; off: none"`
	Thinking       yes           `env:"CCBOT_THINKING" envDefault:"0" doc:"1: the chat also shows thinking"`
	Voice          string        `env:"VOICE_COMMAND" doc:"command that gets a voice message's file and prints its text"`
	VoiceConfirm   string        `env:"VOICE_CONFIRM" envDefault:"off" doc:"on: the text of a voice message waits for [Send]; off: it does not"`
	InboxTTL       time.Duration `env:"INBOX_TTL" envDefault:"7d" doc:"unchanged files from the chat are removed this time after they came and the last known session in their folder ended, or later; 0: never"`
	Lang           string        `env:"CCBOT_LANG" envDefault:"en" doc:"language of a chat that has none, by its code"`
	TimeZone       string        `env:"CCBOT_TIME_ZONE" envDefault:"Local" doc:"time zone of a chat that has none, such as Europe/Berlin; Local: the machine's"`
	Machine        string        `env:"CCBOT_MACHINE" doc:"name of this machine in a group with several bots; empty: the host name"`
	LogLevel       string        `env:"LOG_LEVEL" envDefault:"info" doc:"debug, info, warn or error"`
	LogFormat      string        `env:"LOG_FORMAT" envDefault:"auto" doc:"auto: colours on a terminal without NO_COLOR, otherwise text; text; json"`
	MetricsAddr    string        `env:"METRICS_ADDR" doc:"host:port for Prometheus at /metrics, on loopback; empty: none"`
	MetricsRemote  yes           `env:"METRICS_ALLOW_REMOTE" envDefault:"0" doc:"1: other machines may reach METRICS_ADDR"`
	AllowScripts   yes           `env:"CCBOT_ALLOW_SCRIPTS" envDefault:"0" doc:"1: programs without a terminal may use new, send-prompt and resume; Linux only"`
	ReadableEnv    yes           `env:"CCBOT_ALLOW_READABLE_ENV" envDefault:"0" doc:"1: others may read ccbot.env; only in the environment"`

	Home        string
	File        string // ccbot.env, where more may be set
	Flags       []string
	Colourless  bool // NO_COLOR is set: https://no-color.org
	VoiceWords  []string
	RootFolders []string
	ClaudeSet   string            // ClaudeDir if the person has set it, else empty
	Unknown     map[string]string // unknown names in the file, with the nearest setting
	// variables that agents get, in addition to PATH, HOME and CLAUDE_CONFIG_DIR
	Agents map[string]string
	// proxies and certificates of ccbot itself; those of agents may be others
	Network map[string]string
}

// ids is a comma list of Telegram ids.
type ids []int64

// UnmarshalText reads the list; blanks around the numbers are fine.
func (l *ids) UnmarshalText(text []byte) error {
	for i, word := range strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || r == ' ' }) {
		id, err := strconv.ParseInt(word, 10, 64)
		if err != nil || id == 0 {
			// never the value: people paste tokens into the wrong line
			return fmt.Errorf("entry %d is not a numeric id", i+1)
		}
		*l = append(*l, id)
	}
	return nil
}

// Set is the list as a set.
func (l ids) Set() map[int64]bool {
	set := make(map[int64]bool, len(l))
	for _, id := range l {
		set[id] = true
	}
	return set
}

// Load reads the environment, and $CCBOT_DIR/ccbot.env for variables that the environment does not
// set. Every error names the variable and the place to set it, and never contains a secret value.
func Load(environ []string) (Config, error) {
	return load(environ, (*Config).checkPeople, (*Config).CheckAPI, (*Config).checkProxy, (*Config).checkPaths, (*Config).CheckRoots,
		(*Config).checkTmux, (*Config).checkFlags, (*Config).checkMode, (*Config).checkResume, (*Config).checkMetrics, (*Config).checkVoice,
		(*Config).checkWords, (*Config).checkAgents)
}

// LoadForHost is Load for a machine whose chat is on another one: it has no token and no list of
// people.
func LoadForHost(environ []string) (Config, error) {
	return load(environ, (*Config).checkPaths, (*Config).CheckRoots, (*Config).checkTmux, (*Config).checkFlags, (*Config).checkMode,
		(*Config).checkResume, (*Config).checkWords, (*Config).checkAgents)
}

// LoadForReading is Load for a verb that needs to know the folders and the tmux server, but no
// token and no list of people.
func LoadForReading(environ []string) (Config, error) {
	return load(environ, (*Config).checkPaths, (*Config).checkTmux)
}

// LoadForPlan is LoadForReading for a verb that also needs the permitted folders.
func LoadForPlan(environ []string) (Config, error) {
	return load(environ, (*Config).checkPaths, (*Config).CheckRoots, (*Config).checkTmux)
}

// LoadForSetup is Load before there is a token and a list of people.
func LoadForSetup(environ []string) (Config, error) {
	return load(environ, (*Config).CheckAPI, (*Config).checkProxy, (*Config).checkPaths, (*Config).CheckRoots, (*Config).checkWords)
}

// ErrNoHome is returned if HOME is not set.
var ErrNoHome = exit.Usage(errors.New("HOME is not set: set it to the home folder of the user who runs ccbot, as in `export HOME=/home/alice`"))

// load reads the settings. The checks find what is missing or malformed, and resolve paths.
func load(environ []string, checks ...func(*Config) error) (c Config, err error) {
	vars := env.ToMap(environ)
	// "=x" is allowed in an environment; env would give its value to each field without a tag
	delete(vars, "")
	home := vars["HOME"]
	if home == "" {
		return c, ErrNoHome
	}
	merged, file, err := withFile(vars, home)
	if err != nil {
		return c, err
	}
	// It counts as CODEX_HOME, because ccbot reads the folder in which its agents write.
	if folder, is := merged[environment.CustomPrefix+"CODEX_HOME"]; is {
		delete(merged, environment.CustomPrefix+"CODEX_HOME")
		delete(merged, "CODEX_HOME")
		if folder != "" {
			merged["CODEX_HOME"] = folder
		}
	}
	c = Config{Home: home, File: file, ClaudeSet: merged["CLAUDE_CONFIG_DIR"], Colourless: vars["NO_COLOR"] != "",
		Unknown: unknownSettings(merged, vars)}
	spans := map[reflect.Type]env.ParserFunc{reflect.TypeFor[time.Duration](): func(text string) (any, error) { return timespan.Parse(text) }}
	if err := env.ParseWithOptions(&c, env.Options{Environment: merged, FuncMap: spans}); err != nil {
		return Config{}, exit.Usage(describe(err, file))
	}
	if c.Agents, err = environment.OfAgents(merged); err != nil {
		return c, exit.Usage(fmt.Errorf("%w (it is set in the environment or in %s)", err, file))
	}
	c.Network = environment.Network(merged)
	for _, check := range checks {
		if err := check(&c); err != nil {
			return c, exit.Usage(fmt.Errorf("%w (set it in the environment or in %s)", err, file))
		}
	}
	return c, nil
}

// withFile returns the environment, completed by ccbot.env, and that file's path. Before it reads
// the file it refuses one that another user could have written, because the file decides which
// programs ccbot runs. The file may name another folder: that folder is checked in the same way,
// but no settings are read from there.
func withFile(vars map[string]string, home string) (merged map[string]string, file string, err error) {
	dir, mayRead := StateFolder(vars, home), false
	file, merged = filepath.Join(dir, statefolder.SettingsFile), make(map[string]string)
	if filepath.IsAbs(dir) { // a relative path is refused by its own check
		mayRead, _ = strconv.ParseBool(vars[statefolder.ReadableVariable])
		real, err := statefolder.RefuseOthers(dir, mayRead)
		if err != nil {
			return nil, "", err
		}
		if merged, err = readSettings(file, real); err != nil {
			return nil, "", exit.Usage(err)
		}
		delete(merged, statefolder.ReadableVariable)
	}
	maps.Copy(merged, vars)
	if named := StateFolder(merged, home); named != dir && filepath.IsAbs(named) {
		if _, err := statefolder.RefuseOthers(named, mayRead); err != nil {
			return nil, "", err
		}
	}
	return merged, file, nil
}

// StateFolder is ccbot's folder as vars name it. The path is cleaned, as it is everywhere else: the
// kernel would follow a link before a "..", and then the folder that was checked would not be the
// folder that is used.
func StateFolder(vars map[string]string, home string) string {
	return filepath.Clean(expandHome(cmp.Or(vars["CCBOT_DIR"], "~/.ccbot"), home))
}

// OtherStateFolder is the folder that vars name, or empty if it is the default one. A folder that a
// ccbot.env names is not the folder of that ccbot.env, which the next ccbot has to find, so vars are
// the environment alone.
func OtherStateFolder(vars map[string]string, home string) string {
	if dir := StateFolder(vars, home); dir != filepath.Join(home, ".ccbot") {
		return dir
	}
	return ""
}

// mostSettings bounds ccbot.env.
const mostSettings = 1 << 20

// readSettings reads ccbot.env from real, the path without links, which is empty when there is no
// file. Errors name file.
func readSettings(file, real string) (map[string]string, error) {
	if real == "" {
		return make(map[string]string), nil
	}
	data, err := ownfile.Read(real, mostSettings, ownfile.Others) // the owner was checked above
	path := (*fs.PathError)(nil)
	switch {
	case errors.Is(err, fs.ErrNotExist): // the file was removed since the check
		return make(map[string]string), nil
	case errors.As(err, &path):
		return nil, fmt.Errorf("%s cannot be read: %w", file, path.Err)
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", file, err)
	}
	vars, err := statefolder.ParseSettings(string(data))
	if err != nil { // which may show the line, and with it the token
		return nil, fmt.Errorf("%s cannot be read: line %d is not KEY=value, or opens a quote that is not closed; correct or remove it", file, junkLine(string(data)))
	}
	return vars, nil
}

// junkLine is the number of the first line that cannot be read: all text before this line can be
// read, and no text that includes it.
func junkLine(text string) int {
	lines := strings.SplitAfter(text, "\n")
	for good := len(lines) - 1; good > 0; good-- {
		if _, err := statefolder.ParseSettings(strings.Join(lines[:good], "")); err == nil {
			return good + 1
		}
	}
	return 1
}

// unknownSettings returns the unknown names in the file, with the nearest setting of each.
func unknownSettings(merged, vars map[string]string) map[string]string {
	unknown := make(map[string]string)
	for name := range merged {
		if _, set := vars[name]; !set && !slices.Contains(settingNames(), name) && !environment.ForAgents(name) {
			shown, near := nearest(name)
			unknown[shown] = near
		}
	}
	return unknown
}

// settingNames are the variables that can be set.
func settingNames() (names []string) {
	for field := range reflect.TypeFor[Config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// settingName matches names that look like the name of a setting.
var settingName = lazyregexp.New(`^[A-Z_]{2,40}$`)

// shortestPart is the length from which on a part of a setting's name is taken for that setting.
const shortestPart = 6

// nearest is the setting that is most similar to an unknown name, or empty when none is
// similar. shown is the unknown name, where it cannot be a token in the wrong place.
func nearest(unknown string) (shown, nearest string) {
	upper := strings.ToUpper(unknown)
	distance := func(name string) int {
		if len(upper) >= shortestPart && strings.Contains(name, upper) {
			return 0 // IDLE_ARCHIVE is a part of one name
		}
		return levenshtein.ComputeDistance(upper, name)
	}
	nearest = slices.MinFunc(settingNames(), func(a, b string) int { return distance(a) - distance(b) })
	switch {
	case distance(nearest) <= len(upper)/3:
		return unknown, nearest
	case settingName.MatchString(unknown):
		return unknown, ""
	}
	return "a name that is not shown", ""
}

// describe names the variables of a parse error without values that may be secret.
func describe(err error, file string) error {
	var all env.AggregateError
	if !errors.As(err, &all) {
		return fmt.Errorf("configuration: set it in the environment or in %s: %w", file, err)
	}
	var lines []string
	for _, e := range all.Errors {
		line := e.Error()
		if wrong := (env.ParseError{}); errors.As(e, &wrong) {
			field, _ := reflect.TypeFor[Config]().FieldByName(wrong.Name)
			line = fmt.Sprintf("%s: %v", field.Tag.Get("env"), wrong.Err)
		}
		lines = append(lines, line)
	}
	return fmt.Errorf("%s (set it in the environment or in %s)", strings.Join(lines, "; "), file)
}

func expandHome(path, home string) string {
	if path == "~" || strings.HasPrefix(path, "~/") {
		return filepath.Join(home, path[1:])
	}
	return path
}

// Differing names the settings that another configuration has otherwise, without the ones to leave
// out. It shows no value.
func (c Config) Differing(other Config, without map[string]bool) (names []string) {
	if c.Token.Equal(other.Token) { // as values they always differ
		c.Token, other.Token = token.Token{}, token.Token{}
	}
	mine, others := reflect.ValueOf(c), reflect.ValueOf(other)
	for field := range reflect.TypeFor[Config]().Fields() {
		name := field.Tag.Get("env")
		if name != "" && !without[name] && !reflect.DeepEqual(mine.FieldByIndex(field.Index).Interface(), others.FieldByIndex(field.Index).Interface()) {
			names = append(names, name)
		}
	}
	variables := append(differing(c.Agents, other.Agents), differing(c.Network, other.Network)...)
	slices.Sort(variables)
	return append(names, slices.Compact(variables)...)
}

// differing returns the names of the variables that are not the same in a and b.
func differing(a, b map[string]string) (names []string) {
	all := maps.Clone(b)
	maps.Copy(all, a)
	for name := range all {
		mine, here := a[name]
		if its, there := b[name]; here != there || mine != its {
			names = append(names, name)
		}
	}
	return names
}

// Lacking returns the settings of the environment mine was read from that its has otherwise or
// lacks: its is the configuration of a program without that environment.
func Lacking(environ []string, mine, its Config) map[string]string {
	vars, lacking := env.ToMap(environ), make(map[string]string)
	for _, name := range mine.Differing(its, nil) {
		for _, source := range []string{environment.CustomPrefix + name, name} {
			value, is := vars[source]
			if is {
				lacking[source] = value
			}
			if is && mine.Network[name] == its.Network[name] {
				break // the name without the prefix has no effect
			}
		}
	}
	return lacking
}

// Level is the least level that the log shows.
func (c Config) Level() (level slog.Level) {
	if err := level.UnmarshalText([]byte(c.LogLevel)); err != nil {
		return slog.LevelInfo // checkWords has refused anything else
	}
	return level
}

// TmuxCommand is the tmux command that a person types for the server in use.
func (c Config) TmuxCommand() string {
	if c.TmuxSocket == "" {
		return "tmux"
	}
	return "tmux -L " + c.TmuxSocket
}

// ClaudeCommand is Claude Code's command, with the home folder written out.
func (c Config) ClaudeCommand() string { return expandHome(c.Claude, c.Home) }

// CodexCommand is the command of Codex, with the home folder written out.
func (c Config) CodexCommand() string { return expandHome(c.Codex, c.Home) }

// ClaudeKeys returns the files with the settings of Claude Code's keys.
func (c Config) ClaudeKeys() claudekeys.Source {
	return claudekeys.Source{ConfigDir: c.ClaudeDir, Managed: claudekeys.ManagedSettings,
		State: filepath.Join(cmp.Or(c.ClaudeSet, c.Home), ".claude.json")}
}

// KeysFault returns the person's own key binding that keeps ccbot from operating Claude Code.
func (c Config) KeysFault() health.Keys {
	for _, fault := range c.ClaudeKeys().Keys("").Faults() {
		return health.Keys{File: fault.File, Binding: fault.Binding}
	}
	return health.Keys{}
}

// HooksShutBy returns the file of the machine's administrator that keeps Claude Code from running ccbot's hooks; empty: none.
func (c Config) HooksShutBy() string { return claudesettings.HooksShutBy(c.ClaudeKeys().Managed) }

// ProjectsDir returns the folder of Claude Code's transcripts.
func (c Config) ProjectsDir() string { return filepath.Join(c.ClaudeDir, "projects") }

// Limits are the ages that recovery uses.
func (c Config) Limits() recovery.Limits {
	return recovery.Limits{StaleRunning: c.StaleRunning, ResumeStale: c.ResumeStale, OrphanGrace: c.OrphanGrace}
}
