package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

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

// noArgs refuses what the verb does not take.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return usage(fmt.Errorf("unknown command or argument %q; see %s --help", args[0], cmd.CommandPath()))
	}
	return nil
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
