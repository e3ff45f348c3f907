package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/caarlos0/env/v11"
	"github.com/spf13/cobra"
	"golang.org/x/term"

	"ccbot/bot/conversation"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/environment"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/setup"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/i18n"
	"ccbot/internal/glyph"
	"ccbot/tmux"
)

func (c *call) setupCommand() *cobra.Command {
	var f setup.Flags
	var installHooks, asService bool
	cmd := &cobra.Command{Use: "setup", Short: "Set up your own bot: its token, the people who may use it, hooks; may be run again",
		Long: `Ask for the settings that ccbot needs, and write them into ccbot.env: the bot's token, which is
not shown, and the people who may use the bot. You open the bot with a link that works once, and
confirm here that it was you. Then setup offers the hooks of Claude Code, says hello in the chat,
and offers to run ccbot as a service. It may be interrupted and run again; other lines of ccbot.env
stay.

With --yes no question is asked: without a flag a setting stays as it is, and an offer is accepted.
A bot of the same folder must not run at the same time.`,
		Example: "  ccbot setup\n  ccbot setup --token-file token --allow 11111111 --yes",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 { // which may be the token
				return exit.Usage(errors.New("setup takes no arguments; it asks for the token, or reads it from --token-file"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("hooks") {
				f.Hooks = &installHooks
			}
			if cmd.Flags().Changed("service") {
				f.Service = &asService
			}
			return runSetup(cmd, c, f)
		}}
	cmd.Flags().StringVar(&f.TokenFile, "token-file", "", "`FILE` with the bot's token; -: standard input")
	cmd.Flags().Int64SliceVar(&f.Allow, "allow", nil, "Telegram `ID` of a person who may use the bot; several with commas")
	cmd.Flags().Lookup("allow").DefValue = "" // pflag would show []
	cmd.Flags().StringVar(&f.Folder, "folder", "", "`FOLDER` for their new sessions")
	cmd.Flags().BoolVar(&installHooks, "hooks", false, "install the hooks of Claude Code; --hooks=false: do not")
	cmd.Flags().BoolVar(&asService, "service", false, "run ccbot in the background, now and at each login; --service=false: do not")
	cmd.Flags().BoolVar(&f.Yes, "yes", false, "ask nothing; needs --allow, and --token-file unless ccbot.env has a token")
	return cmd
}

// terminalOf returns a person's terminal, for questions, if standard input is one.
func terminalOf(cmd *cobra.Command, out io.Writer) setup.Terminal {
	at := setup.Terminal{Out: out}
	if in, is := cmd.InOrStdin().(*os.File); is && term.IsTerminal(int(in.Fd())) {
		at.In = in
	}
	return at
}

// runSetup asks and writes, offers the service, and prints what doctor finds wrong.
func runSetup(cmd *cobra.Command, c *call, f setup.Flags) error {
	f.Input = cmd.InOrStdin()
	// ^\ would leave the terminal without echo
	ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGQUIT)
	defer stop()
	at := terminalOf(cmd, c.stdout)
	service := func(ctx context.Context) error {
		s, err := serviceOf(c.environ, c.stdout)
		if err != nil {
			return err
		}
		return installService(ctx, s, c.environ, false, func(question string) (bool, error) {
			if f.Yes {
				return true, nil
			}
			return at.Yes(ctx, question, true)
		})
	}
	if err := at.Hide(); err != nil {
		return err
	}
	s, err := setUp(ctx, c.environ, f, service, at, c.stderr)
	err = errors.Join(err, at.Show())
	switch {
	case errors.Is(err, context.Canceled):
		return exit.Interrupt(errors.New("interrupted; `ccbot setup` begins again, and what was written before stays"))
	case err != nil:
		return err
	}
	if err := faults(ctx, c); err != nil {
		return err
	}
	if version, err := tmux.Installed(environment.Server(c.environ)); err == nil {
		if note := offline.TmuxMayCrash(version); note != "" {
			fmt.Fprintf(c.stdout, "tmux %s works, but %s.\n", version, note)
		}
	}
	s.FirstTask()
	return nil
}

func setUp(ctx context.Context, environ []string, f setup.Flags, service func(context.Context) error, at setup.Terminal, stderr io.Writer) (*setup.Setup, error) {
	if err := checkSetup(environ, f); err != nil {
		return nil, err
	}
	if err := running.Harden(); err != nil {
		return nil, err
	}
	c, err := config.LoadForSetup(environ)
	if err != nil {
		return nil, err
	}
	if err := c.TrustCertificates(); err != nil {
		return nil, err
	}
	held, err := running.Lock(ctx, c, environ, stderr)
	if err != nil {
		return nil, err
	}
	defer held.Close()
	chats, err := conversation.Open(filepath.Join(c.Dir, "chats"), filepath.Join(c.Dir, "quarantine"), c.QuietLog(stderr))
	if err != nil {
		return nil, statefolder.Error(c.Dir, err)
	}
	s := &setup.Setup{Config: c, Chats: chats, Words: i18n.Load(glyph.Name),
		Hooks: func() error { return hooksInstall(hookOf(c), at.Out, stderr) }, Service: service, Flags: f, Terminal: at}
	if err := s.Run(ctx); err != nil {
		return nil, c.Token.CleanError(statefolder.Error(c.Dir, err))
	}
	if _, err := config.Load(environ); err != nil { // another line of ccbot.env is wrong
		return nil, fmt.Errorf("ccbot cannot start yet: %w", err)
	}
	if err := held.Close(); err != nil {
		return nil, fmt.Errorf("give the lock back: %w", err)
	}
	return s, s.OfferService(ctx)
}

// checkSetup refuses flags that do not go together, and an environment that would win over what is
// written.
func checkSetup(environ []string, f setup.Flags) error {
	if f.Yes && len(f.Allow) == 0 {
		return exit.Usage(errors.New("--yes needs --allow: setup cannot ask who may use the bot"))
	}
	for _, id := range f.Allow {
		if id <= 0 {
			return exit.Usage(errors.New("--allow is the id of a person, a positive number; @userinfobot tells yours"))
		}
	}
	vars := env.ToMap(environ)
	for _, name := range []string{"TELEGRAM_BOT_TOKEN", "ALLOWED_USERS"} {
		if _, set := vars[name]; set {
			return exit.Usage(fmt.Errorf("%s is set in the environment, which wins over ccbot.env: unset it first", name))
		}
	}
	return nil
}
