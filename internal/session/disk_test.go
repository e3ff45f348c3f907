package session

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session/disktest"
)

func foldersIn(base string) storeFolders {
	return storeFolders{filepath.Join(base, "sessions"), filepath.Join(base, "quarantine"), &bytes.Buffer{}}
}

func rename(t *testing.T, s *Store, id uuid.UUID, name string) error {
	return s.Do(t.Context(), id, func(r *Record, save func() error) error {
		r.Name = name
		return save()
	})
}

func TestP8_FullDiskLosesNothing(t *testing.T) {
	disktest.Run(t, 1<<18, func(base string) {
		f := foldersIn(base)
		s := f.open(t)
		r, other := created(t, s), created(t, s)
		broken := file(uuid.New())
		f.put(t, broken, "{")
		free := disktest.Fill(t, base)
		// The folder itself has another date once a temporary file was tried.
		before := listing(t, f.dir)[1:]

		for name, err := range map[string]error{"save": rename(t, s, r.ID, "new"), "create": s.Create(record())} {
			require.ErrorIs(t, err, syscall.ENOSPC, name)
			assert.Contains(t, err.Error(), "no space left on device", name)
			assert.Contains(t, err.Error(), f.dir+"/", name)
		}
		assert.ErrorContains(t, rename(t, s, r.ID, "new"), filepath.Join(f.dir, file(r.ID)))
		assert.Equal(t, before, listing(t, f.dir)[1:], "the old record is whole, and no temporary file stays")
		got, _ := s.Get(r.ID)
		assert.Equal(t, "api", got.Name, "the memory says what the disk says")
		assert.Len(t, s.List(), 2)

		again := f.open(t) // a start on a full disk
		assert.Len(t, again.List(), 2)
		require.Len(t, again.Unloaded(), 1)
		assert.Len(t, f.quarantined(t), 1, "what is set aside takes no room")
		require.NoError(t, again.Remove(other.ID), "nor does a removal")

		free()
		require.NoError(t, rename(t, again, r.ID, "new"), "it goes on once there is room")
		got, _ = f.open(t).Get(r.ID)
		assert.Equal(t, "new", got.Name)
	})
}

func TestP8_ReadOnlyFolderIsReported(t *testing.T) {
	disktest.Run(t, 1<<20, func(base string) {
		f := foldersIn(base)
		s := f.open(t)
		r := created(t, s)
		f.put(t, file(uuid.New()), "{")
		disktest.ReadOnly(t, base)
		before := listing(t, base)

		for name, err := range map[string]error{"save": rename(t, s, r.ID, "new"), "create": s.Create(record()), "remove": s.Remove(r.ID)} {
			require.ErrorIs(t, err, syscall.EROFS, name)
			assert.Contains(t, err.Error(), "read-only file system", name)
			assert.Contains(t, err.Error(), f.dir+"/", name)
		}
		got, ok := s.Get(r.ID)
		require.True(t, ok)
		assert.Equal(t, "api", got.Name)

		_, err := Open(f.dir, f.quarantine, s.now, s.log, nil)
		require.ErrorIs(t, err, syscall.EROFS, "a start that could keep nothing is refused")
		assert.EqualError(t, err, "open sessions: "+f.dir+" cannot be written: read-only file system")
		reader := f.openReadOnly(t)
		assert.Len(t, reader.List(), 1, "what only reads works")
		assert.Len(t, reader.Unloaded(), 1)
		assert.Equal(t, before, listing(t, base))
	})
}

// A save replaces the whole file by a new one. A reader at that moment gets the old record or the
// new one.
func TestP8_AtomicWritesReplaceTheWholeFile(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := created(t, s)
	path := filepath.Join(f.dir, file(r.ID))
	old, err := os.ReadFile(path)
	require.NoError(t, err)
	reading, err := os.Open(path)
	require.NoError(t, err)
	defer func() { assert.NoError(t, reading.Close()) }()
	half := make([]byte, len(old)/2)
	_, err = io.ReadFull(reading, half)
	require.NoError(t, err)

	require.NoError(t, rename(t, s, r.ID, strings.Repeat("longer ", 1000)))
	rest, err := io.ReadAll(reading)
	require.NoError(t, err)
	assert.Equal(t, string(old), string(half)+string(rest))
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")
	assert.Len(t, f.openReadOnly(t).List(), 1)
}

// writerEnv has the child of the next test write records in this folder.
const writerEnv = "CCBOT_TEST_WRITES"

func TestP8_AtomicWritesSurviveAKill(t *testing.T) {
	if base := os.Getenv(writerEnv); base != "" {
		writeForEver(t, foldersIn(base))
		return
	}
	base := t.TempDir()
	f := foldersIn(base)
	self, err := os.Executable()
	require.NoError(t, err)
	saved := make(map[string]int)
	for round := range 5 {
		cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.count=1")
		cmd.Env = append(os.Environ(), writerEnv+"="+base)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for range 10 + 7*round {
			require.True(t, lines.Scan())
			var id string
			var n int
			_, err := fmt.Sscanf(lines.Text(), "saved %s %d", &id, &n)
			require.NoError(t, err)
			saved[id] = n
		}
		require.NoError(t, cmd.Process.Kill())
		assert.Error(t, cmd.Wait())

		s := f.open(t)
		assert.Empty(t, s.Unloaded(), "every record is whole")
		for id, n := range saved {
			r, ok := s.Get(uuid.MustParse(id))
			require.True(t, ok)
			assert.GreaterOrEqual(t, r.Owner, int64(n), "what was saved stays")
			assert.Equal(t, strings.Repeat("x", int(r.Owner)*100), r.Name, "each is of one moment")
		}
	}
}

// writeForEver saves three records in turn and prints a line after each.
func writeForEver(t *testing.T, f storeFolders) {
	s := f.open(t)
	for len(s.List()) < 3 {
		r := record()
		r.Name = ""
		require.NoError(t, s.Create(r))
	}
	for {
		for _, r := range s.List() {
			require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
				r.Owner++
				r.Name = strings.Repeat("x", int(r.Owner)*100)
				return save()
			}))
			fmt.Println("saved", r.ID, r.Owner+1)
		}
	}
}
