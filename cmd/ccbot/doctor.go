package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"ccbot/bot/chat"
	bothealth "ccbot/bot/health"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/doctor"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/telegram"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/hooks"
	"ccbot/host"
	"ccbot/i18n"
	"ccbot/internal/control"
	"ccbot/internal/gauge"
	"ccbot/internal/glyph"
	"ccbot/internal/health"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/recovery"
	"ccbot/tmux"
)

// figures are the running bot's own, for `ccbot doctor`. Without a bot nobody has them.
var figures = change[struct{}, health.Figures]{verb: "figures", do: func(ctx context.Context, s *system, _ struct{}) (health.Figures, error) {
	return s.health(ctx), nil
}}

// doctorOptions are the flags of `ccbot doctor`.
type doctorOptions struct{ asJSON, fix, strict bool }

func doctorCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var o doctorOptions
	cmd := &cobra.Command{Use: "doctor", Args: noArgs, Short: "Find out what keeps ccbot from working, and mend what is safe to mend",
		Long: `Look at the system, the settings, ccbot's folder, the bot that runs, tmux, Claude Code, its
hooks, the Bot API and the service. It changes nothing, takes no message from Telegram, and
may run beside the bot. Each fault has a code: docs/doctor.md lists them.

--fix mends what is ccbot's own: what others can read, a socket that nobody listens at, files
that writes or sessions have left, hooks of a place that is gone. What others can write is
for a person to look at. No process and no window is touched. The exit code is 1 where something fails, with --strict also where it warns.`,
		Example: "  ccbot doctor\n  ccbot doctor --fix\n  ccbot doctor --json | jq -r '.checks[] | select(.status == \"fail\").code'",
		RunE:    func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), environ, o, stdout, stderr) }}
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&o.fix, "fix", false, "mend what is safe to mend, and look again")
	cmd.Flags().BoolVar(&o.strict, "strict", false, "fail where something warns, too")
	return cmd
}

