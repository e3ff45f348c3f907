package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/service"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/fleet/member"
)

// errServiceOther is the error of a status that the package service does not know.
var errServiceOther = errors.New("the service runs another program; `ccbot service install` makes it run this one")

func (c *call) serviceCommand() *cobra.Command {
	root := &cobra.Command{Use: "service", Args: noArgs,
		Short: "Run ccbot as a service: install | uninstall | status | logs | stop | restart",
		Long: `Run ccbot as a service of your user: a unit of systemd, or an agent of launchd. A stop, a restart
or an upgrade of the service ends no agent. On a machine that has joined a chat on another one,
without a token, the service runs ` + "`ccbot host run`" + `.`,
		Example: "  ccbot service install\n  ccbot service status",
		RunE: func(*cobra.Command, []string) error {
			return exit.Usage(errors.New("missing verb: ccbot service install, uninstall, status, logs, stop or restart"))
		}}
	var force, writeSettings bool
	verb := func(use, short string, do func(s *service.Service, ctx context.Context) error) *cobra.Command {
		cmd := &cobra.Command{Use: use, Short: short, Args: noArgs, Example: "  ccbot service " + use,
			RunE: func(cmd *cobra.Command, _ []string) error {
				s, err := serviceOf(c.environ, c.stdout)
				if err != nil {
					return err
				}
				return do(s, cmd.Context())
			}}
		root.AddCommand(cmd)
		return cmd
	}
	var install *cobra.Command
	install = verb("install", "Write the unit, and start the service now and at each login", func(s *service.Service, ctx context.Context) error {
		at := terminalOf(install, c.stdout)
		write := func(question string) (bool, error) {
			if writeSettings || install.Flags().Changed("write-settings") || at.In == nil {
				return writeSettings, nil
			}
			return at.Yes(ctx, question, true)
		}
		return installService(ctx, s, c.environ, force, write)
	})
	install.Flags().BoolVar(&force, "force", false, "overwrite a unit that was changed by hand")
	install.Flags().BoolVar(&writeSettings, "write-settings", false, "write what the service would lack into ccbot.env")
	verb("uninstall", "Stop the service and remove its unit; the agents live on", func(s *service.Service, ctx context.Context) error {
		return s.Uninstall(ctx, force)
	}).Flags().BoolVar(&force, "force", false, "also remove a unit that was changed by hand")
	c.printing(verb("status", "Show whether the service is installed and runs", func(s *service.Service, ctx context.Context) error {
		return c.serviceStatus(ctx, s)
	}))
	verb("stop", "Stop the service until a restart, a later login or, with lingering, the next start of the machine", (*service.Service).Stop)
	verb("restart", "Restart the service, or start one that was stopped; the agents live on", (*service.Service).Restart)
	addLogs(c, verb)
	return root
}

// addLogs adds the verb that shows the log.
func addLogs(c *call, verb func(use, short string, do func(s *service.Service, ctx context.Context) error) *cobra.Command) {
	logs := service.Logs{}
	show := verb("logs", "Show the last lines of the service's log, and follow it", func(s *service.Service, _ context.Context) error {
		argv, err := s.LogCommand(logs)
		if err != nil {
			return err
		}
		path, err := exec.LookPath(argv[0])
		if err != nil {
			return err
		}
		return syscall.Exec(path, argv, c.environ)
	})
	show.Flags().IntVarP(&logs.Lines, "lines", "n", 100, "show the last `N` lines, unless --since is given")
	show.Flags().StringVar(&logs.Since, "since", "", "show the lines since `TIME` (not with launchd), such as \"2 hours ago\" or \"2026-05-04 03:00\"")
	show.Flags().BoolVarP(&logs.Follow, "follow", "f", true, "show new lines until ^C; --follow=false: do not")
	show.Example += "\n  ccbot service logs --since \"2 hours ago\" --follow=false"
}

// installService makes ccbot a service that runs now. The service does not have the environment of
// this shell: installService reads the settings as the service will find them, names what the
// service would lack, and writes it into ccbot.env if write answers the question with yes.
func installService(ctx context.Context, s *service.Service, environ []string, force bool, write func(question string) (bool, error)) error {
	bare := []string{"HOME=" + s.Program.Home, "PATH=" + s.Program.Path}
	if s.Program.StateDir != "" {
		bare = append(bare, "CCBOT_DIR="+s.Program.StateDir)
	}
	load := config.Load
	if s.Program.Host {
		load = config.LoadForHost
	}
	its, err := load(bare)
	if err != nil {
		return fmt.Errorf("as a service ccbot reads its settings from its file alone, and would not start: %w", err)
	}
	mine, err := load(environ)
	if err != nil {
		return err
	}
	if err := writeLacking(s.Out, mine, config.Lacking(environ, mine, its), write); err != nil {
		return err
	}
	if err := safePath(s, mine, environ); err != nil {
		return err
	}
	return s.Install(ctx, force)
}

// writeLacking names the settings of this shell that a service lacks, and writes them into
// ccbot.env if write answers the question with yes.
func writeLacking(out io.Writer, c config.Config, lacking map[string]string, write func(question string) (bool, error)) error {
	if len(lacking) == 0 {
		return nil
	}
	names := strings.Join(slices.Sorted(maps.Keys(lacking)), ", ")
	fmt.Fprintf(out, "the service does not have these settings of this shell: %s\n", names)
	yes, err := write(fmt.Sprintf("Write them into %s?", terminal.Printable(c.File)))
	if err != nil {
		return err
	}
	if !yes {
		fmt.Fprintf(out, "to give them to the service: ccbot service install --write-settings, or write them into %s\n", terminal.Printable(c.File))
		return nil
	}
	if _, err := config.WriteSettings(c.File, lacking); err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "written:", terminal.Printable(c.File))
	return err
}

