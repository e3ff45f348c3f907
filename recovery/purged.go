package recovery

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/google/uuid"

	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// PurgedFor is how long a record that has left by its age can be brought back.
const PurgedFor = 7 * 24 * time.Hour

// ErrPresent is returned for a record that need not be brought back.
var ErrPresent = errors.New("the record is there")

// Purged is a record that has left by its age.
type Purged struct {
	Record session.Record
	Left   time.Time
}

// Purged gives the records that have left and can be brought back, the latest first. It changes nothing.
func (b Backups) Purged() ([]Purged, error) {
	store, err := session.OpenReadOnly(b.purged().Path, b.Now, slog.New(slog.DiscardHandler))
	if err != nil {
		return nil, fmt.Errorf("list purged records: %w", err)
	}
	var all []Purged
	for _, r := range store.List() {
		info, err := os.Stat(filepath.Join(b.purged().Path, recordFile(r.ID)))
		switch {
		case errors.Is(err, fs.ErrNotExist): // since the folder was read
		case err != nil:
			return nil, fmt.Errorf("list purged records: %w", err)
		default:
			all = append(all, Purged{Record: r, Left: info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b Purged) int { return b.Left.Compare(a.Left) })
	return all, nil
}

// Keep copies a record that is about to leave by its age, byte for byte.
func (b Backups) Keep(id uuid.UUID) error {
	data, err := b.sessions().Read(recordFile(id))
	if err == nil {
		err = b.purged().Put(recordFile(id), data)
	}
	if err != nil {
		return fmt.Errorf("keep the record of session %s: %w", id, err)
	}
	return nil
}

// Expire removes the copies of records that left longer ago than PurgedFor. A clock that stands before that keeps them.
func (b Backups) Expire() error {
	names, err := recordFiles(b.purged().Path)
	if err != nil {
		return fmt.Errorf("remove purged records: %w", err)
	}
	for _, name := range names {
		info, err := os.Lstat(filepath.Join(b.purged().Path, name))
		if err == nil && b.Now().Sub(info.ModTime()) >= PurgedFor {
			err = b.purged().Remove(name)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove purged records: %w", err)
		}
	}
	return nil
}

// Erase removes a record from every backup and from those that have left. Nobody may make a backup meanwhile. Once more
// it is nothing. A backup that cannot be read is an error: it may have the record.
func (b Backups) Erase(ctx context.Context, id uuid.UUID) error {
	list, err := b.named()
	err = errors.Join(err, b.clean(), b.purged().Remove(recordFile(id)))
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
	if one.folder {
		return spool.Folder{Path: filepath.Join(b.Dir, one.Name), Fsync: true}.Remove(name)
	}
	records, err := b.read(one)
	if _, has := records[name]; err != nil || !has {
		return err
	}
	delete(records, name)
	return b.write(ctx, one.Name, records)
}

// BringBack makes a record that has left one of the sessions again. Its time to leave starts anew. Nobody may change the
// records meanwhile, and after it they have to be opened anew. ErrPresent: it is among them already, and stays as it is.
func (b Backups) BringBack(p Purged) error {
	name := recordFile(p.Record.ID)
	_, err := os.Lstat(filepath.Join(b.Sessions, name))
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

// Renew saves a record with a line in its history, from which its time to leave counts. The rest of BringBack's contract
// holds for it, too.
func (b Backups) Renew(r session.Record, why string) error {
	r.Note(b.Now(), session.BroughtBack, why)
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return b.sessions().Put(recordFile(r.ID), append(data, '\n'))
}

func (b Backups) sessions() spool.Folder { return spool.Folder{Path: b.Sessions, Fsync: true} }

// purged is the folder of the records that have left. Its name is none of a backup.
func (b Backups) purged() spool.Folder {
	return spool.Folder{Path: filepath.Join(b.Dir, "purged"), Fsync: true}
}

func recordFile(id uuid.UUID) string { return id.String() + recordEnding }
