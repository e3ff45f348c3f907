package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccbot/cmd/ccbot/terminal"
)

// described is a command with all that its man page says.
type described struct {
	Use      string          `json:"use"`
	Short    string          `json:"short"`
	Long     string          `json:"long"`
	Example  string          `json:"example"`
	Flags    []describedFlag `json:"flags"`
	Commands []described     `json:"commands"`
}

type describedFlag struct {
	Name, Shorthand, Usage, Default, Type string
}

// describeCommand prints all commands for the program that makes the man pages.
func (c *call) describeCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "describe-commands", Args: noArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error { return terminal.JSON(c.stdout, describedOf(root)) }}
}

func describedOf(cmd *cobra.Command) described {
	d := described{Use: cmd.Use, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		d.Flags = append(d.Flags, describedFlag{f.Name, f.Shorthand, f.Usage, f.DefValue, f.Value.Type()})
	})
	for _, one := range cmd.Commands() {
		if one.IsAvailableCommand() {
			d.Commands = append(d.Commands, describedOf(one))
		}
	}
	return d
}