func examine(ctx context.Context, environ []string, o doctorOptions, stdout, stderr io.Writer) error {
	w, err := doctorsWorld(ctx, environ, stderr)
	if err != nil {
		return err
	}
	report := doctor.Examine(ctx, w)
	if o.fix {
		fixed := report.Mend(ctx, w)
		if w, err = doctorsWorld(ctx, environ, stderr); err != nil { // settings that were refused can be read now
			return err
		}
		report = doctor.Examine(ctx, w)
		report.Fixed = fixed
	}
	if err := terminal.Show(stdout, o.asJSON, report, report.Print); err != nil {
		return err
	}
	switch fails, warns := report.Count(doctor.Fail), report.Count(doctor.Warn); {
	case fails > 0:
		return fmt.Errorf("%s found that must be mended", terminal.Several(fails, "fault"))
	case warns > 0 && o.strict:
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
	table, err := process.NewTable()
	if err != nil {
		return nil, err
	}
	me, err := self()
	if err != nil {
		return nil, err
	}
	vars, log := env.ToMap(environ), quietLog(c, io.Discard)
	w := &doctor.World{Version: versionText(), System: runtime.GOOS + "/" + runtime.GOARCH, Proc: "/proc", Vars: vars, ClaudeDir: c.ClaudeDir,
		Settings: settings, Claude: installedClaude(c, environ, log), Hook: doctorsHook(c), Clean: c.Token.Clean,
		Unit: func(ctx context.Context) (service.State, error) {
			s, err := serviceOf(environ, io.Discard)
			if err != nil {
				return service.State{}, err
			}
			return s.Look(ctx)
		}}
	w.Bot = doctor.Bot{Self: me, Say: sayWarning(c), Ask: func(ctx context.Context) (f health.Figures, err error) { return f, askFigures(ctx, c.Dir, &f) }}
	if w.Bot.PID, _ = statefolder.RunningBot(c.Dir, table); w.Bot.PID != 0 {
		if p, err := table.Inspect(w.Bot.PID); err == nil {
			w.Bot.Program = p.Exe
		}
	}
	if c.Token.Valid() && c.CheckAPI() == nil {
		w.Telegram = doctor.Telegram{Client: telegram.Client(c.Token, c.APIURL), Server: c.APIURL, Now: time.Now}
	}
	w.Lock = func(ctx context.Context) (func(), error) {
		_, held, err := statefolder.Take(ctx, c.Dir, "cli", 0, quietLog(c, stderr))
		if err != nil {
			return nil, err
		}
		return func() { _ = held.Close() }, nil
	}
	doctorsRecords(ctx, c, w, environ, table, log)
	return w, nil
}

// doctorsHook is ccbot's hook, and where it may be installed.
func doctorsHook(c config.Config) doctor.Hook {
	h := doctor.Hook{Settings: hooks.SettingsIn(c.ClaudeDir)}
	binary, err := hookBinary()
	if err == nil {
		h.Command, err = hooks.InstalledCommand(binary, c.Dir)
	}
	h.Err = err
	return h
}

// doctorsRecords looks at the folder, the records in it, and the windows of tmux.
func doctorsRecords(ctx context.Context, c config.Config, w *doctor.World, environ []string, table *process.Table, log *slog.Logger) {
	mayRead, _ := strconv.ParseBool(w.Vars[statefolder.ReadableVariable])
	w.Folder = doctor.Folder{Path: c.Dir, Exposed: func() ([]statefolder.Exposure, error) { return statefolder.Inspect(c.Dir, mayRead) }, Now: time.Now,
		Forgotten: func(string) bool { return false }}
	if room, err := gauge.Disk(ctx, c.Dir); err == nil {
		w.Folder.Figures.Disk = health.Disk{Known: true, Free: room.Free, Total: room.Total, Low: room.Low()}
	}
	version, old := tmux.Installed(environment.Server(environ))
	store, err := openRecords(c.Dir, io.Discard)
	if err == nil {
		err = w.Settings.Wrong
	}
	if err != nil {
		w.Tmux = func(context.Context) doctor.Tmux { return doctor.Tmux{Version: version, Old: old, Unsure: err} }
		return
	}
	for _, a := range store.Aside() {
		w.Folder.Aside = append(w.Folder.Aside, asideText(a))
	}
	for _, r := range store.Shared() {
		if r.State == session.CleanupFailed {
			w.Folder.Figures.NotClean++
		}
	}
	seen, picture, err := survey(ctx, c, environ, store, table, log)
	look := doctor.Tmux{Version: version, Old: old, Err: picture.err, Unsure: err}
	if err == nil {
		doctorsPlan(seen, &look)
		whole := len(store.Aside()) == 0 && (picture.err == nil || errors.Is(picture.err, tmux.ErrNoServer))
		w.Folder.Forgotten = func(id string) bool { return whole && forgotten(id, store, picture.panes) }
	}
	w.Tmux = func(context.Context) doctor.Tmux { return look }
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

// askFigures asks the running bot. A bot that is too old does not know the verb.
func askFigures(ctx context.Context, dir string, f *health.Figures) error {
	ctx, cancel := context.WithTimeout(ctx, pingPatience)
	defer cancel()
	raw, err := control.Do(ctx, filepath.Join(dir, hookwire.SocketName), hookwire.Call{Verb: figures.verb, Body: json.RawMessage("{}")})
	if err != nil {
		return err
	}
	return json.Unmarshal(raw, f)
}

// sayWarning says what is wrong as the chat's /health does, in English.
func sayWarning(c config.Config) func(health.Warning) string {
	words, err := i18n.Load(glyph.Name)
	if err != nil {
		return func(w health.Warning) string { return string(w.Code) }
	}
	p := chat.Phrases{Words: words.For("en"), Facts: chat.Facts{Now: time.Now, Places: &host.Machine{Home: host.WithoutLinks(c.Home)}}}
	return func(w health.Warning) string { return inTerminal(bothealth.Sentence(p, w, c.Dir)) }
}
