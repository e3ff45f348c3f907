package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
)

// noArgs refuses arguments that the verb does not take.
func noArgs(cmd *cobra.Command, args []string) error {
	if len(args) > 0 {
		return exit.Usage(fmt.Errorf("unknown command or argument %q; see %s --help", args[0], cmd.CommandPath()))
	}
	return nil
}

// oneSession wants the name of one session.
func oneSession(verb string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return exit.Usage(fmt.Errorf("say which session: ccbot %s NAME|ID", verb))
		}
		return nil
	}
}

func oneFile(_ *cobra.Command, args []string) error {
	if len(args) > 1 {
		return exit.Usage(errors.New("one file at a time: ccbot send FILE [--caption TEXT]; quote a name with blanks"))
	}
	if len(args) == 0 || args[0] == "" {
		return exit.Usage(errors.New("say which file: ccbot send FILE [--caption TEXT]"))
	}
	return nil
}
