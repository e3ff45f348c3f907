package main

import (
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/host"
)

func (c *call) historyCommand() *cobra.Command {
	var most int
	cmd := &cobra.Command{Use: "history NAME|ID [WORD]", Short: "Print the conversation of a session, or find a word in it",
		Args: someArgs(1, 2, "which session", "; quote several words"),
		Long: `Print the last prompts, answers and summaries of a session, open or ended; with WORD the last
places that contain the word, in any case. The oldest is the first. It is read-only.`,
		Example: "  ccbot history api -n 5\n  ccbot history api 'rate limit'",
		RunE: func(cmd *cobra.Command, args []string) error {
			if most < 1 {
				return exit.Usage(errors.New("--number is 1 or more"))
			}
			d, r, err := c.session(args[0], offline.AnySession)
			if err != nil {
				return err
			}
			said := host.Conversations{Agents: offline.Agents(d.Config), Records: d.Store}
			return d.Explain(r, paged(c, func(out io.Writer) error {
				if len(args) > 1 && strings.TrimSpace(args[1]) != "" {
					return show.Found(cmd.Context(), out, said, r.ID, strings.TrimSpace(args[1]), most, c.asJSON)
				}
				return show.Entries(cmd.Context(), out, said, r.ID, most, c.asJSON)
			}))
		}}
	cmd.Flags().IntVarP(&most, "number", "n", 10, "maximum number of entries")
	return cmd
}
