package recovery_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/internal/session/disktest"
	"ccbot/internal/spool"
	"ccbot/recovery"
)

var backupNoon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// files are names and contents.
type files map[string]string

// shelf has a folder of records with its backups. Its clock does not advance.
type shelf struct {
	recovery.Backups
	base string
}

func newShelf(base string) *shelf {
	s := &shelf{base: base}
	s.Backups = recovery.Backups{Dir: filepath.Join(base, "backups"), Sessions: filepath.Join(base, "sessions"),
		Now: func() time.Time { return backupNoon }}
	return s
}

func (s *shelf) setTime(at time.Time) { s.Now = func() time.Time { return at } }

func (s *shelf) put(t *testing.T, records files) {
	t.Helper()
	require.NoError(t, os.MkdirAll(s.Sessions, 0o700))
	for name, content := range records {
		require.NoError(t, os.WriteFile(filepath.Join(s.Sessions, name), []byte(content), 0o600))
	}
}

// set makes the folder hold these files and no others.
func (s *shelf) set(t *testing.T, records files) {
	t.Helper()
	require.NoError(t, os.RemoveAll(s.Sessions))
	s.put(t, records)
}

// in returns the regular files of a folder, dot files too.
func in(t *testing.T, dir string) files {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	found := make(files)
	for _, e := range entries {
		if e.Type().IsRegular() {
			data, err := os.ReadFile(filepath.Join(dir, e.Name()))
			require.NoError(t, err)
			found[e.Name()] = string(data)
		}
	}
	return found
}

func (s *shelf) records(t *testing.T) files { t.Helper(); return in(t, s.Sessions) }

// file is the path of a backup.
func (s *shelf) file(name string) string { return filepath.Join(s.Dir, name+".tar.gz") }

// backup returns what is in one, as any other program reads it.
func (s *shelf) backup(t *testing.T, name string) files {
	t.Helper()
	file, err := os.Open(s.file(name))
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	unzipped, err := gzip.NewReader(file)
	require.NoError(t, err)
	found := make(files)
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err)
		data, err := io.ReadAll(archive)
		require.NoError(t, err)
		found[header.Name] = string(data)
	}
}

func (s *shelf) mustMake(t *testing.T) string {
	t.Helper()
	name, err := s.Make(t.Context())
	require.NoError(t, err)
	return name
}

// names are the listed backups, newest first.
func (s *shelf) names(t *testing.T) (names []string) {
	t.Helper()
	list, err := s.List()
	require.NoError(t, err)
	for _, b := range list {
		names = append(names, b.Name)
	}
	return names
}

// entries are all names in the folder of backups.
func (s *shelf) entries(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(s.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// packed are the file names of backups.
func packed(names []string) (files []string) {
	for _, name := range names {
		files = append(files, name+".tar.gz")
	}
	return files
}

func recordID(n int) uuid.UUID {
	return uuid.MustParse(fmt.Sprintf("019b7c3a-5e10-7000-8000-%012d", n))
}

// recordFile is the name of a good record.
func recordFile(n int) string { return recordID(n).String() + ".json" }

func recordText(n int, name string) string {
	return fmt.Sprintf(`{"version":2,"id":%q,"name":%q,"dir":"/src","state":"archived","agent_session_id":%q,"created_at":"2026-03-04T12:00:00Z"}`,
		recordID(n), name, recordID(n))
}

// anyBytes are files that no program may change: a good record, one of a newer
// program, one that is broken, an empty one and NUL bytes as after a power cut.
func anyBytes() files {
	return files{recordFile(1): recordText(1, "good"), recordFile(2): `{"version":99,"id":{}}`, recordFile(3): `{"version":`, "empty.json": "",
		"nul.json": strings.Repeat("\x00", 300)}
}

func TestP8_BackupsHoldTheBytes(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, anyBytes())
	s.put(t, files{".tmp123.json": "a write that a crash cut short", "notes.txt": "a person's"})
	require.NoError(t, os.Mkdir(filepath.Join(s.Sessions, "dir.json"), 0o700))
	require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(s.Sessions, "link.json")))
	require.NoError(t, syscall.Mkfifo(filepath.Join(s.Sessions, "pipe.json"), 0o600))
	before := s.records(t)

	name := s.mustMake(t)
	assert.Equal(t, "2026-03-04T12-00-00.000Z", name)
	assert.Equal(t, anyBytes(), s.backup(t, name))
	assert.Equal(t, before, s.records(t), "nothing is changed by it")
	list, err := s.List()
	require.NoError(t, err)
	assert.Equal(t, []recovery.Backup{{Name: name, At: backupNoon, Records: 5}}, list)
	for path, mode := range map[string]fs.FileMode{s.Dir: 0o700, s.file(name): 0o600} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, mode, info.Mode().Perm(), path)
	}
}

