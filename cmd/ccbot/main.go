package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/port"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run is the program without the process: arguments and environment in, exit code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	root := commands(environ, stdout, stderr)
	help := &terminal.Printer{Out: stdout} // cobra would end well without room for it
	root.SetOut(help)
	root.SetArgs(args)
	err := cmp.Or(root.ExecuteContext(ctx), help.Err)
	if err == nil {
		return exit.OK
	}
	fmt.Fprintln(stderr, "ccbot:", terminal.Text(terminal.Plain(err)))
	return exit.Code(err)
}

func commands(environ []string, stdout, stderr io.Writer) *cobra.Command {
	c := &call{environ: environ, stdout: stdout, stderr: stderr}
	root := &cobra.Command{
		Use:           "ccbot",
		Short:         "Run sessions of coding agents in tmux windows from a Telegram chat",
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("version") {
				_, err := fmt.Fprintln(stdout, versionLine())
				return err
			}
			return c.runBot(cmd, nil)
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			engine.RecordWrites(environ, cmd.Name())
			bot := !cmd.HasParent() || cmd.Name() == "run" && !cmd.Parent().HasParent()
			if !bot || hasTerminal() {
				cmd.SetContext(untilHangup(cmd.Context()))
			}
		},
	}
	// cobra's own would print a template
	root.Flags().BoolP("version", "v", false, "version for ccbot")
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usage(flagError(err)) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddGroup(&cobra.Group{ID: inSessions, Title: "Sessions:"}, &cobra.Group{ID: inBot, Title: "The bot:"},
		&cobra.Group{ID: inMachine, Title: "This machine:"})
	for _, cmd := range []*cobra.Command{c.newCommand(), c.sendPromptCommand(),
		c.endCommand("archive", "End a session and archive it", port.StateArchived, i18n.KillConfirm),
		c.endCommand("done", "End a session and mark it as done", port.StateCompleted, i18n.DoneConfirm),
		c.resumeCommand(), c.forgetCommand(), c.recoverCommand(), c.importCommand(), c.listCommand(), c.statusCommand(), c.whyCommand(),
		c.historyCommand(), c.changesCommand(), c.usageCommand(), c.configCommand(), c.doctorCommand()} {
		root.AddCommand(c.printing(cmd))
	}
	root.AddCommand(&cobra.Command{Use: "run", Short: "Run the bot (the default without a verb)", Args: noArgs,
		Example: "  ccbot run\n  LOG_LEVEL=debug ccbot run", RunE: c.runBot},
		c.setupCommand(), c.uninstallCommand(), c.serviceCommand(), c.tryCommand(), c.attachCommand(), c.hooksCommand(), c.sendCommand(), c.versionCommand(),
		loopCommand(c), scheduleCommand(c), hostCommand(c), joinCommand(c), holdCommand(), c.completionCommand(root), c.describeCommand(root), describeUnitCommand(c.stdout))
	for _, cmd := range root.Commands() {
		cmd.GroupID = groups[cmd.Name()]
	}
	c.completeNames(root)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	// cobra would show the general help for an unknown verb
	help.Args = func(_ *cobra.Command, args []string) error {
		about, rest, err := root.Find(args)
		return cmp.Or(err, noArgs(about, rest))
	}
	return root
}

// The groups of the general help.
const (
	inSessions = "sessions"
	inBot      = "bot"
	inMachine  = "machine"
)

// groups has the group of each verb. Verbs without one are listed at the end.
var groups = map[string]string{
	"new": inSessions, "send-prompt": inSessions, "list": inSessions, "status": inSessions, "attach": inSessions, "history": inSessions,
	"changes": inSessions, "why": inSessions, "usage": inSessions, "archive": inSessions, "done": inSessions, "resume": inSessions,
	"forget": inSessions, "send": inSessions, "loop": inSessions, "schedule": inSessions,
	"run": inBot, "try": inBot, "setup": inBot, "service": inBot, "config": inBot, "doctor": inBot,
	"host": inBot, "join": inMachine,
	"hooks": inMachine, "recover": inMachine, "import": inMachine, "uninstall": inMachine,
}

func (c *call) runBot(cmd *cobra.Command, _ []string) error {
	outliveLog()
	return running.Run(cmd.Context(), c.environ, versionText(), hangups(), c.stderr)
}
