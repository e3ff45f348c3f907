package recovery

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"ccbot/internal/disk"
	"ccbot/internal/session"
	"ccbot/internal/spool"
)

// ErrNoBackup is returned for a name that is neither the name of one backup nor the beginning of
// exactly one.
var ErrNoBackup = errors.New("there is no such backup")

const (
	backupsKept  = 10
	backupName   = "2006-01-02T15-04-05.000Z" // sorts by time, and is valid on every file system
	backupEnding = ".tar.gz"
)

// Backups makes and restores copies of all session records. A copy has the record's bytes, so that
// a record which this program cannot read comes back unchanged too, but not the fields that may
// repeat a prompt: see session.WithoutPrompts. A backup is one file, whole or absent. A file that
// has a backup's name after a leading dot is a write under way: a crash may leave it, and the next
// Make removes it.
//
// Records may change while Make copies them, for example by a running bot: each record is copied
// whole, as it was at one moment, but not all records at the same moment. During a Restore no
// record may be changed by others, and after it the records have to be opened again.
type Backups struct {
	Dir      string // the backups
	Sessions string // the records
	Now      func() time.Time
	// Failpoint is called at each persisted step with its name. It is nil except in tests.
	Failpoint func(string)
}

// Backup describes one backup.
type Backup struct {
	Name    string // the file's name without its ending
	At      time.Time
	Records int
	Broken  error // why it cannot be restored; nil: it can
}

// Restored is the result of a Restore.
type Restored struct {
	Names   []string // the files of the records that the backup has
	Before  Backup   // the backup that Restore made first, of the records that were there
	Removed int      // records that were there and that the backup does not have
}

// Make copies the records as they are, and removes all backups but the newest ten. A name together
// with an error means that the new backup is good, but an older one could not be removed.
func (b Backups) Make(ctx context.Context) (name string, err error) {
	made, err := b.make(ctx, "")
	return made.Name, err
}

// List returns the backups, newest first, and changes nothing.
func (b Backups) List() ([]Backup, error) {
	list, err := b.named()
	slices.Reverse(list)
	for i, one := range list {
		records, broken := b.read(one)
		list[i].Records, list[i].Broken = len(records), broken
	}
	return list, err
}

// named returns the backups, oldest first, from their names alone.
func (b Backups) named() (list []Backup, err error) {
	entries, err := disk.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list backups: %w", err)
	}
	for _, e := range entries { // they come sorted by name
		name, ok := strings.CutSuffix(e.Name(), backupEnding)
		if at, err := time.Parse(backupName, name); ok && err == nil && e.Type().IsRegular() {
			list = append(list, Backup{Name: name, At: at})
		}
	}
	return list, nil
}

// Restore brings the records of a backup back, and removes the records that the backup does not
// have. The numbers of news continue. First it makes a backup of the records that are there. If a
// crash or an error interrupts it, each record is either as before or as in the backup, and calling
// Restore again finishes it. name may be the beginning of a backup's name, or its file name.
func (b Backups) Restore(ctx context.Context, name string) (done Restored, err error) {
	list, err := b.named()
	if err != nil {
		return done, err
	}
	chosen, err := Chosen(list, name)
	if err != nil {
		return done, err
	}
	wanted, err := b.read(chosen)
	if err != nil {
		return done, fmt.Errorf("restore %s: %w", chosen.Name, err)
	}
	done.Names = slices.Sorted(maps.Keys(wanted))
	if done.Before, err = b.make(ctx, chosen.Name); err != nil {
		return done, fmt.Errorf("restore %s: keep what is there: %w", chosen.Name, err)
	}
	if done.Removed, err = b.swap(ctx, wanted, done.Before); err != nil {
		return done, fmt.Errorf("restore %s (what was there is in %s): %w", chosen.Name, done.Before.Name, err)
	}
	return done, nil
}

// Chosen returns the one backup that has the name, or begins with it.
func Chosen(list []Backup, name string) (Backup, error) {
	name = strings.TrimSuffix(name, backupEnding)
	var found []Backup
	for _, one := range list {
		if name != "" && strings.HasPrefix(one.Name, name) {
			found = append(found, one)
		}
	}
	switch len(found) {
	case 0:
		return Backup{}, fmt.Errorf("backup %q: %w", name, ErrNoBackup)
	case 1:
		return found[0], nil
	}
	return Backup{}, fmt.Errorf("backup %q: %w: %d begin so", name, ErrNoBackup, len(found))
}

