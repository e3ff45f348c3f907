package doctor

import (
	"context"
	"net/http"
	"time"

	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/hooks"
	"ccbot/internal/health"
)

// World is all that the checks look at.
type World struct {
	Version   string
	System    string            // and its architecture
	Proc      string            // /proc
	Vars      map[string]string // the environment
	ClaudeDir string

	Settings Settings
	Folder   Folder
	Bot      Bot
	Tmux     func(ctx context.Context) Tmux
	Claude   *hooks.Binary
	Hook     Hook
	Telegram Telegram
	Unit     func(ctx context.Context) (service.State, error)

	// Lock keeps every bot from starting until release; it fails while one runs.
	Lock func(ctx context.Context) (release func(), err error)
	// Clean takes secrets out of a text.
	Clean func(string) string
}

// Settings is what is wrong with the settings.
type Settings struct {
	File    string
	Wrong   error             // the settings are no settings for any verb
	Partial error             // for the bot they are not, but for a verb that only looks
	Unknown map[string]string // names in the file that are no settings; the nearest setting of each
	Voice   string            // the program of VOICE_COMMAND
}

// Folder is ccbot's folder.
type Folder struct {
	Path      string
	Exposed   func() ([]statefolder.Exposure, error)
	Aside     []string             // records that cannot be read
	Forgotten func(id string) bool // no record and no window has this id; false where that is not known
	Figures   health.Figures       // what can be seen without a bot
	Now       func() time.Time
}

// Bot is the running bot.
type Bot struct {
	PID     int    // 0: none holds the lock
	Program string // of PID, as the kernel names it
	Self    string // the program that looks
	Ask     func(ctx context.Context) (health.Figures, error)
	Say     func(w health.Warning) string
}

// Tmux is what a look at tmux gives.
type Tmux struct {
	Err     error  // of the look
	Version string // of the installed tmux
	Old     error  // of the installed tmux
	Orphans []string
	Due     int   // sessions that a start would change
	Unsure  error // why Orphans and Due are not known
}

// Hook is ccbot's own hook, and Claude Code's settings, in which it may be installed.
type Hook struct {
	Err      error  // there is no hook
	Command  string // what is installed
	Settings hooks.SettingsFile
}

// Telegram is the Bot API.
type Telegram struct {
	Client *http.Client // puts the token where it belongs; nil: there is no token
	Server string
	Now    func() time.Time
}
