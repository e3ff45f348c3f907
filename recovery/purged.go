package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// PurgedFor is how long a record that was removed because of its age can be brought back.
const PurgedFor = 7 * 24 * time.Hour

// ErrPresent is returned for a record that is still there and need not be brought back.
var ErrPresent = errors.New("the record is there")

// Purged is a record that was removed because of its age.
type Purged struct {
	Record session.Record
	Left   time.Time
}

// Purged returns the removed records that can be brought back, the latest first. agents are the
// names of the known coding agents. It changes nothing.
func (b Backups) Purged(agents []string) ([]Purged, error) {
	store, err := session.OpenReadOnly(b.purged().Path, b.Now, slog.New(slog.DiscardHandler), agents)
	if err != nil {
		return nil, fmt.Errorf("list purged records: %w", err)
	}
	var all []Purged
	for _, r := range store.Shared() {
		info, err := disk.Stat(filepath.Join(b.purged().Path, recordFile(r.ID)))
		if err == nil {
			r, err = store.Whole(r.ID)
		}
		switch {
		case errors.Is(err, fs.ErrNotExist): // it was removed since the folder was read
		case err != nil:
			return nil, fmt.Errorf("list purged records: %w", err)
		default:
			all = append(all, Purged{Record: r, Left: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b Purged) int { return b.Left.Compare(a.Left) })
	return all, nil
}

// Keep copies a record that is about to be removed because of its age, without what may repeat a
// prompt.
func (b Backups) Keep(id uuid.UUID) error {
	data, err := b.sessions().Read(recordFile(id))
	if err == nil {
		err = b.purged().Put(recordFile(id), session.WithoutPrompts(data))
	}
	if err != nil {
		return fmt.Errorf("keep the record of session %s: %w", id, err)
	}
	return nil
}

// upgradeCopy begins the name of a folder in the folder of backups.
const upgradeCopy = "format-"

// UpgradeCopy is the folder with the files of ccbot's folder that an upgrade from a version has
// changed, as they were before it.
func UpgradeCopy(dir string, version int) string {
	return filepath.Join(dir, "backups", upgradeCopy+strconv.Itoa(version))
}

// removeUpgradeCopies removes those that are at least as old.
func (b Backups) removeUpgradeCopies(age time.Duration) error {
	entries, err := disk.ReadDir(b.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(strings.TrimPrefix(e.Name(), "."), upgradeCopy) {
			continue
		}
		info, unseen := e.Info()
		if unseen != nil && age > 0 {
			err = errors.Join(err, unseen) // it may be younger
		} else if unseen != nil || b.Now().Sub(info.ModTime()) >= age {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(b.Dir, e.Name())))
		}
	}
	return err
}

// Expire removes the copies of records that were removed longer ago than PurgedFor, and the copies
// from before an upgrade as long ago. If the clock is earlier than the removal, the copies stay.
func (b Backups) Expire() error {
	if err := b.removeUpgradeCopies(PurgedFor); err != nil {
		return fmt.Errorf("remove copies from before an upgrade: %w", err)
	}
	names, err := recordFiles(b.purged().Path)
	if err != nil {
		return fmt.Errorf("remove purged records: %w", err)
	}
	for _, name := range names {
		info, err := disk.Lstat(filepath.Join(b.purged().Path, name))
		if err == nil && b.Now().Sub(info.ModTime()) >= PurgedFor {
			err = b.purged().Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove purged records: %w", err)
		}
	}
	return nil
}

// UnreadBackup is the error of a backup that cannot be read.
type UnreadBackup struct {
	Path string
	Err  error
}

func (e *UnreadBackup) Error() string { return fmt.Sprintf("read %s: %v", e.Path, e.Err) }

func (e *UnreadBackup) Unwrap() error { return e.Err }

// Erase removes a record from every backup and from the copies of removed records, and the copies
// from before an upgrade whole, because they have the session's words in many files. No backup may
// be made at the same time. Calling it again does nothing. A backup that cannot be read is an error,
// UnreadBackup: it may have the record.
func (b Backups) Erase(ctx context.Context, id uuid.UUID) error {
	list, err := b.named()
	err = errors.Join(err, b.clean(), b.purged().Remove(recordFile(id)), b.removeUpgradeCopies(math.MinInt64))
	for _, one := range list {
		if also := b.eraseFrom(ctx, one, recordFile(id)); also != nil {
			err = errors.Join(err, fmt.Errorf("backup %s: %w", one.Name, also))
		}
	}
	if err != nil {
		return fmt.Errorf("erase the copies of session %s: %w", id, err)
	}
	return nil
}

func (b Backups) eraseFrom(ctx context.Context, one Backup, name string) error {
	records, err := b.read(one)
	if err != nil {
		return &UnreadBackup{filepath.Join(b.Dir, one.Name+backupEnding), err}
	}
	if _, has := records[name]; !has {
		return nil
	}
	delete(records, name)
	return b.write(ctx, one.Name, records)
}

// BringBack makes a removed record one of the sessions again. The time until its removal starts
// again. The records must not be changed by others at the same time, and have to be opened again
// afterwards. ErrPresent means that the record is one of the sessions already; it stays as it is.
func (b Backups) BringBack(p Purged) error {
	name := recordFile(p.Record.ID)
	_, err := disk.Lstat(filepath.Join(b.Sessions, name))
	if err == nil {
		err = ErrPresent
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = b.Renew(p.Record, fmt.Sprintf("it had left on %s", p.Left.UTC().Format(time.DateOnly)))
	}
	if err == nil {
		err = b.purged().Remove(name)
	}
	if err != nil {
		return fmt.Errorf("bring session %s back: %w", p.Record.ID, err)
	}
	return nil
}

// Renew saves a record with a new line in its history; the time until its removal counts from now.
// The rest of BringBack's contract holds for Renew too.
func (b Backups) Renew(r session.Record, why string) error {
	r.ReturnedAt = b.Now().UTC()
	r.Note(r.ReturnedAt, session.BroughtBack, why)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return b.sessions().Put(recordFile(r.ID), append(data, '\n'))
}

func (b Backups) sessions() spool.Folder { return spool.Folder{Path: b.Sessions, Fsync: true} }

// purged is the folder with the copies of removed records. Its name cannot be a backup's name.
func (b Backups) purged() spool.Folder {
	return spool.Folder{Path: filepath.Join(b.Dir, "purged"), Fsync: true}
}

func recordFile(id uuid.UUID) string { return id.String() + recordEnding }