// A backup shares nothing with the records, nor with another backup: a write to a record in place
// changes no backup.
func TestBackupSharesNothingWithRecords(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, files{"a.json": "one", "b.json": "two"})
	first := s.mustMake(t)
	s.put(t, files{"b.json": "three"})
	second := s.mustMake(t)
	s.put(t, files{"a.json": "four"})
	assert.Equal(t, files{"a.json": "one", "b.json": "two"}, s.backup(t, first))
	assert.Equal(t, files{"a.json": "one", "b.json": "three"}, s.backup(t, second))
}

func TestBackupsOfNothing(t *testing.T) {
	s := newShelf(t.TempDir())
	assert.Empty(t, s.names(t), "a missing folder has none")
	assert.Empty(t, s.entries(t), "a list makes nothing")
	name := s.mustMake(t)
	assert.Empty(t, s.backup(t, name))
	s.put(t, anyBytes())
	done, err := s.Restore(t.Context(), name)
	require.NoError(t, err)
	assert.Empty(t, s.records(t))
	assert.Equal(t, anyBytes(), s.backup(t, done.Before.Name))
}

func TestBackupTimestampsAreUTCAndSort(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, anyBytes())
	s.setTime(time.Date(2026, 3, 4, 21, 0, 0, 999_999_999, time.FixedZone("east", 9*3600)))
	want := []string{"2026-03-04T12-00-00.999Z", "2026-03-04T12-00-01.000Z", "2026-03-04T12-00-01.001Z"}
	for _, name := range want {
		assert.Equal(t, name, s.mustMake(t), "two of one moment have two names")
	}
	slices.Reverse(want)
	assert.Equal(t, want, s.names(t))
}

func TestP8_BackupsDoNotGrowWithoutBound(t *testing.T) {
	s := newShelf(t.TempDir())
	var made []string
	for i := range 25 {
		s.set(t, files{recordFile(1): strconv.Itoa(i)})
		s.setTime(backupNoon.Add(time.Duration(i) * time.Hour))
		made = append(made, s.mustMake(t))
	}
	want := slices.Clone(made[15:])
	assert.Equal(t, packed(want), s.entries(t), "the newest ten, and nothing half removed")
	for i, name := range want {
		assert.Equal(t, files{recordFile(1): strconv.Itoa(15 + i)}, s.backup(t, name))
	}
	s.put(t, nil)
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "README"), nil, 0o600))
	s.mustMake(t)
	assert.Contains(t, s.entries(t), "README", "what is no backup stays")
}

// A clock that was wrong once must not make the newest backup the first to go.
func TestP8_BackwardClockKeepsBackupsBounded(t *testing.T) {
	s := newShelf(t.TempDir())
	for i := range 10 {
		s.setTime(backupNoon.Add(time.Duration(i) * time.Hour))
		s.mustMake(t)
	}
	var back []string
	for i := range 12 {
		s.setTime(backupNoon.AddDate(-1, 0, i))
		back = append(back, s.mustMake(t))
		assert.Contains(t, s.names(t), back[i], "the one just made stays")
		assert.Len(t, s.names(t), 10)
		if i < 9 {
			assert.NotContains(t, s.names(t), backupNoon.Add(time.Duration(i)*time.Hour).Format("2006-01-02T15-04-05.000Z"), "the oldest went")
		}
	}
	assert.Equal(t, packed(back[2:]), s.entries(t))
}

