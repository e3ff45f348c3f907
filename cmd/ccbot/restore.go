package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ccbot/archive"
	"ccbot/internal/naming"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// restoreBackup brings back the records of a backup, or one that has left by its age.
// The bot has them in use while it runs, so this takes the lock.
func restoreBackup(ctx context.Context, environ []string, name string, stdout, stderr io.Writer) error {
	c, err := loadForReading(environ)
	if err != nil {
		return err
	}
	backups := c.backups()
	backups.Failpoint = failpoint(environ)
	list, err := backups.List()
	if err != nil {
		return stateError(c.Dir, err)
	}
	purged, err := backups.Purged()
	if err != nil {
		return stateError(c.Dir, err)
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
	let, err := c.lockRecords(ctx, environ, stderr)
	if err != nil {
		return err
	}
	defer let()
	wanted, err := chosen(list, name)
	if err != nil {
		left, also := findPurged(purged, name)
		if also != nil {
			return fmt.Errorf("%w%s", err, purgedLines(purged))
		}
		return c.restorePurged(left, stdout)
	}
	before, err := backups.Restore(ctx, wanted.Name)
	if err != nil {
		return stateError(c.Dir, err)
	}
	if err := c.renew(wanted); err != nil {
		return stateError(c.Dir, err)
	}
	text, err := restoredText(backups, wanted, before)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(stdout, text)
	return err
}

// restorePurged brings one record back that has left by its age.
func (c config) restorePurged(left recovery.Purged, stdout io.Writer) error {
	if err := c.backups().BringBack(left); err != nil {
		return stateError(c.Dir, err)
	}
	_, err := fmt.Fprintf(stdout, "%s is back, %s; it is forgotten again after ARCHIVE_PURGE_AFTER (%s) from now\n",
		printable(left.Record.Name), left.Record.State, age(c.durations().PurgeAfter))
	return err
}

// renew has the time begin anew of records of a backup that the next start would forget again.
func (c config) renew(b recovery.Backup) error {
	store, err := openRecords(c.Dir, io.Discard)
	if err != nil {
		return err
	}
	for _, aged := range archive.Expired(time.Now(), c.durations().PurgeAfter, store.List()) {
		r, _ := store.Get(aged.ID)
		if err := c.backups().Renew(r, "it came back with backup "+b.Name); err != nil {
			return err
		}
	}
	return nil
}

// chosen is the one backup that has the name, or begins with it. One without a
// record is none that a person can mean: all sessions would be gone.
func chosen(list []recovery.Backup, name string) (recovery.Backup, error) {
	var found []recovery.Backup
	for _, b := range list {
		if name != "" && strings.HasPrefix(b.Name, name) {
			found = append(found, b)
		}
	}
	switch {
	case len(found) != 1:
		return recovery.Backup{}, fmt.Errorf("%q is no backup, or the beginning of several; there are:\n%s", name, backupLines(list))
	case found[0].Records == 0:
		return recovery.Backup{}, fmt.Errorf("backup %s has no record in it; nothing was changed. There are:\n%s", found[0].Name, backupLines(list))
	}
	return found[0], nil
}

// restoredText says what came back and what did not.
func restoredText(backups recovery.Backups, wanted, before recovery.Backup) (string, error) {
	dir := filepath.Join(backups.Dir, wanted.Name)
	lost, err := lacking(dir, filepath.Join(backups.Dir, before.Name))
	if err != nil {
		return "", err
	}
	store, err := session.OpenReadOnly(dir, time.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return "", err
	}
	lines := []string{fmt.Sprintf("restored: %s of backup %s; what was there before is in backup %s (%s)",
		several(wanted.Records, "record"), wanted.Name, before.Name, several(before.Records, "record"))}
	if lost > 0 {
		lines = append(lines, fmt.Sprintf("not in it: %s of what was there; backup %s has that", several(lost, "record"), before.Name))
	}
	if n := len(store.Aside()); n > 0 {
		lines = append(lines, fmt.Sprintf("not readable by this ccbot: %d of the restored", n))
	}
	return strings.Join(append(lines, "next: `ccbot recover --dry-run` shows what a start will make of them, then start ccbot"), "\n"), nil
}

// lacking counts the records of a backup that another one does not have.
func lacking(in, of string) (n int, err error) {
	records, err := filepath.Glob(filepath.Join(of, "*.json"))
	if err != nil {
		return 0, err
	}
	for _, record := range records {
		_, err := os.Lstat(filepath.Join(in, filepath.Base(record)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			n++
		case err != nil:
			return 0, err
		}
	}
	return n, nil
}

// lockRecords takes the lock where no bot runs and no agent asks.
func (c config) lockRecords(ctx context.Context, environ []string, stderr io.Writer) (let func(), err error) {
	if err := ownFolder(c.Dir, quietLog(c, stderr)); err != nil {
		return nil, fmt.Errorf("CCBOT_DIR: %w", stateError(c.Dir, err))
	}
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
	_, sources, err := c.look(ctx, environ, store, table, quietLog(c, stderr))
	if err != nil {
		return err
	}
	return refuseAgents(ctx, sources)
}

// purgedLines lists the records that have left by their age, the latest first, below the backups.
func purgedLines(all []recovery.Purged) string {
	if len(all) == 0 {
		return ""
	}
	lines := []string{"\nsessions that were forgotten for their age, each for a week:"}
	for _, p := range all {
		lines = append(lines, fmt.Sprintf("  %s  %s  forgotten %s ago, in %s", printable(p.Record.Name), naming.ShortID(p.Record.ID),
			age(time.Since(p.Left)), printable(p.Record.Dir)))
	}
	return strings.Join(lines, "\n")
}

// backupLines lists the backups there are, the newest first.
func backupLines(list []recovery.Backup) string {
	var lines []string
	for _, b := range list {
		lines = append(lines, fmt.Sprintf("  %s  %s ago, %s", b.Name, age(time.Since(b.At)), several(b.Records, "record")))
	}
	return strings.Join(lines, "\n")
}