// make makes a backup and removes old ones, but never the backup that keep names.
func (b Backups) make(ctx context.Context, keep string) (Backup, error) {
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

func (b Backups) copyAll(ctx context.Context) (made Backup, err error) {
	if err := disk.MkdirAll(b.Dir, 0o700); err != nil {
		return made, err
	}
	parent := spool.Folder{Path: filepath.Dir(b.Dir)}
	if err := errors.Join(b.clean(), parent.Sync()); err != nil { // the folder's own name
		return made, err
	}
	records, err := readRecords(b.Sessions)
	if err != nil {
		return made, err
	}
	list, err := b.named()
	if err != nil {
		return made, err
	}
	made.At = b.Now().UTC().Truncate(time.Millisecond)
	for slices.ContainsFunc(list, func(one Backup) bool { return one.At.Equal(made.At) }) {
		made.At = made.At.Add(time.Millisecond)
	}
	made.Name, made.Records = made.At.Format(backupName), len(records)
	for name, record := range records {
		records[name] = session.WithoutPrompts(record)
	}
	return made, b.write(ctx, made.Name, records)
}

// clean removes what a crash has left of backups that were being written. Other hidden files are a
// person's.
func (b Backups) clean() error {
	entries, err := disk.ReadDir(b.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for _, e := range entries {
		if isLeftover(e.Name()) {
			err = errors.Join(err, disk.RemoveAll(filepath.Join(b.Dir, e.Name())))
		}
	}
	return errors.Join(err, b.purged().Tidy())
}

// isLeftover reports whether a name is a backup's, hidden: write works under such a name.
func isLeftover(name string) bool {
	name, hidden := strings.CutPrefix(name, ".")
	if !hidden || len(name) < len(backupName) {
		return false
	}
	_, err := time.Parse(backupName, name[:len(backupName)])
	return err == nil
}

// write makes a backup of the records, or replaces one.
func (b Backups) write(ctx context.Context, name string, records map[string][]byte) error {
	var packed bytes.Buffer
	if err := pack(&packed, records, func() error { b.at("backup-file"); return ctx.Err() }); err != nil {
		return err
	}
	if err := disk.Replace(filepath.Join(b.Dir, name+backupEnding), b.Dir, packed.Bytes(), 0o600); err != nil {
		return err
	}
	return b.folder().Sync() // renameio syncs the file, not its new name
}

// read returns all records of a backup, or an error.
func (b Backups) read(one Backup) (map[string][]byte, error) {
	data, err := b.folder().Read(one.Name + backupEnding)
	if err != nil {
		return nil, err
	}
	return unpack(data)
}

// prune removes all but the newest backups. A backup with a later time than the one that was just
// made was dated by a wrong clock, then or now. It is certainly older than the new one, so such
// backups go first, and the new one would go last.
func (b Backups) prune(made, keep string) error {
	list, err := b.named()
	if err != nil {
		return err
	}
	if later := slices.IndexFunc(list, func(one Backup) bool { return one.Name > made }); later > 0 {
		list = slices.Concat(list[later:], list[:later])
	}
	extra := max(0, len(list)-backupsKept)
	list = slices.DeleteFunc(list, func(one Backup) bool { return one.Name == keep })
	for _, old := range list[:extra] {
		if err := b.folder().Remove(old.Name + backupEnding); err != nil {
			return err
		}
	}
	return nil
}

// swap writes the wanted records first and removes the others afterwards, so that no session is
// missing in between.
func (b Backups) swap(ctx context.Context, wanted map[string][]byte, before Backup) (removed int, err error) {
	sessions := b.sessions()
	for _, name := range slices.Sorted(maps.Keys(wanted)) {
		present, err := sessions.Read(name)
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err == nil && bytes.Equal(present, wanted[name]):
			continue
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return 0, err // a record that cannot be read is in no backup, so it must not be overwritten
		}
		if err := sessions.Put(name, session.WithLaterNews(wanted[name], present)); err != nil {
			return 0, err
		}
		b.at("restore-file")
	}
	there, err := b.read(before)
	if err != nil {
		return 0, err
	}
	// Only these are removed, because only these can be brought back.
	for _, name := range slices.Sorted(maps.Keys(there)) {
		if _, ok := wanted[name]; ok {
			continue
		}
		if err := sessions.Remove(name); err != nil {
			return removed, err
		}
		removed++
		b.at("restore-file")
	}
	return removed, nil
}

func (b Backups) at(point string) {
	if b.Failpoint != nil {
		b.Failpoint(point)
	}
}

// recordFiles returns the names of the record files in a folder; a missing folder has none.
func recordFiles(dir string) ([]string, error) {
	names, err := spool.Folder{Path: dir}.List()
	return slices.DeleteFunc(names, func(name string) bool { return filepath.Ext(name) != recordEnding }), err
}

// readRecords reads all records of a folder. A file that is not a regular file of this user, or is
// larger than a record can be, is left out: it is neither copied nor removed.
func readRecords(dir string) (records map[string][]byte, err error) {
	names, err := recordFiles(dir)
	records = make(map[string][]byte, len(names))
	for _, name := range names {
		data, err := spool.Folder{Path: dir}.Read(name)
		switch {
		case err == nil:
			records[name] = data
		case errors.Is(err, spool.ErrForeign), errors.Is(err, spool.ErrTooBig):
		case !errors.Is(err, fs.ErrNotExist):
			return nil, err
		}
	}
	return records, err
}

func (b Backups) folder() spool.Folder { return spool.Folder{Path: b.Dir, MaxSize: backupMost} }

const (
	recordEnding = ".json"
	// Bytes of all records of a backup: a foreign archive cannot fill the memory.
	backupMost = 1 << 30
)

// pack writes records as a gzipped tar: gzip's checksum distinguishes a torn file, or a file with a
// wrong byte, from a whole one. each is called after each record; its error ends the work.
func pack(to io.Writer, records map[string][]byte, each func() error) error {
	zipped, room := gzip.NewWriter(to), backupMost
	archive := tar.NewWriter(zipped)
	for _, name := range slices.Sorted(maps.Keys(records)) {
		data := records[name]
		if room -= len(data); room < 0 {
			return fmt.Errorf("all records together: %w", spool.ErrTooBig)
		}
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		if _, err := archive.Write(data); err != nil {
			return err
		}
		if err := each(); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), zipped.Close())
}