func TestP8_RestoreBringsEveryRecordBack(t *testing.T) {
	changed := anyBytes()
	changed[recordFile(1)] = recordText(1, "changed")
	changed[recordFile(2)] = "{broken since"
	delete(changed, recordFile(3))
	changed[recordFile(4)] = recordText(4, "made since")
	changed[recordFile(5)] = "broken and made since"
	tests := []struct {
		name string
		then files
	}{
		{"nothing has changed", anyBytes()},
		{"some were changed, removed and made", changed},
		{"all are gone", files{}},
		{"all are others", files{recordFile(8): recordText(8, "x"), recordFile(9): "9"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf(t.TempDir())
			s.put(t, anyBytes())
			name := s.mustMake(t)
			s.set(t, tt.then)
			others := files{"notes.txt": "a person's", ".tmp.json": "a crash's"}
			s.put(t, others)
			require.NoError(t, os.Symlink("nowhere", filepath.Join(s.Sessions, "link.json")))

			s.setTime(backupNoon.Add(time.Hour))
			done, err := s.Restore(t.Context(), name)
			require.NoError(t, err)
			before, want := done.Before, anyBytes()
			assert.Equal(t, slices.Sorted(maps.Keys(want)), done.Names)
			maps.Copy(want, others)
			assert.Equal(t, want, s.records(t))
			assert.Equal(t, recovery.Backup{Name: "2026-03-04T13-00-00.000Z", At: backupNoon.Add(time.Hour), Records: len(tt.then)}, before)
			assert.Equal(t, tt.then, s.backup(t, before.Name), "what was there is kept")
			assert.Equal(t, anyBytes(), s.backup(t, name))
			lacked := maps.Clone(tt.then)
			maps.DeleteFunc(lacked, func(name, _ string) bool { _, has := anyBytes()[name]; return has })
			assert.Equal(t, len(lacked), done.Removed)
			_, err = os.Lstat(filepath.Join(s.Sessions, "link.json"))
			assert.NoError(t, err, "what is in no backup is not removed")

			_, err = s.Restore(t.Context(), before.Name)
			require.NoError(t, err)
			want = maps.Clone(tt.then)
			maps.Copy(want, others)
			assert.Equal(t, want, s.records(t), "and back")
		})
	}
}

func TestBackupNames(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, files{recordFile(1): "1"})
	for _, at := range []time.Time{backupNoon, backupNoon.Add(time.Minute), backupNoon.AddDate(0, 1, 0)} {
		s.setTime(at)
		s.mustMake(t)
	}
	s.setTime(backupNoon.AddDate(1, 0, 0))
	outside := filepath.Join(s.base, "2026-03-04T12-00-00.000Z")
	require.NoError(t, os.Mkdir(outside, 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(s.Dir, "2027-01-01T00-00-00.000Z")))
	require.NoError(t, os.Symlink(s.file("2026-03-04T12-00-00.000Z"), s.file("2027-01-03T00-00-00.000Z")))
	require.NoError(t, os.Mkdir(s.file("2027-01-04T00-00-00.000Z"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(s.Dir, "2027-01-02T00-00-00.000Z"), nil, 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(s.Dir, "2027-13-02T00-00-00.000Z"), 0o700))
	tests := []struct {
		name, asked string
		ok          bool
		says        string
	}{
		{"the whole name", "2026-03-04T12-00-00.000Z", true, ""},
		{"the whole name of the file", "2026-03-04T12-00-00.000Z.tar.gz", true, ""},
		{"the beginning of one", "2026-04", true, ""},
		{"the beginning of two", "2026-03-04", false, "2 begin so"},
		{"nothing", "", false, ""},
		{"of none", "2025", false, ""},
		{"longer than a name", "2026-03-04T12-00-00.000Z/", false, ""},
		{"a path", "../2026-03-04T12-00-00.000Z", false, ""},
		{"a path through a backup", "2026-03-04T12-00-00.000Z/../../sessions", false, ""},
		{"a dot", ".", false, ""},
		{"a link", "2027-01-01", false, ""},
		{"a file", "2027-01-02", false, ""},
		{"a link to a backup", "2027-01-03", false, ""},
		{"a folder with the name of a file", "2027-01-04", false, ""},
		{"a folder that is none", "2027-13", false, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			made := len(s.names(t))
			_, err := s.Restore(t.Context(), tt.asked)
			assert.Equal(t, files{recordFile(1): "1"}, s.records(t))
			if tt.ok {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, recovery.ErrNoBackup)
			assert.Contains(t, err.Error(), tt.says)
			assert.Len(t, s.names(t), made, "a wrong name makes no backup")
		})
	}
}

