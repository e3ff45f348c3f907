package doctor

import (
	"context"
	"io"
	"path/filepath"
	"strconv"

	"github.com/caarlos0/env/v11"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/internal/cellpicture"
	"ccbot/internal/health"
	"ccbot/recovery"
)

// World is all that the checks look at.
type World struct {
	offline.View // with as much of the settings as can be had
	Version      string
	Hook         Hook
	Ask          func(ctx context.Context) (health.Figures, error) // the running bot
	Unit         func(ctx context.Context) (service.State, error)
	Fonts        cellpicture.Fonts

	environ []string
	vars    map[string]string
	proc    string
	refused error  // the folder is not used: nothing else is looked at
	wrong   error  // the settings are invalid for every verb
	partial error  // for the bot they are not, but for a verb that only looks
	self    string // the program that looks
	pid     int    // of the running bot; 0: none holds the lock
	program string // of pid, as the kernel names it
	unread  error  // why records cannot be seen
	blind   error  // why windows cannot be seen
	seen    recovery.World
	picture offline.TmuxState
	running *health.Figures // of the bot, if it has answered
}

// Hook is ccbot's own hook, and Claude Code's settings, in which it may be installed.
type Hook struct {
	Err      error  // there is no hook
	Command  string // the installed command
	Settings claudesettings.SettingsFile
}

// Open looks at the settings, the records and tmux. The other exported fields are for the caller to
// set.
func Open(ctx context.Context, environ []string, version string) (w *World, err error) {
	w = &World{Version: version, environ: environ, vars: env.ToMap(environ), proc: "/proc"}
	home := w.vars["HOME"]
	if home == "" {
		return nil, config.ErrNoHome
	}
	if dir := config.StateFolder(w.vars, home); filepath.IsAbs(dir) {
		mayRead, _ := strconv.ParseBool(w.vars[statefolder.ReadableVariable])
		if _, w.refused = statefolder.RefuseOthers(dir, mayRead); w.refused != nil {
			return w, nil
		}
	}
	c, wrong := config.LoadForReading(environ)
	if w.wrong = wrong; wrong != nil {
		c = config.Config{Home: home, Dir: config.StateFolder(w.vars, home)}
	} else if whole, partial := config.Load(environ); partial == nil {
		c = whole
	} else {
		w.partial = partial
	}
	if err := c.TrustCertificates(); err != nil {
		return nil, err
	}
	if w.self, err = offline.Program(); err != nil {
		return nil, err
	}
	w.View, w.unread = offline.Of(c, environ, io.Discard)
	if w.Table == nil {
		return nil, w.unread
	}
	if w.pid, _ = statefolder.RunningBot(c.Dir, w.Table); w.pid != 0 {
		if p, err := w.Table.Inspect(w.pid); err == nil {
			w.program = p.Exe
		}
	}
	if w.wrong != nil {
		w.unread = errNoSettings
	}
	if w.blind = w.unread; w.blind == nil {
		w.seen, w.picture, w.blind = w.Survey(ctx)
	}
	return w, nil
}
