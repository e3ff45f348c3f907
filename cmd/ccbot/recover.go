package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/show"
	"ccbot/cmd/ccbot/terminal"
)

// recoverOptions are the flags of `ccbot recover`.
type recoverOptions struct {
	dryRun  bool
	asJSON  bool
	restore string
}

func recoverCommand(environ []string, stdout, stderr io.Writer) *cobra.Command {
	var o recoverOptions
	cmd := &cobra.Command{Use: "recover", Args: noArgs, Short: "Make the records right, as every start does; --dry-run: only say what that would be",
		Long: `Compare the records with tmux and the processes, and make right what is not, as every
start of the bot does; then forget the sessions that ended long ago (ARCHIVE_PURGE_AFTER).
While the bot runs it does that itself, and this command asks it to.

--dry-run prints what would be done, to which session, on what evidence and why, and
what is due to be forgotten. It reads only: it needs no token, takes no lock and starts
nothing. Beside a bot it says what the bot would do; what that one holds is kept.

--restore TIME brings the records back as they were before a recovery that changed
something; TIME is the name of a copy or its beginning. --restore NAME brings back a
session that was forgotten for its age within the last week, by its name or id. The bot
must not run. --restore list says what there is.`,
		Example: "  ccbot recover --dry-run\n  ccbot recover --restore list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			restore := cmd.Flags().Changed("restore")
			switch {
			case restore && (o.dryRun || o.asJSON):
				return exit.Usage(errors.New("--restore goes with no other flag"))
			case restore:
				return restoreBackup(cmd.Context(), environ, o.restore, stdout, stderr)
			case o.dryRun:
				return dryRun(cmd.Context(), environ, o.asJSON, stdout, stderr)
			}
			return recoverNow(cmd.Context(), environ, o.asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "change nothing, only say what would be done")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&o.restore, "restore", "", "bring back the records of the backup of that `TIME`, or one session by its name")
	return cmd
}

// recovering recovers where a bot runs: without one that was done before.
var recovering = change[struct{}, show.Account]{verb: "recover", do: func(ctx context.Context, s *system, _ struct{}) (show.Account, error) {
	if s.recoveredFor == nil {
		return s.recoverAgain(ctx)
	}
	did := show.AccountOf(*s.recoveredFor, s.nameOf)
	did.Purge = s.purge(ctx)
	return did, nil
}}

func recoverNow(ctx context.Context, environ []string, asJSON bool, stdout, stderr io.Writer) error {
	did, _, err := recovering.make(ctx, environ, stderr, struct{}{})
	if err != nil {
		return err
	}
	if err := did.Show(asJSON, stdout); err != nil {
		return err
	}
	if n := did.Failed(); n > 0 {
		return fmt.Errorf("%s failed; what could not be done stays as it is, and the next start tries again", terminal.Several(n, "action"))
	}
	return nil
}