func TestEmptyNameIsNotBackup(t *testing.T) {
	s := newShelf(t.TempDir())
	s.mustMake(t)
	s.put(t, anyBytes())
	_, err := s.Restore(t.Context(), "")
	require.ErrorIs(t, err, recovery.ErrNoBackup)
	assert.Equal(t, anyBytes(), s.records(t))
}

// An unchanged record is not written: most have not changed.
func TestRestoreWritesWhatDiffers(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, fiveRecords("a", 1))
	name := s.mustMake(t)
	s.put(t, files{recordFile(2): "changed"})
	written := 0
	s.Failpoint = func(at string) {
		if at == "restore-file" {
			written++
		}
	}
	_, err := s.Restore(t.Context(), name)
	require.NoError(t, err)
	assert.Equal(t, 1, written)
	assert.Equal(t, fiveRecords("a", 1), s.records(t))
}

// The backup that is wanted may be the oldest of ten: the one that is made first
// must not push it out.
func TestP8_RestoreOfTheOldestBackup(t *testing.T) {
	s := newShelf(t.TempDir())
	var oldest string
	for i := range 10 {
		s.set(t, files{recordFile(i): strconv.Itoa(i)})
		s.setTime(backupNoon.Add(time.Duration(i) * time.Hour))
		if name := s.mustMake(t); i == 0 {
			oldest = name
		}
	}
	_, err := s.Restore(t.Context(), oldest)
	require.NoError(t, err)
	assert.Equal(t, files{recordFile(0): "0"}, s.records(t))
	assert.Len(t, s.names(t), 10)
	assert.Contains(t, s.names(t), oldest)
}

func TestP8_HalfBackupIsRemoved(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, files{recordFile(1): "1"})
	half := filepath.Join(s.Dir, ".2026-03-04T12-00-00.000Z.tar.gz4711")
	require.NoError(t, os.MkdirAll(s.Dir, 0o700))
	require.NoError(t, os.WriteFile(half, []byte("half"), 0o600))
	assert.Empty(t, s.names(t))
	for _, name := range []string{filepath.Base(half), ".2026", "2026-03-04"} {
		_, err := s.Restore(t.Context(), name)
		require.ErrorIs(t, err, recovery.ErrNoBackup)
	}
	assert.FileExists(t, half, "a failed restore does nothing")
	name := s.mustMake(t)
	assert.Equal(t, packed([]string{name}), s.entries(t))
}

// An object at a record's path that is in no backup is not replaced.
func TestRestoreKeepsFilesOutsideBackup(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, anyBytes())
	name := s.mustMake(t)
	path := filepath.Join(s.Sessions, recordFile(1))
	require.NoError(t, errors.Join(os.Remove(path), os.Symlink("/etc/passwd", path)))
	done, err := s.Restore(t.Context(), name)
	require.ErrorIs(t, err, spool.ErrForeign)
	assert.Contains(t, err.Error(), done.Before.Name, "it says where what was there is")
	target, err := os.Readlink(path)
	require.NoError(t, err)
	assert.Equal(t, "/etc/passwd", target)
}

