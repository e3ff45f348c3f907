package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	bothealth "ccbot/bot/health"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/desk"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/gauge"
	"ccbot/internal/health"
	"ccbot/internal/session"
	"ccbot/recovery"
	"ccbot/tmux"
)

func (c *call) doctorCommand() *cobra.Command {
	var fix, strict bool
	cmd := &cobra.Command{Use: "doctor", Args: noArgs, Short: "Find out what keeps ccbot from working, and mend what is safe to mend",
		Long: `Look at the system, the settings, ccbot's folder, the bot that runs, tmux, Claude Code, its
hooks, the Bot API and the service. It changes nothing, takes no message from Telegram, and
may run beside the bot. Each fault has a code: docs/doctor.md lists them.

--fix mends what is ccbot's own: what others can read, a socket that nobody listens at, files
that writes or sessions have left, hooks of a place that is gone. What others can write is
for a person to look at. No process and no window is touched. The exit code is 1 where something fails, with --strict also where it warns.`,
		Example: "  ccbot doctor\n  ccbot doctor --fix\n  ccbot doctor --json | jq -r '.checks[] | select(.status == \"fail\").code'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return c.examine(cmd.Context(), fix, strict) }}
	cmd.Flags().BoolVar(&fix, "fix", false, "mend what is safe to mend, and look again")
	cmd.Flags().BoolVar(&strict, "strict", false, "fail where something warns, too")
	return cmd
}

func (c *call) examine(ctx context.Context, fix, strict bool) error {
	w, err := doctorsWorld(ctx, c.environ, c.stderr)
	if err != nil {
		return err
	}
	report := doctor.Examine(ctx, w)
	if fix {
		fixed := report.Mend(ctx, w)
		if w, err = doctorsWorld(ctx, c.environ, c.stderr); err != nil { // settings that were refused can be read now
			return err
		}
		report = doctor.Examine(ctx, w)
		report.Fixed = fixed
	}
	if err := c.show(report, report.Print); err != nil {
		return err
	}
	switch fails, warns := report.Count(doctor.Fail), report.Count(doctor.Warn); {
	case fails > 0:
		return fmt.Errorf("%s found that must be mended", terminal.Several(fails, "fault"))
	case warns > 0 && strict:
		return fmt.Errorf("%s, and --strict was given", terminal.Several(warns, "warning"))
	}
	return nil
}

// doctorsConfig is as much of the settings as can be had: those of the environment where the file cannot be read.
func doctorsConfig(environ []string) (c config.Config, s doctor.Settings, err error) {
	vars := env.ToMap(environ)
	home := vars["HOME"]
	if home == "" {
		return c, s, exit.Usage(errors.New("HOME is not set"))
	}
	full, wrong := config.LoadForReading(environ)
	s.File = filepath.Join(config.StateFolder(vars, home), statefolder.SettingsFile)
	if wrong != nil {
		s.Wrong = wrong
		return config.Config{Home: home, Dir: config.StateFolder(vars, home)}, s, nil
	}
	s.Unknown = make(map[string]string)
	for _, name := range full.Unknown {
		shown, near := config.Nearest(name)
		s.Unknown[shown] = near
	}
	whole, partial := config.Load(environ)
	if s.Partial = partial; partial == nil {
		s.Voice = whole.VoiceCommand()
		return whole, s, nil
	}
	return full, s, nil
}

// doctorsWorld is all that the doctor looks at. Nothing in it is changed by looking.
func doctorsWorld(ctx context.Context, environ []string, stderr io.Writer) (*doctor.World, error) {
	c, settings, err := doctorsConfig(environ)
	if err != nil {
		return nil, err
	}
	d, unread := desk.Of(c, environ, io.Discard)
	if d.Table == nil {
		return nil, unread
	}
	me, err := desk.Program()
	if err != nil {
		return nil, err
	}
	w := &doctor.World{Version: versionText(), System: runtime.GOOS + "/" + runtime.GOARCH, Proc: "/proc", Vars: env.ToMap(environ), ClaudeDir: c.ClaudeDir,
		Settings: settings, Claude: desk.Claude(c, environ, c.QuietLog(io.Discard)), Hook: hookOf(c), Clean: c.Token.Clean,
		Unit: func(ctx context.Context) (service.State, error) {
			s, err := serviceOf(environ, io.Discard)
			if err != nil {
				return service.State{}, err
			}
			return s.Look(ctx)
		}}
	w.Bot = doctor.Bot{Self: me, Ask: func(ctx context.Context) (health.Figures, error) { return running.Figures(ctx, c.Dir) },
		Say: func(w health.Warning) string { return desk.InTerminal(bothealth.Sentence(d.Words, w, c.Dir)) }}
	if w.Bot.PID, _ = statefolder.RunningBot(c.Dir, d.Table); w.Bot.PID != 0 {
		if p, err := d.Table.Inspect(w.Bot.PID); err == nil {
			w.Bot.Program = p.Exe
		}
	}
	if c.Token.Valid() && c.CheckAPI() == nil {
		w.Telegram = doctor.Telegram{Client: telegram.Client(c.Token, c.APIURL), Server: c.APIURL, Now: time.Now}
	}
	w.Lock = func(ctx context.Context) (func(), error) {
		_, held, err := statefolder.Take(ctx, c.Dir, "cli", 0, c.QuietLog(stderr))
		if err != nil {
			return nil, err
		}
		return func() { _ = held.Close() }, nil
	}
	doctorsRecords(ctx, w, d, cmp.Or(unread, settings.Wrong), environ)
	return w, nil
}

// doctorsRecords looks at the folder, the records in it, and the windows of tmux. unread is why it cannot.
func doctorsRecords(ctx context.Context, w *doctor.World, d desk.Desk, unread error, environ []string) {
	mayRead, _ := strconv.ParseBool(w.Vars[statefolder.ReadableVariable])
	w.Folder = doctor.Folder{Path: d.Dir, Exposed: func() ([]statefolder.Exposure, error) { return statefolder.Inspect(d.Dir, mayRead) }, Now: time.Now,
		Forgotten: func(string) bool { return false }}
	if room, err := gauge.Disk(ctx, d.Dir); err == nil {
		w.Folder.Figures.Disk = health.Disk{Known: true, Free: room.Free, Total: room.Total, Low: room.Low()}
	}
	look := doctor.Tmux{Unsure: unread}
	look.Version, look.Old = tmux.Installed(environment.Server(environ))
	w.Tmux = func(context.Context) doctor.Tmux { return look }
	if unread != nil {
		return
	}
	for _, a := range d.Store.Aside() {
		w.Folder.Aside = append(w.Folder.Aside, desk.Aside(a))
	}
	for _, r := range d.Store.Shared() {
		if r.State == session.CleanupFailed {
			w.Folder.Figures.NotClean++
		}
	}
	seen, picture, err := d.Survey(ctx)
	if look.Err, look.Unsure = picture.Err, err; err == nil {
		doctorsPlan(seen, &look)
		whole := len(d.Store.Aside()) == 0 && (picture.Err == nil || errors.Is(picture.Err, tmux.ErrNoServer))
		w.Folder.Forgotten = func(id string) bool { return whole && forgotten(id, d.Store, picture.All) }
	}
}

func doctorsPlan(seen recovery.World, look *doctor.Tmux) {
	actions, notices := recovery.Plan(seen)
	for _, a := range actions {
		if a.Do.Changes() {
			look.Due++
		}
	}
	for _, n := range notices {
		if n.Kind == recovery.OrphanWindow {
			look.Orphans = append(look.Orphans, n.Pane.Window.String()+" "+n.Pane.WindowName)
		}
	}
}

// forgotten: no record has the id of a launch, and no window.
func forgotten(id string, store *session.Store, panes []tmux.Pane) bool {
	record, err := uuid.Parse(id)
	if err != nil {
		return false
	}
	for _, p := range panes {
		if strings.Contains(p.Tag, id) {
			return false
		}
	}
	_, known := store.Get(record)
	return !known
}
