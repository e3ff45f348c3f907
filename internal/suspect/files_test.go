package suspect

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const boot = "8d6c7a52-0000-4000-8000-000000000001"

// start begins a run over the notes of a folder. Its pauses take no time.
func start(dir, boot string) *Files {
	return Open(filepath.Join(dir, Name), boot, func(time.Duration) error { return nil }, slog.New(slog.DiscardHandler))
}

func begin(t *testing.T, f *Files, path string) (end func()) {
	t.Helper()
	end, err := f.Begin(path)
	require.NoError(t, err)
	return end
}

// dies is a run that ends while it reads files.
func dies(t *testing.T, dir string, paths ...string) {
	t.Helper()
	f := start(dir, boot)
	for _, path := range paths {
		begin(t, f, path)
	}
}

// Three deaths in a row, in one boot, leave the file unread until it is released.
func TestP5_ThreeDeathsLeaveFileUnread(t *testing.T) {
	dir, path := t.TempDir(), "/home/u/.claude/projects/p/x.jsonl"
	for range mostDeaths {
		assert.Empty(t, start(dir, boot).Unread())
		dies(t, dir, path)
	}
	for range 2 {
		f := start(dir, boot)
		_, err := f.Begin(path)
		require.ErrorIs(t, err, ErrUnread)
		assert.Equal(t, []string{path}, f.Unread())
	}
	f := start(dir, boot)
	assert.Equal(t, []string{path}, f.Unreported())
	f.MarkReported(path)
	require.NoError(t, f.Close())
	f = start(dir, boot)
	assert.Empty(t, f.Unreported())
	f.Again(path)
	begin(t, f, path)()
	assert.Empty(t, start(dir, boot).rows)
}

// Whichever read of the file a run is in when it ends counts for the same file.
func TestP5_DeathsOfAllReadsAddUp(t *testing.T) {
	dir := t.TempDir()
	dies(t, dir, "/x")
	dies(t, dir, "/x")
	f := start(dir, boot)
	end := begin(t, f, "/x")
	begin(t, f, "/x") // a second read of it
	end()
	assert.Equal(t, []string{"/x"}, start(dir, boot).Unread())
}

func TestOtherBootsDeathsDoNotCount(t *testing.T) {
	dir := t.TempDir()
	for range mostDeaths {
		dies(t, dir, "/x")
	}
	assert.Empty(t, start(dir, "another").Unread())
}

// Only deaths in a row count: a run that used the file and ended at another moment is proof that
// the file is not to blame.
func TestP5_RunThatPassesForgetsDeaths(t *testing.T) {
	dir := t.TempDir()
	for range 2 * mostDeaths {
		for range mostDeaths - 1 {
			dies(t, dir, "/x")
		}
		begin(t, start(dir, boot), "/x")()
	}
	assert.Empty(t, start(dir, boot).rows)
}

// A run that ends before it has used a file proves nothing about it.
func TestP5_IdleRunForgetsNothing(t *testing.T) {
	dir := t.TempDir()
	for range mostDeaths {
		dies(t, dir, "/x")
		begin(t, start(dir, boot), "/y")()
	}
	assert.Equal(t, []string{"/x"}, start(dir, boot).Unread())
}

func TestCleanStopIsNoDeath(t *testing.T) {
	dir := t.TempDir()
	for range 2 * mostDeaths {
		f := start(dir, boot)
		end := begin(t, f, "/x")
		require.NoError(t, f.Close())
		end()
	}
	assert.Empty(t, start(dir, boot).rows)
}

// A run that is stopped has not died: only deaths without a stop between them are in a row. A file
// that is left unread stays so.
func TestP5_StopForgetsDeaths(t *testing.T) {
	dir := t.TempDir()
	stop := func(reads bool) {
		f := start(dir, boot)
		end := func() {}
		if reads {
			end = begin(t, f, "/x")
		}
		require.NoError(t, f.Close())
		end()
	}
	for i := range 3 * mostDeaths {
		dies(t, dir, "/x", "/y")
		stop(i%2 == 0)
	}
	assert.Empty(t, start(dir, boot).rows)

	for range mostDeaths {
		dies(t, dir, "/x")
	}
	stop(false)
	assert.Equal(t, []string{"/x"}, start(dir, boot).Unread())
}

// A file is read without a note if no note can be written, and damaged notes do no harm.
func TestNotesAreNoCondition(t *testing.T) {
	dir := t.TempDir()
	begin(t, start(filepath.Join(dir, "missing"), boot), "/x")
	begin(t, start(dir, boot), "/"+strings.Repeat("x", rowSize))
	assert.Empty(t, start(dir, boot).rows)
	begin(t, nil, "/x")()
	for _, data := range []string{"null\n", "{}\n", "\x00\x00", `{"boot":"` + boot + `","path":"/x","deaths":1e9}` + "\n", "[]\n{"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, Name), []byte(data), 0o600))
		begin(t, start(dir, boot), "/y")
	}
}

// A suspect file is read some time after the start, the longer the more runs it has ended; others
// are read at once.
func TestSuspectFileIsReadAfterPause(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		wait := func(d time.Duration) error { time.Sleep(d); return nil }
		for _, after := range []time.Duration{0, innocence, 2 * innocence} {
			began := time.Now()
			f := Open(filepath.Join(dir, Name), boot, wait, slog.New(slog.DiscardHandler))
			begin(t, f, "/y")()
			assert.Zero(t, time.Since(began))
			begin(t, f, "/x")
			assert.Equal(t, after, time.Since(began))
		}
	})
}

// While a suspect file is read no other file is.
func TestP5_SuspectFileIsReadAlone(t *testing.T) {
	dir := t.TempDir()
	dies(t, dir, "/x", "/y")
	waits := func(f *Files, path string, end func()) bool {
		read := make(chan struct{})
		go func() {
			defer close(read)
			begin(t, f, path)()
		}()
		synctest.Wait()
		defer func() { end(); <-read }()
		select {
		case <-read:
			return false
		default:
			return true
		}
	}
	synctest.Test(t, func(t *testing.T) {
		f := start(dir, boot)
		began := time.Now()
		x := begin(t, f, "/x")
		begin(t, f, "/x")() // the same file
		assert.True(t, waits(f, "/z", x), "a file while a suspect one is read")
		z := begin(t, f, "/z")
		assert.False(t, waits(f, "/a", func() {}), "two files that are not suspect")
		assert.True(t, waits(f, "/x", z), "a suspect file while a file is read")
		x = begin(t, f, "/x")
		assert.True(t, waits(f, "/y", x), "a suspect file while another one is read")
		assert.Zero(t, time.Since(began))
	})
}

// A read that hangs stops the others for ten seconds, not for good.
func TestHungReadStopsOthersBriefly(t *testing.T) {
	dir := t.TempDir()
	dies(t, dir, "/x")
	synctest.Test(t, func(t *testing.T) {
		f := start(dir, boot)
		begin(t, f, "/x")
		began := time.Now()
		begin(t, f, "/z")
		assert.Equal(t, timeout, time.Since(began))
	})
}
