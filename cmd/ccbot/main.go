package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/terminal"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run is the program without the process: arguments and environment in, exit code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := untilSignal(context.Background())
	defer stop()
	root := commands(environ, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exit.OK
	}
	fmt.Fprintln(stderr, "ccbot:", terminal.Text(err.Error()))
	return exit.Code(err)
}

func commands(environ []string, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "ccbot",
		Short:         "Run Claude Code sessions in tmux windows from a Telegram chat",
		Args:          noArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("version") {
				_, err := fmt.Fprintln(stdout, versionLine())
				return err
			}
			return runBot(cmd.Context(), environ, changes(), stderr)
		},
		PersistentPreRun: func(cmd *cobra.Command, _ []string) {
			bot := !cmd.HasParent() || cmd.Name() == "run"
			if !bot || hasTerminal() {
				cmd.SetContext(untilHangup(cmd.Context()))
			}
		},
	}
	root.Flags().BoolP("version", "v", false, "version for ccbot") // cobra's own would print a template
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usage(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(
		runCommand(environ, stderr), setupCommand(environ, stdout, stderr), serviceCommand(environ, stdout), tryCommand(environ),
		newCommand(environ, stdout, stderr), sendPromptCommand(environ, stdout, stderr), attachCommand(environ, stderr),
		archiveCommand(environ, stdout, stderr), doneCommand(environ, stdout, stderr), resumeCommand(environ, stdout, stderr),
		forgetCommand(environ, stdout, stderr), recoverCommand(environ, stdout, stderr), importCommand(environ, stdout, stderr),
		listCommand(environ, stdout, stderr), statusCommand(environ, stdout, stderr), whyCommand(environ, stdout, stderr),
		historyCommand(environ, stdout, stderr), changesCommand(environ, stdout, stderr), usageCommand(environ, stdout, stderr),
		configCommand(environ, stdout), doctorCommand(environ, stdout, stderr), hooksCommand(environ, stdout), sendCommand(environ, stdout),
		versionCommand(environ, stdout), completionCommand(root, stdout), describeCommand(root, stdout))
	completeNames(root, environ)
	root.InitDefaultHelpCmd()
	help, _, _ := root.Find([]string{"help"})
	help.Args = func(_ *cobra.Command, args []string) error { // cobra would show the general help for an unknown verb
		about, rest, err := root.Find(args)
		return cmp.Or(err, noArgs(about, rest))
	}
	return root
}

// changes are the verbs that the running bot carries out; one only looks.
func changes() []served {
	return []served{starting.served(), prompting.served(), ending.served(), resuming.served(), forgetting.served(), recovering.served(), figures.served()}
}

func runCommand(environ []string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{Use: "run", Short: "Run the bot (also what ccbot does without a verb)", Args: noArgs,
		Example: "  ccbot run\n  LOG_LEVEL=debug ccbot run",
		RunE:    func(cmd *cobra.Command, _ []string) error { return runBot(cmd.Context(), environ, changes(), stderr) }}
}
