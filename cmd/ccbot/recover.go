package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/terminal"
)

func (c *call) recoverCommand() *cobra.Command {
	var dry bool
	var back, purged string
	cmd := &cobra.Command{Use: "recover", Args: noArgs, Short: "Reconcile the records with the processes, as every start does; --dry-run: only print the plan",
		Long: `Compare the records with tmux and the processes, and make them agree, as every start of the bot
does; then forget the sessions that ended long ago (ARCHIVE_PURGE_AFTER). If a bot runs,
this command asks it to do that.

--dry-run prints the plan: each action with its session, evidence and reason, and the records
that are due to be forgotten. It is read-only: it needs no token and takes no lock. While
a bot runs it prints what the bot would do; the bot keeps its sessions.

--restore TIME brings the records back as they were before a recovery that changed something, but
without words of prompts. TIME is the name of a copy in backups/, or its beginning.
--restore-purged ID brings back a session that was forgotten because of its age within the last
week, by its id or name. With a TIME or an ID that is not there, the command lists what is. The bot
must not run.`,
		Example: "  ccbot recover --dry-run\n  ccbot recover --restore 2026-01-31",
		RunE: func(cmd *cobra.Command, _ []string) error {
			restore, one := cmd.Flags().Changed("restore"), cmd.Flags().Changed("restore-purged")
			switch {
			case restore && one || (restore || one) && (dry || c.asJSON):
				return exit.Usage(errors.New("--restore and --restore-purged go with no other flag"))
			case restore:
				return c.restore(cmd.Context(), back)
			case one:
				return c.restorePurged(cmd.Context(), purged)
			case dry:
				return c.dryRun(cmd.Context())
			}
			did, _, err := running.Recovering.Make(cmd.Context(), c.environ, c.stderr, struct{}{})
			if err == nil {
				err = c.show(did, did.Print)
			}
			if n := did.Failed(); err == nil && n > 0 {
				err = fmt.Errorf("%s failed; what could not be done stays as it is, and the next start tries again", terminal.Several(n, "action"))
			}
			return err
		}}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "change nothing, only print the plan")
	cmd.Flags().StringVar(&back, "restore", "", "restore the records as they were at `TIME`")
	cmd.Flags().StringVar(&purged, "restore-purged", "", "restore the session `ID`, which was forgotten because of its age")
	return cmd
}