// unpack returns all records that pack wrote, or an error. Only a regular file with the name and
// the size of a record counts as a record.
func unpack(packed []byte) (map[string][]byte, error) {
	in := bytes.NewReader(packed)
	unzipped, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	unzipped.Multistream(false)
	records, room := make(map[string][]byte), int64(backupMost)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(padding{}, unzipped) // the checksum comes last
			if err == nil && in.Len() > 0 {
				err = errTrailing
			}
			if err != nil {
				return nil, err
			}
			return records, nil
		}
		if err != nil {
			return nil, err
		}
		_, twice := records[header.Name]
		room -= header.Size
		if twice || header.Typeflag != tar.TypeReg || !isRecordName(header.Name) || header.Size > spool.DefaultMaxSize || room < 0 {
			return nil, fmt.Errorf("%q in it is not a record", header.Name)
		}
		if records[header.Name], err = io.ReadAll(archive); err != nil {
			return nil, err
		}
	}
}

var errTrailing = errors.New("something follows the records in it")

// padding accepts the zeros with which tar programs fill the last block, and nothing else.
type padding struct{}

func (padding) Write(p []byte) (int, error) {
	if len(bytes.Trim(p, "\x00")) > 0 {
		return 0, errTrailing
	}
	return len(p), nil
}

// ChangeBackup returns the file of a backup with changed records.
func ChangeBackup(packed []byte, change func(record []byte) ([]byte, error)) ([]byte, error) {
	records, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	changed := false
	for name, record := range records {
		next, err := change(record)
		if err != nil { // it comes back as it is
			continue
		}
		changed = changed || !bytes.Equal(next, record)
		records[name] = next
	}
	if !changed {
		return packed, nil
	}
	var to bytes.Buffer
	err = pack(&to, records, func() error { return nil })
	return to.Bytes(), err
}

func isRecordName(name string) bool {
	return filepath.Ext(name) == recordEnding && filepath.Base(name) == name && !strings.HasPrefix(name, ".")
}