// A person may keep the backups in git, or have them copied by a program that marks the folder.
func TestBackupsLeaveHiddenFilesOfPeople(t *testing.T) {
	s := newShelf(t.TempDir())
	s.put(t, fiveRecords("old", 0))
	theirs := []string{".git/objects/a", ".stfolder/b", ".key", ".2026-notes", "purged/.key"}
	left := []string{".2026-03-04T11-00-00.000Z/a.json", ".2026-03-04T11-00-00.000Z.tar.gz1234567", "purged/.a.json1234567"}
	for _, name := range append(theirs, left...) {
		path := filepath.Join(s.Dir, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	_, err := s.Make(t.Context())
	require.NoError(t, err)
	for _, name := range theirs {
		assert.FileExists(t, filepath.Join(s.Dir, name))
	}
	for _, name := range left {
		assert.NoFileExists(t, filepath.Join(s.Dir, name))
	}
}

func TestBackupsEndWithTheirContext(t *testing.T) {
	old, present := fiveRecords("old", 1), fiveRecords("new", 3)
	tests := []struct {
		name, point string // the failpoint at which it is cancelled, empty: before
		restore     bool
	}{
		{"before it begins", "", false},
		{"between two files", "backup-file", false},
		{"a restore before it begins", "", true},
		{"a restore in its backup", "backup-file", true},
		{"a restore between two records", "restore-file", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newShelf(t.TempDir())
			s.put(t, old)
			name := s.mustMake(t)
			s.set(t, present)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			s.Failpoint = func(at string) {
				if at == tt.point {
					cancel()
				}
			}
			if tt.point == "" {
				cancel()
			}
			var err error
			if tt.restore {
				_, err = s.Restore(ctx, name)
			} else {
				_, err = s.Make(ctx)
			}
			require.ErrorIs(t, err, context.Canceled)
			for _, entry := range s.entries(t) {
				assert.False(t, strings.HasPrefix(entry, "."), "nothing half made stays: %s", entry)
			}
			if tt.point != "restore-file" {
				assert.Equal(t, present, s.records(t))
			}
			assertOldOrNew(t, s.records(t), present, old)
			s.Failpoint = nil
			_, err = s.Restore(t.Context(), name)
			require.NoError(t, err)
			assert.Equal(t, old, s.records(t))
		})
	}
}

func TestP8_BackupOnFullDiskLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<18, func(base string) {
		s := newShelf(base)
		old := files{recordFile(1): recordText(1, strings.Repeat("old", 2000)), recordFile(2): recordText(2, "second")}
		s.put(t, old)
		name := s.mustMake(t)
		present := files{recordFile(1): recordText(1, "new"), recordFile(3): recordText(3, "third")}
		s.set(t, present)
		free := disktest.Fill(t, base)

		_, err := s.Make(t.Context())
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.Contains(t, err.Error(), "back up the sessions: ")
		assert.Contains(t, err.Error(), s.Dir)
		assert.Contains(t, err.Error(), "no space left on device")
		_, err = s.Restore(t.Context(), name)
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.Equal(t, present, s.records(t))
		assert.Equal(t, old, s.backup(t, name))
		assert.Equal(t, packed([]string{name}), s.entries(t), "nothing half made takes room")

		// Room for the backup, not for the records.
		free()
		s.Failpoint = func(at string) {
			if at == "backup-made" {
				free = disktest.Fill(t, base)
			}
		}
		done, err := s.Restore(t.Context(), name)
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.Contains(t, err.Error(), done.Before.Name)
		assert.Equal(t, present, s.backup(t, done.Before.Name))
		assertOldOrNew(t, s.records(t), present, old)

		s.Failpoint = nil
		free()
		_, err = s.Restore(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, old, s.records(t), "it goes on once there is room")

		disktest.ReadOnly(t, base)
		_, err = s.Make(t.Context())
		require.ErrorIs(t, err, syscall.EROFS)
		assert.Contains(t, err.Error(), "read-only file system")
		_, err = s.List()
		assert.NoError(t, err)
	})
}

// assertOldOrNew wants each record to be as it was before or after: whole, and present if it is in
// both.
func assertOldOrNew(t *testing.T, got, before, after files) {
	t.Helper()
	for name, content := range got {
		assert.True(t, content == before[name] || content == after[name], "%s is %q", name, content)
	}
	for name := range before {
		if _, ok := after[name]; ok {
			assert.Contains(t, got, name)
		}
	}
}

// Environment of the child that dies in the next tests.
const (
	dieIn  = "CCBOT_TEST_SHELF" // its folder
	dieAt  = "CCBOT_TEST_DIE"   // at which of all failpoints, from 1
	dieFor = "CCBOT_TEST_NAME"  // backup to restore; empty: make one
)

// dieAsChild does what the environment says and kills itself at a failpoint.
func dieAsChild(t *testing.T) {
	s := newShelf(os.Getenv(dieIn))
	s.setTime(backupNoon.Add(time.Hour))
	left, err := strconv.Atoi(os.Getenv(dieAt))
	require.NoError(t, err)
	s.Failpoint = func(string) {
		if left--; left == 0 {
			require.NoError(t, syscall.Kill(os.Getpid(), syscall.SIGKILL))
			select {}
		}
	}
	if name := os.Getenv(dieFor); name != "" {
		_, err = s.Restore(t.Context(), name)
	} else {
		_, err = s.Make(t.Context())
	}
	require.NoError(t, err)
}

