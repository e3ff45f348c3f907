package recovery

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ccbot/internal/spool"
)

// ErrNoBackup is returned for a name that is not that of one backup, nor the
// beginning of just one.
var ErrNoBackup = errors.New("there is no such backup")

const (
	backupsKept    = 10
	backupName     = "2006-01-02T15-04-05.000Z" // sorts by time, and no file system minds it
	backupUnderWay = ".tmp-"                    // begins what is not a backup yet, or not any more
	backupFlushes  = 8                          // at once
	backupTick     = time.Millisecond           // between two backups of one moment
)

// Backups keeps copies of all session records, byte for byte, so that also what
// this program cannot read comes back as it was. A folder with a backup's name
// is whole: whatever a crash cuts short has another name and is removed by the
// next Make.
//
// Records may change while Make copies them, as they do beside a bot: each is
// copied whole, as it was at one moment, but not all at the same one. During a
// Restore nobody may change them, and after it they have to be opened anew.
type Backups struct {
	Dir      string // the backups, a folder each
	Sessions string // the records
	Now      func() time.Time
	// Failpoint is called at each persisted step with its name. It is nil but
	// in tests.
	Failpoint func(string)
}

// Backup is one of them.
type Backup struct {
	Name    string
	At      time.Time
	Records int
}

// Make copies the records as they are and removes all but the newest ten
// backups. A name together with an error is a good backup, beside which an older
// one could not be removed.
func (b Backups) Make(ctx context.Context) (name string, err error) {
	made, err := b.make(ctx, "")
	return made.Name, err
}

// List gives the backups, newest first, and changes nothing.
func (b Backups) List() ([]Backup, error) {
	entries, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	var list []Backup
	for _, e := range slices.Backward(entries) { // they come sorted by name
		at, err := time.Parse(backupName, e.Name())
		if err != nil || !e.IsDir() {
			continue
		}
		names, err := recordFiles(filepath.Join(b.Dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("list backups: %w", err)
		}
		list = append(list, Backup{Name: e.Name(), At: at, Records: len(names)})
	}
	return list, nil
}

// Restore brings the records of a backup back and removes those it does not
// have. What was there is in the backup that it returns, made just before. Cut
// short by a crash or an error, it leaves each record as it was or as it is to
// be, and doing it again finishes it. A name may be the beginning of one.
func (b Backups) Restore(ctx context.Context, name string) (Backup, error) {
	chosen, err := b.find(name)
	if err != nil {
		return Backup{}, err
	}
	wanted, err := readRecords(ctx, filepath.Join(b.Dir, chosen.Name))
	if err != nil {
		return Backup{}, fmt.Errorf("restore %s: %w", chosen.Name, err)
	}
	if lacking := chosen.Records - len(wanted); lacking > 0 {
		return Backup{}, fmt.Errorf("restore %s: %d of its records cannot be read", chosen.Name, lacking)
	}
	before, err := b.make(ctx, chosen.Name)
	if err != nil {
		return before, fmt.Errorf("restore %s: keep what is there: %w", chosen.Name, err)
	}
	if err := b.swap(ctx, wanted, before); err != nil {
		return before, fmt.Errorf("restore %s (what was there is in %s): %w", chosen.Name, before.Name, err)
	}
	return before, nil
}

// find is the one backup that has the name, or begins with it.
func (b Backups) find(name string) (Backup, error) {
	list, err := b.List()
	if err != nil {
		return Backup{}, err
	}
	list = slices.DeleteFunc(list, func(l Backup) bool { return !strings.HasPrefix(l.Name, name) })
	switch {
	case name == "" || len(list) == 0:
		return Backup{}, fmt.Errorf("backup %q: %w", name, ErrNoBackup)
	case len(list) > 1:
		return Backup{}, fmt.Errorf("backup %q: %w: %d begin so", name, ErrNoBackup, len(list))
	}
	return list[0], nil
}

// make keeps one backup from being removed, however old.
func (b Backups) make(ctx context.Context, keep string) (Backup, error) {
	if err := b.prepare(); err != nil {
		return Backup{}, fmt.Errorf("back up the sessions: %w", err)
	}
	made, err := b.copyAll(ctx)
	if err != nil {
		return Backup{}, fmt.Errorf("back up the sessions: %w", err)
	}
	b.at("backup-made")
	if err := b.prune(made.Name, keep); err != nil {
		return made, fmt.Errorf("remove old backups: %w", err)
	}
	return made, nil
}

// prepare makes the folder and removes what a crash left in it.
func (b Backups) prepare() error {
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(b.Dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), backupUnderWay) {
			continue
		}
		if err := os.RemoveAll(filepath.Join(b.Dir, e.Name())); err != nil {
			return err
		}
	}
	return flush(filepath.Dir(b.Dir)) // the folder's own name
}

