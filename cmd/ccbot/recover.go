package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"ccbot/internal/process"
	"ccbot/recovery"
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
start of the bot does. While the bot runs it does that itself, and this command asks it to.

--dry-run prints what would be done, to which session, on what evidence and why, and
what is due to be forgotten. It reads only: it needs no token, takes no lock and starts
nothing. Beside a bot it says what the bot would do; what that one holds is kept.

--restore TIME brings the records back as they were before a recovery that changed
something. The bot must not run. TIME is the name of a copy or its beginning;
--restore list says which there are.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			restore := cmd.Flags().Changed("restore")
			switch {
			case restore && (o.dryRun || o.asJSON):
				return usage(errors.New("--restore goes with no other flag"))
			case restore:
				return restoreBackup(cmd.Context(), environ, o.restore, stdout, stderr)
			case o.dryRun:
				return dryRun(cmd.Context(), environ, o.asJSON, stdout, stderr)
			}
			return recoverNow(cmd.Context(), environ, o.asJSON, stdout, stderr)
		}}
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "change nothing, only say what would be done")
	cmd.Flags().BoolVar(&o.asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&o.restore, "restore", "", "bring back the records of the backup of that `TIME`")
	return cmd
}

func recoverNow(ctx context.Context, environ []string, asJSON bool, stdout, stderr io.Writer) error {
	var did account
	err := throughBot(ctx, environ, verbRecover, struct{}{}, &did, func(ctx context.Context, c config) error {
		return withoutBot(ctx, c, environ, stderr, func(_ context.Context, s *system, r recovery.Report) error {
			did = accountOf(r, s.nameOf)
			return nil
		})
	})
	if err != nil {
		return err
	}
	if err := did.show(asJSON, stdout); err != nil {
		return err
	}
	if n := did.failed(); n > 0 {
		return fmt.Errorf("%s failed; what could not be done stays as it is, and the next start tries again", several(n, "action"))
	}
	return nil
}

// restoreBackup brings back the records of a backup. The bot has them in use while
// it runs, so this takes the lock.
func restoreBackup(ctx context.Context, environ []string, name string, stdout, stderr io.Writer) error {
	c, err := loadForReading(environ)
	if err != nil {
		return err
	}
	list, err := c.backups().List()
	if err != nil {
		return stateError(c.Dir, err)
	}
	if len(list) == 0 {
		return fmt.Errorf("there is no backup in %s", c.backups().Dir)
	}
	if name == "list" {
		_, err := fmt.Fprintln(stdout, backupLines(list))
		return err
	}
	let, err := c.lockRecords(ctx, environ, stderr)
	if err != nil {
		return err
	}
	defer let()
	before, err := c.backups().Restore(ctx, name)
	if errors.Is(err, recovery.ErrNoBackup) {
		return fmt.Errorf("%q is no backup, or the beginning of several; there are:\n%s", name, backupLines(list))
	}
	if err != nil {
		return stateError(c.Dir, err)
	}
	_, err = fmt.Fprintf(stdout, "the records of backup %s are back; as they were before that they are in backup %s (%s)\n"+
		"next: `ccbot recover --dry-run` shows what a start will make of them, then start ccbot\n", name, before.Name, several(before.Records, "record"))
	return err
}

// lockRecords takes the lock where no bot runs and no agent asks.
func (c config) lockRecords(ctx context.Context, environ []string, stderr io.Writer) (let func(), err error) {
	table, err := process.NewTable()
	if err != nil {
		return nil, err
	}
	held, err := lock(ctx, c.Dir, "cli", table, c.durations().KillGrace+lockPatience)
	if errors.Is(err, errRunning) {
		h := readHolder(filepath.Join(c.Dir, lockFile))
		return nil, fmt.Errorf("ccbot runs as process %d and has the records in use; stop it first", h.agent.PID)
	}
	if err != nil {
		return nil, stateError(c.Dir, err)
	}
	if err := c.refuseAgents(ctx, environ, table, stderr); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return func() { _ = held.Close() }, nil // the process ends too, and the lock with it
}

// refuseAgents looks for them without a bot.
func (c config) refuseAgents(ctx context.Context, environ []string, table *process.Table, stderr io.Writer) error {
	store, err := openRecords(c.Dir, io.Discard)
	if err != nil {
		return err
	}
	looking, err := c.looking(ctx, environ, store, table, quietLog(c, stderr))
	if err != nil {
		return err
	}
	return refuseAgents(ctx, looking.Lifecycle, table)
}

// backupLines lists the backups there are, the newest first.
func backupLines(list []recovery.Backup) string {
	var lines []string
	for _, b := range list {
		lines = append(lines, fmt.Sprintf("  %s  %s ago, %s", b.Name, age(time.Since(b.At)), several(b.Records, "record")))
	}
	return strings.Join(lines, "\n")
}
