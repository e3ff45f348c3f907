package main

import (
	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/show"
)

func (c *call) whyCommand() *cobra.Command {
	return &cobra.Command{Use: "why NAME|ID", Args: oneSession, Short: "Show the history of a session, with rules and evidence",
		Long: `Show the history of a session, as far as it is kept: when, from which state to which, by which rule
and on what evidence, oldest first, and its live loop. It is read-only. Times are this machine's,
with --json UTC.`,
		Example: "  ccbot why api",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, r, err := c.record(args[0])
			if err != nil {
				return err
			}
			fate := show.FateOf(r)
			fate.Loop = liveLoop(d.Dir, r.ID)
			// otherwise the history alone is shown
			if _, sources, err := d.Inspect(cmd.Context()); err == nil {
				ignored, _ := sources.Ignored(cmd.Context(), r.AgentSessionID)
				fate.Ignore(ignored)
			}
			return c.show(fate, fate.Print)
		}}
}
