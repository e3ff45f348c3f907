package main

import (
	"fmt"
	"io"
	"reflect"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/service"
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
	More     []section       `json:"more,omitempty"` // of the root: sections of all pages
}

// section is a section of a man page: names and their meanings.
type section struct {
	Title string      `json:"title"`
	Rows  [][2]string `json:"rows"`
}

// sections returns the sections that each man page has.
func sections() []section {
	environment := section{Title: "ENVIRONMENT"}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		if name := field.Tag.Get("env"); name != "" {
			environment.Rows = append(environment.Rows, [2]string{name, field.Tag.Get("doc") + terminal.Words(" (default: ", field.Tag.Get("envDefault"), ")")})
		}
	}
	environment.Rows = append(environment.Rows, [2]string{"PAGER", "shows a text that is longer than the terminal (default: less -FRX)"})
	return []section{{"EXIT STATUS", exit.Meanings}, {"FILES", [][2]string{
		{"$CCBOT_DIR, ~/.ccbot", "the folder of ccbot's own files: records of sessions, messages that wait, backups"},
		{"$CCBOT_DIR/ccbot.env", "settings, as KEY=value lines; the environment wins"},
		{"$CCBOT_DIR/ccbot.lock", "the lock of the running bot"},
		{"$CCBOT_DIR/ccbot.sock", "the socket of the running bot"},
		{"~/.claude", "Claude Code's own folder, with its transcripts; CLAUDE_CONFIG_DIR names another one"},
	}}, environment}
}

type describedFlag struct {
	Name, Shorthand, Usage, Default, Type string
}

// describeCommand prints all commands for the program that makes the man pages.
func (c *call) describeCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{Use: "describe-commands", Args: noArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error { return terminal.JSON(c.stdout, describedOf(root)) }}
}

// describeUnitCommand prints the systemd unit of a package.
func describeUnitCommand(stdout io.Writer) *cobra.Command {
	return &cobra.Command{Use: "describe-unit", Args: noArgs, Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(stdout, service.PackageUnit("/usr/bin/ccbot"))
			return err
		}}
}

func describedOf(cmd *cobra.Command) described {
	d := described{Use: cmd.Use, Short: cmd.Short, Long: cmd.Long, Example: cmd.Example}
	cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
		d.Flags = append(d.Flags, describedFlag{f.Name, f.Shorthand, f.Usage, f.DefValue, f.Value.Type()})
	})
	if !cmd.HasParent() {
		d.More = sections()
	}
	for _, one := range cmd.Commands() {
		if one.IsAvailableCommand() {
			d.Commands = append(d.Commands, describedOf(one))
		}
	}
	return d
}
