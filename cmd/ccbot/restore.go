package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"ccbot/archive"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/engine"
	"ccbot/cmd/ccbot/offline"
	"ccbot/cmd/ccbot/running"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
	"ccbot/internal/each"
	"ccbot/internal/naming"
	"ccbot/internal/session"
	"ccbot/recovery"
)

// restore brings back the records of a backup, or one record that was removed because of its age. A
// running bot has the records in use, so this takes the lock.
func (c *call) restore(ctx context.Context, name string) error {
	settings, err := config.LoadForReading(c.environ)
	if err != nil {
		return err
	}
	backups := offline.Backups(settings.Dir)
	backups.Failpoint = engine.Failpoint(c.environ)
	list, err := backups.List()
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	purged, err := backups.Purged(offline.AgentNames(settings))
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	switch nothing := len(list) == 0 && len(purged) == 0; {
	case nothing && name == "list":
		_, err := fmt.Fprintf(c.stdout, "there is no backup in %s yet: each recovery that changes something makes one\n", backups.Dir)
		return err
	case nothing:
		return fmt.Errorf("there is no backup in %s", backups.Dir)
	case name == "list":
		return listCopies(c, list, purged)
	}
	held, err := running.Lock(ctx, settings, c.environ, c.stderr)
	if err != nil {
		return err
	}
	defer held.Close()
	wanted, err := recovery.Chosen(list, name)
	switch {
	case err != nil:
		left, also := findPurged(purged, name)
		if also != nil {
			return fmt.Errorf("%q is not a backup, or is the beginning of several; there are:\n%s%s", name, backupLines(list), purgedLines(purged))
		}
		return restorePurged(settings, left, c.stdout)
	case wanted.Records == 0 && wanted.Broken == nil: // all sessions would be gone
		return fmt.Errorf("backup %s has no record in it; nothing was changed. There are:\n%s%s", wanted.Name, backupLines(list), purgedLines(purged))
	}
	done, err := backups.Restore(ctx, wanted.Name)
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	store, err := renew(settings, wanted)
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	_, err = fmt.Fprintln(c.stdout, restoredText(wanted, done, store.Unloaded()))
	return err
}

func listCopies(c *call, list []recovery.Backup, purged []recovery.Purged) error {
	return paged(c, func(out io.Writer) error {
		_, err := fmt.Fprintln(out, strings.TrimPrefix(backupLines(list)+purgedLines(purged), "\n"))
		return err
	})
}

// restorePurged brings back one record that was removed because of its age.
func restorePurged(c config.Config, left recovery.Purged, stdout io.Writer) error {
	if err := offline.Backups(c.Dir).BringBack(left); err != nil {
		return statefolder.Error(c.Dir, err)
	}
	again := "it stays, because ARCHIVE_PURGE_AFTER is 0"
	if c.PurgeAfter > 0 {
		again = fmt.Sprintf("it is forgotten again after ARCHIVE_PURGE_AFTER (%s) from now", terminal.Age(c.PurgeAfter))
	}
	_, err := fmt.Fprintf(stdout, "%s is back, %s; %s\n", terminal.Printable(left.Record.Name), left.Record.State, again)
	return err
}

// renew opens the records of a backup that was restored, and restarts the age of those records that
// the next start would remove again.
func renew(c config.Config, b recovery.Backup) (*session.Store, error) {
	d, err := offline.Of(c, nil, io.Discard)
	if err != nil {
		return nil, err
	}
	for _, aged := range archive.Expired(time.Now(), c.PurgeAfter, d.Store.List()) {
		r, err := d.Store.Whole(aged.ID)
		if err == nil {
			err = offline.Backups(c.Dir).Renew(r, "it came back with backup "+b.Name)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.Store, nil
}

// restoredText lists the records that came back and those that did not. aside are the records that
// were unreadable afterwards.
func restoredText(wanted recovery.Backup, done recovery.Restored, aside []session.Unloaded) string {
	lines := []string{fmt.Sprintf("restored: %s of backup %s; the earlier records are in backup %s (%s)",
		terminal.Several(wanted.Records, "record"), wanted.Name, done.Before.Name, terminal.Several(done.Before.Records, "record"))}
	if done.Removed > 0 {
		lines = append(lines, fmt.Sprintf("not in it: %s of what was there; backup %s has that", terminal.Several(done.Removed, "record"), done.Before.Name))
	}
	aside = slices.DeleteFunc(aside, func(a session.Unloaded) bool { return !slices.Contains(done.Names, a.File) })
	if len(aside) > 0 {
		lines = append(lines, fmt.Sprintf("not readable by this ccbot: %d of the restored", len(aside)))
	}
	return strings.Join(append(lines, "next: `ccbot recover --dry-run` shows what a start will make of them, then start ccbot"), "\n")
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

func recordsOf(all []recovery.Purged) []session.Record {
	return each.As(all, func(p recovery.Purged) session.Record { return p.Record })
}

// findPurged finds a session among those whose records were removed because of their age.
func findPurged(all []recovery.Purged, what string) (recovery.Purged, error) {
	r, err := offline.Matches(recordsOf(all), what)
	if err != nil {
		return recovery.Purged{}, err
	}
	return all[slices.IndexFunc(all, func(p recovery.Purged) bool { return p.Record.ID == r.ID })], nil
}
