package session

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session/disktest"
	"ccbot/port/talk"
)

// household writes the records of a ccbot that is years old: nearly all are archived, each with a
// history of 30 lines.
func household(tb testing.TB, records int) (dir string) {
	tb.Helper()
	dir = filepath.Join(tb.TempDir(), "sessions")
	s, err := Open(dir, filepath.Join(tb.TempDir(), "quarantine"), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(tb, err)
	s.folder.Fsync = false // of the test's own files
	began := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range records {
		r := Record{ID: uuid.New(), Name: fmt.Sprintf("api-%d", i), Dir: "/home/anna/api", Host: "desk", State: Archived, AgentSessionID: uuid.New(),
			CreatedAt: began.Add(time.Duration(i) * time.Minute), Run: Run{StartedAt: began, ReadyAt: began}, LastEnd: LastEnd{EndedAt: began},
			Cursors: []talk.Cursor{{Path: "/home/anna/.claude/projects/-home-anna-api/" + uuid.NewString() + ".jsonl", Offset: 123456}},
			Launch:  &Launch{Command: "claude", Flags: []string{"--model", "opus"}, PermissionMode: "ask"}}
		for n := range 30 {
			r.Note(began, "chat.note", fmt.Sprintf("line %d of the history of session %d", n, i))
		}
		require.NoError(tb, s.Create(r))
	}
	return dir
}

// TestRecordsAreReadOnce also holds for what is done with the records afterwards: memory has
// them.
func TestRecordsAreReadOnce(t *testing.T) {
	dir := household(t, 20)
	opened := disktest.Opens(t, dir)
	s, err := Open(dir, t.TempDir(), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	for _, r := range s.List() {
		_, ok := s.Get(r.ID)
		require.True(t, ok)
	}
	want := make(map[string]int)
	for _, r := range s.Shared() {
		want[file(r.ID)] = 1
	}
	require.Len(t, want, 20)
	assert.Equal(t, want, opened())
}

// TestEndedSessionsHistoryIsReadLazily: by Whole, and by each change, which writes it
// again.
func TestEndedSessionsHistoryIsReadLazily(t *testing.T) {
	f := newFolders(t)
	f.dir = household(t, 1)
	s := f.open(t)
	short := s.Shared()[0]
	for range 2 { // as the start has it, and after a change
		got, ok := s.Get(short.ID)
		require.True(t, ok)
		assert.Empty(t, got.History)
		opened := disktest.Opens(t, f.dir)
		whole, err := s.Whole(short.ID)
		require.NoError(t, err)
		require.Len(t, whole.History, 30)
		assert.Equal(t, map[string]int{file(short.ID): 1}, opened())
		require.NoError(t, rename(t, s, short.ID, "another name"))
	}
	assert.ErrorContains(t, newFolders(t).open(t).Create(short), "without its history")
	require.NoError(t, s.Do(t.Context(), short.ID, func(r *Record, save func() error) error {
		require.NoError(t, r.Become(Restoring, noon, "a.rule", "it is brought back"))
		return save()
	}))
	for _, s := range []*Store{s, f.open(t)} {
		got, _ := s.Get(short.ID)
		assert.Len(t, got.History, 31, "it is not over any more")
	}
}

// TestUnreadableHistoryIsNotOverwritten: the file stays as it is until a start sets it
// aside.
func TestUnreadableHistoryIsNotOverwritten(t *testing.T) {
	for _, broken := range []string{`"at": "yesterday",`, `"at": 5,`, `"AT": "yesterday",`, `"why": 7,`, `"rule": {},`} {
		f := newFolders(t)
		f.dir = household(t, 1)
		s := f.open(t)
		r := s.List()[0]
		path := filepath.Join(f.dir, file(r.ID))
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		broken = strings.Replace(string(data), `"why": "line 7`, broken+`"why": "line 7`, 1)
		f.put(t, file(r.ID), broken)
		_, err = s.Whole(r.ID)
		require.ErrorContains(t, err, path)
		require.Error(t, rename(t, s, r.ID, "another name"))
		data, err = os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, broken, string(data))
		assert.Empty(t, f.open(t).List())
		assert.Len(t, f.quarantined(t), 1)
	}
}

// A truncated history file is quarantined too.
func TestMalformedHistoryIsQuarantined(t *testing.T) {
	for _, broken := range []string{`"history": "none", "was": [`, `"history": {"at": 5}, "was": [`, `"history": [5,`, `"history": ["a",`, `"history": [ }`} {
		f := newFolders(t)
		f.dir = household(t, 1)
		r := f.open(t).List()[0]
		data, err := os.ReadFile(filepath.Join(f.dir, file(r.ID)))
		require.NoError(t, err)
		f.put(t, file(r.ID), strings.Replace(string(data), `"history": [`, broken, 1))
		assert.Empty(t, f.open(t).List(), broken)
		assert.Len(t, f.quarantined(t), 1)
	}
}

// TestRemovedFileRemovesRecord: without its history it must not be written
// again.
func TestRemovedFileRemovesRecord(t *testing.T) {
	f := newFolders(t)
	f.dir = household(t, 1)
	s := f.open(t)
	r := s.Shared()[0]
	require.NoError(t, os.Remove(filepath.Join(f.dir, file(r.ID))))
	require.ErrorIs(t, rename(t, s, r.ID, "another name"), ErrNotFound)
	assert.Empty(t, s.Shared())
	assert.NoFileExists(t, filepath.Join(f.dir, file(r.ID)))
}

// TestEndedSessionsTakeLittleMemory, also after Shared.
func TestEndedSessionsTakeLittleMemory(t *testing.T) {
	const records = 500
	dir := household(t, records)
	before := liveHeap()
	s, err := OpenReadOnly(dir, time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	require.Len(t, s.Shared(), records)
	assert.Less(t, (liveHeap()-before)/records, uint64(3000), "bytes for each record, of which its file has 6,000")
	require.Len(t, s.Shared(), records)
}

// TestSharedCopiesNothing: each news of a window or of an agent calls it.
func TestSharedCopiesNothing(t *testing.T) {
	s, err := OpenReadOnly(household(t, 20), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(t, err)
	require.Equal(t, s.List(), s.Shared())
	assert.Zero(t, testing.AllocsPerRun(10, func() { s.Shared() }))
}

// TestSharedFollowsTheRecords: a write, a new record and one that goes are seen, and what was given
// before stays as it was.
func TestSharedFollowsTheRecords(t *testing.T) {
	s := newFolders(t).open(t)
	require.Empty(t, s.Shared())
	r := created(t, s)
	before := s.Shared()
	require.Len(t, before, 1)
	require.NoError(t, rename(t, s, r.ID, "another name"))
	assert.Equal(t, "another name", s.Shared()[0].Name)
	assert.Equal(t, r.Name, before[0].Name)
	require.NoError(t, s.Remove(r.ID))
	assert.Empty(t, s.Shared())
	assert.Len(t, before, 1)
}

// BenchmarkOpen measures the first read of a start, and the memory that it keeps.
func BenchmarkOpen(b *testing.B) {
	dir := household(b, 3000)
	var s *Store
	var err error
	before := liveHeap()
	b.ReportAllocs()
	for b.Loop() {
		s, err = OpenReadOnly(dir, time.Now, slog.New(slog.DiscardHandler), nil)
		require.NoError(b, err)
	}
	b.ReportMetric(float64(liveHeap()-before)/3000, "B-kept/record")
	require.Len(b, s.Shared(), 3000)
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkShared measures the call for each news of tmux or of a presence file, BenchmarkList the
// cost of copies.
func BenchmarkShared(b *testing.B) { benchmarkAll(b, (*Store).Shared) }

func BenchmarkList(b *testing.B) { benchmarkAll(b, (*Store).List) }

func benchmarkAll(b *testing.B, all func(*Store) []Record) {
	s, err := OpenReadOnly(household(b, 3000), time.Now, slog.New(slog.DiscardHandler), nil)
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		require.Len(b, all(s), 3000)
	}
}
