package hookwire

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func someEvent(when time.Time) Event {
	return Event{
		Version: Version, Name: UserPromptSubmit, Received: when, Launch: "l", AgentPID: 12, AgentStart: 34, Boot: "ab-cd",
		Pane: "%1", Tmux: "/tmp/x,1,0", SessionID: someID, TranscriptPath: "/t.jsonl", Cwd: "/w", Prompt: "<b> & \u2028 é",
	}
}

func someBinding() Binding { return BindingOf(someEvent(time.Now())) }

func files(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

func TestWriteEvent_RoundTripAndOrder(t *testing.T) {
	dir := t.TempDir()
	base := time.Date(2026, 1, 2, 3, 4, 5, 999_999_999, time.UTC)
	want := []Event{someEvent(base), someEvent(base.Add(1)), someEvent(base.Add(time.Hour))}
	for _, i := range []int{2, 0, 1} {
		require.NoError(t, WriteEvent(dir, want[i]))
	}
	var got []Event
	for _, name := range files(t, filepath.Join(dir, EventsFolder)) {
		path := filepath.Join(dir, EventsFolder, name)
		data, err := os.ReadFile(path)
		require.NoError(t, err)
		e, err := ReadEvent(data)
		require.NoError(t, err)
		when, ok := EventTime(name)
		assert.True(t, ok)
		assert.Equal(t, e.Received, when)
		got = append(got, e)
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o600), info.Mode())
	}
	assert.Equal(t, want, got)
}

func TestP10_SimultaneousEventsAreKept(t *testing.T) {
	dir := t.TempDir()
	when := time.Now()
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			e := someEvent(when)
			e.Prompt = strconv.Itoa(i)
			assert.NoError(t, WriteEvent(dir, e))
		})
	}
	wg.Wait()
	seen := map[string]bool{}
	for _, name := range files(t, filepath.Join(dir, EventsFolder)) {
		data, err := os.ReadFile(filepath.Join(dir, EventsFolder, name))
		require.NoError(t, err)
		e, err := ReadEvent(data)
		require.NoError(t, err, name)
		seen[e.Prompt] = true
	}
	assert.Len(t, seen, 50)
}

func TestP10_StateFolderIsNotMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "absent")
	require.ErrorIs(t, WriteEvent(dir, someEvent(time.Now())), fs.ErrNotExist)
	_, err := WriteBinding(dir, someBinding())
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.NoDirExists(t, dir)
}

func TestP10_UnchangedBindingIsNotRewritten(t *testing.T) {
	dir := t.TempDir()
	b := someBinding()
	written, err := WriteBinding(dir, b)
	require.NoError(t, err)
	require.True(t, written)
	path := filepath.Join(dir, BindingsFolder, "ab-cd-12-34.json")
	old := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(path, old, old))

	written, err = WriteBinding(dir, b)
	require.NoError(t, err)
	assert.False(t, written)
	info, err := os.Stat(path)
	require.NoError(t, err)
	assert.True(t, old.Equal(info.ModTime()))

	b.SessionID = "28321f8e-c585-4737-998c-d48a37a75560"
	written, err = WriteBinding(dir, b)
	require.NoError(t, err)
	assert.True(t, written)
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	got, err := ReadBinding(data)
	require.NoError(t, err)
	assert.Equal(t, b, got)
	assert.Equal(t, []string{"ab-cd-12-34.json"}, files(t, filepath.Join(dir, BindingsFolder)), "no temporary file stays")
}

func TestWriteBinding_BrokenFileIsReplaced(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, BindingsFolder, someBinding().Name())
	require.NoError(t, os.Mkdir(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(`{"version":1`), 0o600))
	written, err := WriteBinding(dir, someBinding())
	require.NoError(t, err)
	assert.True(t, written)
}

func TestWriteBinding_Refused(t *testing.T) {
	tests := []struct {
		name   string
		change func(*Binding)
	}{
		{"no process", func(b *Binding) { b.PID = 0 }},
		{"no boot", func(b *Binding) { b.Boot = "" }},
		{"boot that is a path", func(b *Binding) { b.Boot = "../a" }},
		{"no session", func(b *Binding) { b.SessionID = "" }},
		{"other version", func(b *Binding) { b.Version = 2 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			b := someBinding()
			tt.change(&b)
			_, err := WriteBinding(dir, b)
			require.ErrorIs(t, err, ErrMalformed)
			assert.Empty(t, files(t, dir))
		})
	}
}

func TestReadEvent_Malformed(t *testing.T) {
	tests := []struct{ name, in string }{
		{"nothing", ``},
		{"later version", `{"version":2,"name":"Stop","received":"2026-01-02T03:04:05Z","session_id":"` + someID + `"}`},
		{"no name", `{"version":1,"received":"2026-01-02T03:04:05Z","session_id":"` + someID + `"}`},
		{"no time", `{"version":1,"name":"Stop","session_id":"` + someID + `"}`},
		{"a time that no record can hold", `{"version":1,"name":"Stop","received":"9999-12-31T23:59:59-01:00","session_id":"` + someID + `"}`},
		{"bad time", `{"version":1,"name":"Stop","received":"yesterday","session_id":"` + someID + `"}`},
		{"negative pid", `{"version":1,"name":"Stop","received":"2026-01-02T03:04:05Z","claude_pid":-1,"session_id":"` + someID + `"}`},
		{"no session", `{"version":1,"name":"Stop","received":"2026-01-02T03:04:05Z"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadEvent([]byte(tt.in))
			assert.ErrorIs(t, err, ErrMalformed)
		})
	}
}

func TestEventTime_ForeignName(t *testing.T) {
	for _, name := range []string{"", "x.json", "20260102-1.json"} {
		_, ok := EventTime(name)
		assert.False(t, ok, name)
	}
}
