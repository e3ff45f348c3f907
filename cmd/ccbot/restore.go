package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ccbot/archive"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// restoreBackup brings back the records of a backup, or one record that was removed because of its
// age. A running bot has the records in use, so this takes the lock.
func restoreBackup(ctx context.Context, environ []string, name string, stdout, stderr io.Writer) error {
	c, err := config.LoadForReading(environ)
	if err != nil {
		return err
	}
	backups := backupsIn(c.Dir)
	backups.Failpoint = failpoint(environ)
	list, err := backups.List()
	if err != nil {
		return statefolder.Error(c.Dir, err)
	}
	purged, err := backups.Purged()
	if err != nil {
		return statefolder.Error(c.Dir, err)
	}
	switch nothing := len(list) == 0 && len(purged) == 0; {
	case nothing && name == "list":
		_, err := fmt.Fprintf(stdout, "there is no backup in %s yet: each recovery that changes something makes one\n", backups.Dir)
		return err
	case nothing:
		return fmt.Errorf("there is no backup in %s", backups.Dir)
	case name == "list":
		_, err := fmt.Fprintln(stdout, strings.TrimPrefix(backupLines(list)+purgedLines(purged), "\n"))
		return err
	}
	let, err := lockRecords(ctx, c, environ, stderr)
	if err != nil {
		return err
	}
	defer let()
	wanted, err := recovery.Chosen(list, name)
	switch {
	case err != nil:
		left, also := findPurged(purged, name)
		if also != nil {
			return fmt.Errorf("%q is no backup, or the beginning of several; there are:\n%s%s", name, backupLines(list), purgedLines(purged))
		}
		return restorePurged(c, left, stdout)
	case wanted.Records == 0 && wanted.Broken == nil: // such a backup is never what a person wants: all sessions would be gone
		return fmt.Errorf("backup %s has no record in it; nothing was changed. There are:\n%s%s", wanted.Name, backupLines(list), purgedLines(purged))
	}
	done, err := backups.Restore(ctx, wanted.Name)
	if err != nil {
		return statefolder.Error(c.Dir, err)
	}
	store, err := renew(c, wanted)
	if err != nil {
		return statefolder.Error(c.Dir, err)
	}
	_, err = fmt.Fprintln(stdout, restoredText(wanted, done, store.Aside()))
	return err
}

// restorePurged brings back one record that was removed because of its age.
func restorePurged(c config.Config, left recovery.Purged, stdout io.Writer) error {
	if err := backupsIn(c.Dir).BringBack(left); err != nil {
		return statefolder.Error(c.Dir, err)
	}
	_, err := fmt.Fprintf(stdout, "%s is back, %s; it is forgotten again after ARCHIVE_PURGE_AFTER (%s) from now\n",
		terminal.Printable(left.Record.Name), left.Record.State, terminal.Age(c.PurgeAfter))
	return err
}

// renew opens the records of a backup that was restored, and restarts the age of those records that
// the next start would remove again.
func renew(c config.Config, b recovery.Backup) (*session.Store, error) {
	store, err := openRecords(c.Dir, io.Discard)
	if err != nil {
		return nil, err
	}
	for _, aged := range archive.Expired(time.Now(), c.PurgeAfter, store.List()) {
		r, err := store.Whole(aged.ID)
		if err == nil {
			err = backupsIn(c.Dir).Renew(r, "it came back with backup "+b.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return store, nil
}

// restoredText says which records came back and which did not. aside are the records that could not
// be read afterwards.
func restoredText(wanted recovery.Backup, done recovery.Restored, aside []session.Aside) string {
	lines := []string{fmt.Sprintf("restored: %s of backup %s; what was there before is in backup %s (%s)",
		terminal.Several(wanted.Records, "record"), wanted.Name, done.Before.Name, terminal.Several(done.Before.Records, "record"))}
	if done.Removed > 0 {
		lines = append(lines, fmt.Sprintf("not in it: %s of what was there; backup %s has that", terminal.Several(done.Removed, "record"), done.Before.Name))
	}
	aside = slices.DeleteFunc(aside, func(a session.Aside) bool { return !slices.Contains(done.Names, a.File) })
	if len(aside) > 0 {
		lines = append(lines, fmt.Sprintf("not readable by this ccbot: %d of the restored", len(aside)))
	}
	return strings.Join(append(lines, "next: `ccbot recover --dry-run` shows what a start will make of them, then start ccbot"), "\n")
}

// lockRecords takes the lock if no bot runs and the caller is no agent.
func lockRecords(ctx context.Context, c config.Config, environ []string, stderr io.Writer) (let func(), err error) {
	table, held, err := statefolder.Take(ctx, c.Dir, "cli", c.KillGrace, quietLog(c, stderr))
	if errors.Is(err, exit.ErrRunning) {
		return nil, fmt.Errorf("ccbot has the records in use; stop it first: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err := refuseCaller(ctx, c, environ, table, stderr); err != nil {
		return nil, errors.Join(err, held.Close())
	}
	return func() { _ = held.Close() }, nil // the process ends too, and the lock with it
}

// refuseCaller refuses a caller that runs below an agent, without a bot.
func refuseCaller(ctx context.Context, c config.Config, environ []string, table *process.Table, stderr io.Writer) error {
	store, err := openRecords(c.Dir, io.Discard)
	if err != nil {
		return err
	}
	_, sources, err := look(ctx, c, environ, store, table, quietLog(c, stderr))
	if err != nil {
		return err
	}
	return refuseAgents(ctx, sources)
}

// purgedLines lists the records that were removed because of their age, the latest first, below the
// backups.
func purgedLines(all []recovery.Purged) string {
	if len(all) == 0 {
		return ""
	}
	lines := []string{"\nsessions that were forgotten for their age, each for a week:"}
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("  %s  %s  forgotten %s ago, in %s", terminal.Printable(p.Record.Name), naming.ShortID(p.Record.ID),
			terminal.Age(time.Since(p.Left)), terminal.Printable(p.Record.Dir)))
	}
	return strings.Join(lines, "\n")
}

// backupLines lists the backups there are, the newest first.
func backupLines(list []recovery.Backup) string {
	var lines []string
	for _, b := range list {
		holds := terminal.Several(b.Records, "record")
		if b.Broken != nil {
			holds = "cannot be restored: " + b.Broken.Error()
		}
		lines = append(lines, fmt.Sprintf("  %s  %s ago, %s", b.Name, terminal.Age(time.Since(b.At)), holds))
	}
	return strings.Join(lines, "\n")
}