// dieAfter runs this test in a child that dies at the nth failpoint, and reports whether the child
// reached it.
func dieAfter(t *testing.T, s *shelf, restore string, n int) bool {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	top, _, _ := strings.Cut(t.Name(), "/")
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+top+"$", "-test.count=1", "-test.v")
	cmd.Env = append(os.Environ(), dieIn+"="+s.base, dieAt+"="+strconv.Itoa(n), dieFor+"="+restore)
	out, err := cmd.CombinedOutput()
	if err == nil {
		require.Contains(t, string(out), "--- PASS: "+top)
		return false
	}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	require.True(t, ok && status.Signaled() && status.Signal() == syscall.SIGKILL, "%v\n%s", err, out)
	return true
}

// assertLoads opens the records as the next start does: all of them load.
func assertLoads(t *testing.T, s *shelf) {
	t.Helper()
	store, err := session.OpenReadOnly(s.Sessions, time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	assert.Empty(t, store.Unloaded())
	records := 0
	for name := range s.records(t) {
		if !strings.HasPrefix(name, ".") {
			records++
		}
	}
	assert.Len(t, store.List(), records)
}

func fiveRecords(name string, from int) files {
	records := make(files)
	for n := from; n < from+5; n++ {
		records[recordFile(n)] = recordText(n, name+strconv.Itoa(n))
	}
	return records
}

func TestP8_CrashInBackupLosesNothing(t *testing.T) {
	if os.Getenv(dieIn) != "" {
		dieAsChild(t)
		return
	}
	crashes := 0
	for n := 1; ; n++ {
		s := newShelf(t.TempDir())
		s.put(t, fiveRecords("a", 1))
		for i := range 10 { // so that one has to be removed
			s.setTime(backupNoon.Add(time.Duration(i) * time.Minute))
			s.mustMake(t)
		}
		if !dieAfter(t, s, "", n) {
			break
		}
		crashes++
		assert.Equal(t, fiveRecords("a", 1), s.records(t))
		for _, name := range s.names(t) {
			assert.Equal(t, fiveRecords("a", 1), s.backup(t, name), "what is listed is whole")
		}
		s.setTime(backupNoon.Add(2 * time.Hour))
		made := s.mustMake(t)
		assert.Equal(t, fiveRecords("a", 1), s.backup(t, made))
		assert.Len(t, s.entries(t), 10, "nothing of the crash is left")
	}
	assert.Equal(t, 6, crashes, "five files, and the backup")
}

func TestP8_NextRestoreFinishesCrashed(t *testing.T) {
	if os.Getenv(dieIn) != "" {
		dieAsChild(t)
		return
	}
	old, present := fiveRecords("old", 1), fiveRecords("new", 3) // 3 to 5 are in both
	crashes := 0
	for n := 1; ; n++ {
		s := newShelf(t.TempDir())
		s.put(t, old)
		name := s.mustMake(t)
		s.set(t, present)
		if !dieAfter(t, s, name, n) {
			assert.Equal(t, old, s.records(t))
			break
		}
		crashes++
		assertLoads(t, s)
		assertOldOrNew(t, s.records(t), present, old)
		if list := s.names(t); len(list) > 1 {
			assert.Equal(t, present, s.backup(t, list[0]), "what was there is in the backup before it")
		} else {
			assert.Equal(t, present, s.records(t), "nothing changes before it is in a backup")
		}
		s.setTime(backupNoon.Add(2 * time.Hour))
		_, err := s.Restore(t.Context(), name)
		require.NoError(t, err)
		assert.Equal(t, old, s.records(t))
		assertLoads(t, s)
		for _, entry := range s.entries(t) {
			assert.False(t, strings.HasPrefix(entry, "."), entry)
		}
	}
	assert.Equal(t, 13, crashes, "five files and the backup, five records that come back and two that go")
}

// BenchmarkBackup measures the backup before a recovery of a thousand records.
func BenchmarkBackup(b *testing.B) {
	base := b.TempDir()
	s := recovery.Backups{Dir: filepath.Join(base, "backups"), Sessions: filepath.Join(base, "sessions"), Now: time.Now}
	require.NoError(b, os.MkdirAll(s.Sessions, 0o700))
	for n := range 1000 {
		require.NoError(b, os.WriteFile(filepath.Join(s.Sessions, recordFile(n)), []byte(recordText(n, strings.Repeat("x", 4000))), 0o600))
	}
	for b.Loop() {
		_, err := s.Make(b.Context())
		require.NoError(b, err)
	}
}
