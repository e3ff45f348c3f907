package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
)

func (c *call) resumeCommand() *cobra.Command {
	return &cobra.Command{Use: "resume NAME|ID", Args: oneSession, Short: "Bring a session back, with its conversation",
		Long: `Bring a session back in its folder, with its conversation, its model and its pending messages. If a
choice is needed, as when another process writes the conversation, make it in the chat.`,
		Example: "  ccbot resume api",
		RunE: func(cmd *cobra.Command, args []string) error {
			_, r, err := c.record(args[0])
			if err != nil {
				return err
			}
			back, alone, err := running.Resuming.Make(cmd.Context(), c.environ, c.stderr, running.Resume{Session: r.ID})
			if err != nil {
				return err
			}
			later := ""
			if alone {
				later = ", once ccbot runs"
			}
			return c.show(back, func(p *terminal.Printer) {
				for _, ended := range back.Ended {
					p.Line("%s", terminal.Printable(ended))
				}
				p.Line("%s is back in %s; %s%s", terminal.Printable(back.Name), terminal.Printable(back.Dir), terminal.Printable(cmp.Or(back.Chat, running.ChosenByHand)), later)
				p.Line("in a terminal: %s", back.Attach)
			})
		}}
}
