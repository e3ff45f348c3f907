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

// restore brings back the records of the backup that was made at a time. A running bot has the
// records in use, so this takes the lock.
func (c *call) restore(ctx context.Context, at string) error {
	settings, err := c.restorable()
	if err != nil {
		return err
	}
	backups := offline.Backups(settings.Dir)
	backups.Failpoint = engine.Failpoint(c.environ)
	list, err := backups.List()
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	wanted, err := recovery.Chosen(list, at)
	switch {
	case len(list) == 0:
		return fmt.Errorf("there is no backup in %s yet: each recovery that changes something makes one", backups.Dir)
	case err != nil:
		return fmt.Errorf("%q is not a backup, or is the beginning of several; there are:\n%s", at, backupLines(list))
	case wanted.Records == 0 && wanted.Broken == nil: // all sessions would be gone
		return fmt.Errorf("backup %s has no record in it; nothing was changed. There are:\n%s", wanted.Name, backupLines(list))
	}
	held, err := running.Lock(ctx, settings, c.environ, c.stderr)
	if err != nil {
		return err
	}
	defer held.Close()
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

// restorable reads the settings, and returns an error if the folder has another version, because this
// ccbot would not understand its copies and say that there are none.
func (c *call) restorable() (config.Config, error) {
	settings, err := config.LoadForReading(c.environ)
	if err == nil {
		err = statefolder.CheckFormat(settings.Dir)
	}
	return settings, err
}

// restorePurged brings back one record that was removed because of its age.
func (c *call) restorePurged(ctx context.Context, what string) error {
	settings, err := c.restorable()
	if err != nil {
		return err
	}
	backups := offline.Backups(settings.Dir)
	all, err := backups.Purged(offline.AgentNames(settings))
	if err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	wanted, err := findPurged(all, what)
	switch {
	case len(all) == 0:
		return errors.New("no session was forgotten because of its age within the last week")
	case err != nil:
		return fmt.Errorf("%q is not one of the sessions that were forgotten because of their age within the last week, or may be several; these were:\n%s",
			what, purgedLines(all))
	}
	held, err := running.Lock(ctx, settings, c.environ, c.stderr)
	if err != nil {
		return err
	}
	defer held.Close()
	if err := backups.BringBack(wanted); err != nil {
		return statefolder.Error(settings.Dir, err)
	}
	again := "it stays, because ARCHIVE_PURGE_AFTER is 0"
	if settings.PurgeAfter > 0 {
		again = fmt.Sprintf("it is forgotten again after ARCHIVE_PURGE_AFTER (%s) from now", terminal.Age(settings.PurgeAfter))
	}
	_, err = fmt.Fprintf(c.stdout, "%s is back, %s; %s\n", terminal.Printable(wanted.Record.Name), wanted.Record.State, again)
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

// purgedLines lists the records that were removed because of their age, the latest first.
func purgedLines(all []recovery.Purged) string {
	var lines []string
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

// findPurged finds a session among those whose records were removed because of their age.
func findPurged(all []recovery.Purged, what string) (recovery.Purged, error) {
	r, err := offline.Matches(each.As(all, func(p recovery.Purged) session.Record { return p.Record }), what)
	if err != nil {
		return recovery.Purged{}, err
	}
	return all[slices.IndexFunc(all, func(p recovery.Purged) bool { return p.Record.ID == r.ID })], nil
}
