package main

import (
	"errors"

	"github.com/spf13/cobra"

	"ccbot/bot/sessions"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/i18n"
	"ccbot/port"
)

// errNotClean is for scripts; the receipt lists what is left.
var errNotClean = errors.New("not everything of the session is proven to have ended")

// endCommand is a verb that ends a session: archive, or done.
func (c *call) endCommand(verb, short string, final port.State, question i18n.Key) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{Use: verb + " NAME|ID", Args: oneSession, Short: short,
		Long: short + `. Its agent is ended, and the processes
that it leaves if it must be killed, each with proof; what was done is printed. The conversation
stays with the agent, with Claude Code for 30 days by default: "ccbot resume" continues it. It asks
first, unless --yes is given.`,
		Example: "  ccbot " + verb + " api\n  ccbot " + verb + " --yes api",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, r, err := c.session(args[0], sessions.Endable)
			if err == nil && !yes {
				err = c.confirm(cmd, offline.InTerminal(d.Words().Text(question, i18n.Args{"Name": r.Name}).Text))
			}
			if err != nil {
				return err
			}
			did, _, err := running.Ending.Make(cmd.Context(), c.environ, c.stderr, sessions.End{Session: r.ID, Launch: r.StartedAt, Final: final})
			if err != nil {
				return err
			}
			err = c.show(did, func(p *terminal.Printer) { p.Line("%s", terminal.Text(did.Receipt)) })
			if err == nil && did.State == port.StateCleanupFailed {
				err = errNotClean
			}
			return err
		}}
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	return cmd
}
