package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run is the program without the process: arguments and environment in, exit code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := commands(environ, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exit.OK
	}
	fmt.Fprintln(stderr, "ccbot:", err)
	return exit.Code(err)
}

func commands(environ []string, stdout, stderr io.Writer) *cobra.Command {
	root := &cobra.Command{
		Use:           "ccbot",
		Short:         "Run Claude Code sessions in tmux windows from a Telegram chat",
		Args:          noArgs,
		SilenceErrors: true,
		Version:       versionLine(),
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBot(cmd.Context(), environ, stderr)
		},
	}
	root.SetOut(stdout)
	root.SetErr(stderr)
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return exit.Usage(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(runCommand(environ, stderr), tryCommand(environ), hooksCommand(environ, stdout),
		sendCommand(environ, stdout), listCommand(environ, stdout, stderr), statusCommand(environ, stdout, stderr),
		whyCommand(environ, stdout, stderr), importCommand(environ, stdout, stderr), forgetCommand(environ, stdout, stderr), resumeCommand(environ, stdout, stderr), recoverCommand(environ, stdout, stderr), versionCommand(stdout))
	return root
}

func runCommand(environ []string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{Use: "run", Short: "Run the bot (also what ccbot does without a verb)", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBot(cmd.Context(), environ, stderr) }}
}
