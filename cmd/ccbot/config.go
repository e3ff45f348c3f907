package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/terminal"
)

func (c *call) configCommand() *cobra.Command {
	return &cobra.Command{Use: "config", Args: noArgs, Short: "Print the settings, and where each comes from",
		Long: `Print the settings, and the source of each: the default, ccbot.env or the environment. The
bot's token is never printed. A running bot has the settings of its own environment.`,
		Example: "  ccbot config\n  ccbot config --json | jq -r '.[] | select(.source != \"default\").name'",
		RunE: func(*cobra.Command, []string) error {
			all, err := config.Settings(c.environ)
			if err != nil {
				return err
			}
			return c.show(all, func(p *terminal.Printer) {
				place := ""
				for _, s := range all {
					p.Line("%-26s %-12s %s", s.Name, s.Source, terminal.Printable(cmp.Or(s.Value, "-")))
					place = cmp.Or(place, s.Place)
				}
				if place != "" {
					p.Line("the file: %s", terminal.Printable(place))
				}
			})
		}}
}
