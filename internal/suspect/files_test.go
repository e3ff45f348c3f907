package suspect

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const boot = "8d6c7a52-0000-4000-8000-000000000001"

// run is one run of ccbot over the same notes.
type run struct {
	*Files
	pauses []time.Duration
}

func begin(dir, boot string) *run {
	r := &run{}
	r.Files = Open(filepath.Join(dir, "reads"), boot, func(d time.Duration) error { r.pauses = append(r.pauses, d); return nil },
		slog.New(slog.DiscardHandler))
	return r
}

// dies ends a run in the middle of a read.
func dies(t *testing.T, dir, boot, path string) []time.Duration {
	t.Helper()
	r := begin(dir, boot)
	_, err := r.Begin(path, Items)
	require.NoError(t, err)
	return r.pauses
}

// Three deaths during the same read, in one boot, leave the file unread, until it is to be read again.
func TestP5_ThreeDeathsLeaveFileUnread(t *testing.T) {
	dir, path := t.TempDir(), "/home/u/.claude/projects/p/x.jsonl"
	assert.Empty(t, dies(t, dir, boot, path))
	assert.Equal(t, []time.Duration{time.Second}, dies(t, dir, boot, path))
	assert.Equal(t, []time.Duration{2 * time.Second}, dies(t, dir, boot, path))
	for range 2 {
		r := begin(dir, boot)
		for _, kind := range []Kind{Items, Lines, Backwards} {
			_, err := r.Begin(path, kind)
			require.ErrorIs(t, err, ErrUnread)
		}
		assert.Equal(t, []string{path}, r.Unread())
	}
	r := begin(dir, boot)
	assert.Equal(t, []string{path}, r.Untold())
	r.Told(path)
	require.NoError(t, r.Close())
	r = begin(dir, boot)
	assert.Empty(t, r.Untold())
	r.Again(path)
	end, err := r.Begin(path, Items)
	require.NoError(t, err)
	assert.Empty(t, r.pauses)
	end(true)
	assert.Empty(t, begin(dir, boot).rows)
}

func TestDeathsOfAnotherBootDoNotCount(t *testing.T) {
	dir := t.TempDir()
	for range mostDeaths {
		dies(t, dir, boot, "/x")
	}
	assert.Empty(t, begin(dir, "another").Unread())
}

func TestWholeReadForgetsDeaths(t *testing.T) {
	dir := t.TempDir()
	for range 5 * mostDeaths {
		dies(t, dir, boot, "/x")
		r := begin(dir, boot)
		end, err := r.Begin("/x", Items)
		require.NoError(t, err)
		end(false)
		end, err = r.Begin("/x", Items)
		require.NoError(t, err)
		assert.Len(t, r.pauses, 1, "one pause in a run")
		end(true)
	}
	assert.Empty(t, begin(dir, boot).rows)
}

func TestCleanStopIsNoDeath(t *testing.T) {
	dir := t.TempDir()
	for range 2 * mostDeaths {
		r := begin(dir, boot)
		_, err := r.Begin("/x", Items)
		require.NoError(t, err)
		require.NoError(t, r.Close())
	}
	assert.Empty(t, begin(dir, boot).rows)
}

// A file is read without a note if there can be none, and what the file of notes contains ends nothing.
func TestNotesAreNoCondition(t *testing.T) {
	dir := t.TempDir()
	r := begin(filepath.Join(dir, "missing"), boot)
	_, err := r.Begin("/x", Items)
	require.NoError(t, err)
	_, err = begin(dir, boot).Begin("/"+strings.Repeat("x", rowSize), Items)
	require.NoError(t, err)
	assert.Empty(t, begin(dir, boot).rows)
	_, err = (*Files)(nil).Begin("/x", Items)
	require.NoError(t, err)
	for _, data := range []string{"null\n", "{}\n", "\x00\x00", `{"boot":"` + boot + `","path":"/x","deaths":1e9}` + "\n", "[]\n{"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "reads"), []byte(data), 0o600))
		_, err := begin(dir, boot).Begin("/y", Items)
		require.NoError(t, err)
	}
}

// Suspect files are read one at a time; others do not wait for them.
func TestSuspectFileIsReadAlone(t *testing.T) {
	dir := t.TempDir()
	r := begin(dir, boot)
	for _, path := range []string{"/x", "/y"} {
		_, err := r.Begin(path, Items)
		require.NoError(t, err)
	}
	r = begin(dir, boot)
	end, err := r.Begin("/x", Items)
	require.NoError(t, err)
	again, err := r.Begin("/x", Items) // the same file, and a part of the same read
	require.NoError(t, err)
	_, err = r.Begin("/z", Items)
	require.NoError(t, err)
	second := make(chan struct{})
	go func() {
		defer close(second)
		end, err := r.Begin("/y", Items)
		assert.NoError(t, err)
		end(true)
	}()
	select {
	case <-second:
		t.Error("two suspect files were read at once")
	default:
	}
	again(true)
	end(true)
	<-second
}