// safePath removes the folders from the service's PATH in which another user can put a program, and
// names them. It is an error if an agent, tmux, git or ccbot itself is in one of them, or reached
// by a link in one: the service would not find it, or would run another one.
func safePath(s *service.Service, c config.Config, environ []string) error {
	for _, name := range append(offline.AgentCommands(c), "tmux", "git", s.Program.Binary) {
		program, err := exec.LookPath(name)
		switch {
		case errors.Is(err, exec.ErrDot):
			return exit.Usage(fmt.Errorf("%s is in a folder of PATH that is not absolute, which the service would not find", name))
		case err != nil:
			continue // a start reports that
		}
		if program, err = filepath.Abs(program); err != nil {
			return err
		}
		for _, at := range []string{filepath.Dir(program), program} {
			why, err := statefolder.OthersCanWrite(at)
			if err != nil {
				return err
			}
			if why != "" {
				return exit.Usage(fmt.Errorf("another user could put another program in the place of %s: %s; take that permission away, or install %s elsewhere",
					terminal.Printable(program), why, filepath.Base(name)))
			}
		}
	}
	foreign, err := statefolder.ForeignFolders(env.ToMap(environ)["PATH"])
	for _, f := range foreign {
		fmt.Fprintf(s.Out, "not in the PATH of the service: %q: %s\n", f.Folder, f.Why)
	}
	return err
}

// serviceOf is the service that runs this program: the bot, or without a token the host of a folder
// that has joined a chat.
func serviceOf(environ []string, stdout io.Writer) (*service.Service, error) {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return nil, err
	}
	me, err := offline.Program()
	if err != nil {
		return nil, err
	}
	vars := env.ToMap(environ)
	p := service.Program{Binary: me, Home: c.Home, Path: service.FullPath("", vars["PATH"]),
		Needs: []string{"tmux", "git"}}
	for _, command := range offline.AgentCommands(c) {
		p.Needs = append(p.Needs, filepath.Base(command))
	}
	if claude, err := exec.LookPath(c.ClaudeCommand()); err == nil {
		p.Path = service.FullPath(filepath.Dir(claude), vars["PATH"])
	}
	if c.Token.Empty() {
		if p.Host, err = member.IsMember(running.FleetFolder(c.Dir)); err != nil {
			return nil, err
		}
	}
	foreign, err := statefolder.ForeignFolders(p.Path)
	if err != nil {
		return nil, err
	}
	p.Path = statefolder.WithoutForeign(p.Path, foreign)
	p.StateDir = config.OtherStateFolder(vars, c.Home)
	return service.New(runtime.GOOS, vars["XDG_CONFIG_HOME"], os.Getuid(), p, runner(environ), stdout), nil
}

// runner runs a command that answers soon. A user who came by su has no address of the user's
// manager; it is at a fixed place. systemctl prints a time in the zone of its environment.
func runner(environ []string) service.Runner {
	runtimeDir := fmt.Sprintf("/run/user/%d", os.Getuid())
	if _, err := os.Stat(runtimeDir); err == nil && env.ToMap(environ)["XDG_RUNTIME_DIR"] == "" {
		environ = append(environ[:len(environ):len(environ)], "XDG_RUNTIME_DIR="+runtimeDir)
	}
	return func(ctx context.Context, argv ...string) (string, error) {
		cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
		cmd.Env = append(environ[:len(environ):len(environ)], "TZ=UTC")
		out, err := cmd.CombinedOutput()
		if words := strings.Join(strings.Fields(string(out)), " "); err != nil && words != "" {
			err = errors.New(words)
		}
		return string(out), err
	}
}

func (c *call) serviceStatus(ctx context.Context, s *service.Service) error {
	state, err := s.State(ctx)
	if err != nil {
		return err
	}
	if err := c.show(state, func(p *terminal.Printer) { printService(p, state, time.Now()) }); err != nil {
		return err
	}
	switch {
	case !state.Installed:
		return service.ErrNotInstalled
	case state.Problem != "":
		return service.ErrUnknown
	case !state.Active:
		return service.ErrOff
	case !state.Same:
		return errServiceOther
	}
	return nil
}

func printService(p *terminal.Printer, s service.State, now time.Time) {
	if !s.Installed {
		p.Line("no file %s", s.File)
		return
	}
	row := func(title, text string) {
		if text != "" {
			p.Line("  %-10s%s", title, terminal.Printable(text))
		}
	}
	how := map[bool]string{true: "", false: ", of another install"}[s.Current]
	if s.Changed {
		how = ", changed by hand"
	}
	p.Line("ccbot as a service of %s", s.Manager)
	row("file", s.File+how)
	row("program", map[bool]string{true: "this one", false: "another one: " + cmp.Or(s.Starts, "none is named")}[s.Same])
	state := cmp.Or(s.State, s.Problem, "not known")
	if s.Active && !s.Since.IsZero() {
		state += " for " + terminal.Age(now.Sub(s.Since))
	}
	if s.PID > 0 {
		state += fmt.Sprintf(", process %d", s.PID)
	}
	row("state", state)
	row("says", s.Report)
	if s.Restarts != nil && *s.Restarts > 0 {
		row("restarts", fmt.Sprint(*s.Restarts))
	}
	row("lingers", map[string]string{"yes": "yes: it runs on when you log out", "no": "no; that it runs on when you log out takes: loginctl enable-linger"}[s.Lingers])
}
