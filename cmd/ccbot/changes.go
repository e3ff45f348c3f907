package main

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/show"
	"ccbot/port/refusal"
)

func (c *call) changesCommand() *cobra.Command {
	return &cobra.Command{Use: "changes NAME|ID [FILE]", Short: "Print the changes in a session's folder",
		Args: someArgs(1, 2, "which session", ""),
		Long: `Print files of a session's folder that have changed in git since the session's start, or, if that
is not known, since the last commit; with FILE, a path of that list, its hunks. Files outside the
session's folder are only counted. The content of a link, or of a file with a second name, is not
printed. It runs git, and changes nothing.`,
		Example: "  ccbot changes api\n  ccbot changes api cmd/main.go",
		RunE: func(cmd *cobra.Command, args []string) error {
			d, r, err := c.session(args[0], offline.AnySession)
			if err != nil {
				return err
			}
			if err := d.Config.CheckRoots(); err != nil {
				return exit.Usage(err)
			}
			// ccbot's own folder is the running bot's
			work, err := os.MkdirTemp("", "ccbot-changes-")
			if err != nil {
				return err
			}
			defer os.RemoveAll(work)
			changed := offline.Diffs(d.Config, d.Store, c.environ, work)
			err = paged(c, func(out io.Writer) error {
				if len(args) == 1 {
					return show.Changed(cmd.Context(), out, changed, r.ID, c.asJSON)
				}
				return show.Hunks(cmd.Context(), out, changed, r.ID, args[1], c.asJSON)
			})
			if refusal.Is(err, refusal.Unchanged) {
				return fmt.Errorf("%s is not among the changes: `ccbot changes %s` lists them", args[1], r.Name)
			}
			return d.Explain(r, err)
		}}
}