func (b Backups) copyAll(ctx context.Context) (Backup, error) {
	records, err := readRecords(ctx, b.Sessions)
	if err != nil {
		return Backup{}, err
	}
	at, err := b.freeTime()
	if err != nil {
		return Backup{}, err
	}
	dir, err := os.MkdirTemp(b.Dir, backupUnderWay)
	if err != nil {
		return Backup{}, err
	}
	made := Backup{Name: at.Format(backupName), At: at, Records: len(records)}
	if err = b.fill(ctx, dir, records); err == nil {
		err = os.Rename(dir, filepath.Join(b.Dir, made.Name))
	}
	if err != nil {
		return Backup{}, errors.Join(err, os.RemoveAll(dir))
	}
	return made, flush(b.Dir)
}

// fill puts the records into a new backup. One that the backup before has with the
// same bytes is linked from there: no file of a backup is ever written again, and a
// thousand flushes would take a second, before anything is recovered.
func (b Backups) fill(ctx context.Context, dir string, records map[string][]byte) error {
	before, last := b.last(ctx)
	var written []string
	for _, name := range slices.Sorted(maps.Keys(records)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		same, ok := last[name]
		if !ok || !bytes.Equal(same, records[name]) || os.Link(filepath.Join(before, name), filepath.Join(dir, name)) != nil {
			if err := os.WriteFile(filepath.Join(dir, name), records[name], 0o600); err != nil {
				return err
			}
			written = append(written, name)
		}
		b.at("backup-file")
	}
	var all errgroup.Group
	all.SetLimit(backupFlushes)
	for _, name := range written {
		all.Go(func() error { return flush(filepath.Join(dir, name)) })
	}
	return errors.Join(all.Wait(), flush(dir))
}

// last is the newest backup, as far as it can be read.
func (b Backups) last(ctx context.Context) (dir string, records map[string][]byte) {
	list, err := b.List()
	if err != nil || len(list) == 0 {
		return "", nil
	}
	dir = filepath.Join(b.Dir, list[0].Name)
	records, _ = readRecords(ctx, dir) // what cannot be read is written anew
	return dir, records
}

// freeTime is now, or the next moment that no backup has.
func (b Backups) freeTime() (time.Time, error) {
	for at := b.Now().UTC().Truncate(backupTick); ; at = at.Add(backupTick) {
		_, err := os.Lstat(filepath.Join(b.Dir, at.Format(backupName)))
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return at, nil
		case err != nil:
			return time.Time{}, err
		}
	}
}

// prune removes all but the newest backups. One with a later time than the one
// just made is of a clock that was wrong, then or now, and goes first: in any
// case it is the older one. So the one just made is the last that would go.
func (b Backups) prune(made, keep string) error {
	list, err := b.List()
	if err != nil {
		return err
	}
	slices.Reverse(list)
	if later := slices.IndexFunc(list, func(l Backup) bool { return l.Name > made }); later > 0 {
		list = slices.Concat(list[later:], list[:later])
	}
	extra := len(list) - backupsKept
	for _, old := range list {
		if extra <= 0 {
			break
		}
		if old.Name == keep {
			continue
		}
		if err := b.remove(old.Name); err != nil {
			return err
		}
		extra--
	}
	return nil
}

// remove takes the name away first: half a backup must not look like one.
func (b Backups) remove(name string) error {
	dir := filepath.Join(b.Dir, backupUnderWay+name)
	if err := os.Rename(filepath.Join(b.Dir, name), dir); err != nil {
		return err
	}
	if err := flush(b.Dir); err != nil {
		return err
	}
	b.at("backup-removing")
	return os.RemoveAll(dir)
}

// swap writes what is wanted first and removes after that, so that no session is
// missing in between.
func (b Backups) swap(ctx context.Context, wanted map[string][]byte, before Backup) error {
	sessions := b.sessions()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := b.putBack(sessions, name, wanted[name]); err != nil {
			return err
		}
	}
	there, err := recordFiles(filepath.Join(b.Dir, before.Name))
	if err != nil {
		return err
	}
	for _, name := range there { // and nothing else: only these can be brought back
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := sessions.Remove(name); err != nil {
			return err
		}
		b.at("restore-file")
	}
	return nil
}

func (b Backups) putBack(sessions spool.Folder, name string, data []byte) error {
	present, err := sessions.Read(name)
	switch {
	case err == nil && bytes.Equal(present, data):
		return nil
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err // what cannot be read is in no backup
	}
	if err := sessions.Put(name, data); err != nil {
		return err
	}
	b.at("restore-file")
	return nil
}

func (b Backups) at(point string) {
	if b.Failpoint != nil {
		b.Failpoint(point)
	}
}

// recordFiles are the names of the records in a folder, a missing one has none.
func recordFiles(dir string) ([]string, error) {
	names, err := spool.Folder{Path: dir}.List()
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != ".json" }), err
}

// readRecords reads all of them. What is no regular file of this user, or larger
// than a record can be, is none; it is neither copied nor removed.
func readRecords(ctx context.Context, dir string) (map[string][]byte, error) {
	names, err := recordFiles(dir)
	if err != nil {
		return nil, err
	}
	records := make(map[string][]byte, len(names))
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		data, err := spool.Folder{Path: dir}.Read(name)
		switch {
		case errors.Is(err, spool.ErrForeign), errors.Is(err, spool.ErrTooBig), errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, err
		default:
			records[name] = data
		}
	}
	return records, nil
}

// flush puts a file, or the names in a folder, on the disk for good.
func flush(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
