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

	"github.com/spf13/cobra"

	"ccbot/internal/demoagent"
)

func main() {
	if demoagent.Called(os.Args[0]) {
		os.Exit(demoagent.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout))
	}
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run is the program without the process: arguments and environment in, exit
// code out.
func run(args, environ []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	root := commands(environ, stdout, stderr)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "ccbot:", err)
	return exitCode(err)
}

// Exit codes. Service units do not restart after 2 and 3.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2 // wrong usage or configuration: trying again cannot help
	exitRunning = 3 // a live ccbot holds the lock
)

// usageError is an error that only a change of usage or configuration mends.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

func usage(err error) error { return usageError{err} }

func exitCode(err error) int {
	var wrong usageError
	switch {
	case errors.Is(err, errRunning):
		return exitRunning
	case errors.As(err, &wrong):
		return exitUsage
	}
	return exitFailure
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
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usage(err) })
	root.CompletionOptions.DisableDefaultCmd = true
	root.AddCommand(runCommand(environ, stderr), tryCommand(environ, stdout, stderr), hooksCommand(environ, stdout),
		sendCommand(environ, stdout), listCommand(environ, stdout, stderr), whyCommand(environ, stdout, stderr),
		resumeCommand(environ, stdout, stderr), recoverCommand(environ, stdout, stderr), versionCommand(stdout))
	return root
}

// noArgs refuses what the verb does not take.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("unknown command or argument %q; see %s --help", args[0], cmd.CommandPath()))
	}
	return nil
}

func runCommand(environ []string, stderr io.Writer) *cobra.Command {
	return &cobra.Command{Use: "run", Short: "Run the bot (also what ccbot does without a verb)", Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runBot(cmd.Context(), environ, stderr) }}
}

// self is the program's own file; its hook binary lies beside it.
func self() (string, error) {
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("find my own program file: %w", err)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", fmt.Errorf("find my own program file: %w", err)
	}
	return real, nil
}
