package session

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/port/talk"
)

func (f storeFolders) openReadOnly(t *testing.T) *Store {
	t.Helper()
	s, err := OpenReadOnly(f.dir, func() time.Time { return noon.Add(time.Hour) }, slog.New(slog.NewTextHandler(f.log, nil)), nil)
	require.NoError(t, err)
	return s
}

// listing is all that a change of a folder would show: names, kinds, dates, bytes.
func listing(t *testing.T, dir string) (lines []string) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		require.NoError(t, err)
		line := fmt.Sprint(path, " ", info.Mode(), " ", info.ModTime())
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			line += " " + string(data)
		}
		lines = append(lines, line)
		return nil
	}))
	return lines
}

// putOddities adds files that are not records, and returns the expected reports.
func (f storeFolders) putOddities(t *testing.T) []Unloaded {
	t.Helper()
	newer, broken := uuid.MustParse("00000000-0000-7000-8000-000000000001"), uuid.MustParse("00000000-0000-7000-8000-000000000002")
	pipe := uuid.MustParse("00000000-0000-7000-8000-000000000003")
	f.put(t, file(newer), fmt.Sprintf(`{"version":%d,"id":5}`, Version+1))
	f.put(t, file(broken), `{"version":`)
	f.put(t, "notes.json", `{"version":2}`)
	f.put(t, "00000000-0000-7000-8000-00000000000A.json", `{"version":2}`) // not as an id is written
	f.put(t, ".tmp.json", "{")
	f.put(t, "README", "")
	require.NoError(t, syscall.Mkfifo(filepath.Join(f.dir, file(pipe)), 0o600))
	return []Unloaded{
		{File: file(newer), ID: newer, Why: fmt.Sprintf("it has version %d, and this ccbot reads version %d", Version+1, Version)},
		{File: file(broken), ID: broken, Why: "unexpected end of JSON input"},
		{File: file(pipe), ID: pipe, Why: "not a regular file of this user"},
		{File: "00000000-0000-7000-8000-00000000000A.json", Why: "id is missing"},
		{File: "notes.json", Why: "id is missing"},
	}
}

func assertAside(t *testing.T, want, got []Unloaded) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		assert.Contains(t, got[i].Why, want[i].Why)
		want[i].Why, got[i].Why = "", ""
	}
	assert.Equal(t, want, got)
}

func TestP8_OpenTellsWhatItSetAside(t *testing.T) {
	f := newFolders(t)
	good := created(t, f.open(t))
	assert.Empty(t, f.open(t).Unloaded())
	want := f.putOddities(t)
	s := f.open(t)
	assertAside(t, want, s.Unloaded())
	s.Unloaded()[0].File = "changed"
	assert.Equal(t, want[0].File, s.Unloaded()[0].File, "it is a copy")
	_, ok := s.Get(good.ID)
	assert.True(t, ok)
	assert.Len(t, f.quarantined(t), 5)

	s = f.open(t)
	assert.Empty(t, s.Unloaded(), "what is in quarantine is told once")
}

func TestP8_ReadOnlyStoreMovesNothing(t *testing.T) {
	f := newFolders(t)
	good := created(t, f.open(t))
	want := f.putOddities(t)
	before := listing(t, filepath.Dir(f.dir))
	s := f.openReadOnly(t)
	assertAside(t, want, s.Unloaded())
	require.Len(t, s.List(), 1)
	got, ok := s.Get(good.ID)
	require.True(t, ok)
	assert.Equal(t, good.AgentSessionID, got.AgentSessionID)
	assert.Equal(t, before, listing(t, filepath.Dir(f.dir)))
	assert.NotContains(t, f.log.String(), "moved_to")
}

func TestP8_ReadOnlyStoreCreatesNoFolder(t *testing.T) {
	f := newFolders(t)
	assert.Empty(t, f.openReadOnly(t).List())
	assert.NoDirExists(t, f.dir)
	_, err := OpenReadOnly(filepath.Join(os.DevNull, "sessions"), time.Now, slog.New(slog.DiscardHandler), nil)
	assert.Error(t, err, "a folder that cannot be read is not an empty one")
}

func TestP8_ReadOnlyStoreRefusesChanges(t *testing.T) {
	f := newFolders(t)
	owner := f.open(t)
	r := created(t, owner)
	before := listing(t, f.dir)
	s := f.openReadOnly(t)
	tests := []struct {
		name   string
		change func() error
	}{
		{"create", func() error { return s.Create(record()) }},
		{"save", func() error {
			return s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
				r.Name = "new"
				return save()
			})
		}},
		{"remove", func() error { return s.Remove(r.ID) }},
		{"purge", func() error {
			_, err := s.Purge(t.Context(), r.ID, func(Record) (bool, error) { t.Error("asked"); return true, nil })
			return err
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			require.ErrorIs(t, tt.change(), errReadOnly)
			got, ok := s.Get(r.ID)
			require.True(t, ok)
			assert.Equal(t, "api", got.Name)
			assert.Len(t, s.List(), 1)
			assert.Equal(t, before, listing(t, f.dir))
		})
	}
	assert.NoError(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error { return nil }), "looking is no change")
	assert.NoError(t, owner.Do(t.Context(), r.ID, func(_ *Record, save func() error) error { return save() }), "the owner goes on")
}

// An edited file may contain an ended session with an agent: it counts as an earlier agent, whose
// end a restore must see.
func TestP1_EndedSessionHasNoAgent(t *testing.T) {
	agent := process.Identity{PID: 7, Start: 8, Boot: "b"}
	for _, state := range States() {
		f := newFolders(t)
		r := record()
		r.State, r.Binding = state, &Binding{Agent: agent, BoundAt: noon}
		r.Cursors = []talk.Cursor{{Path: "/t", Offset: -1, Block: -2, Part: -3}}
		f.put(t, r.ID.String()+".json", text(t, r))
		got, ok := f.open(t).Get(r.ID)
		require.True(t, ok)
		if state.Live() || state == CleanupFailed {
			assert.NotNil(t, got.Binding, state)
		} else {
			assert.Nil(t, got.Binding, state)
			assert.Equal(t, []process.Identity{agent}, got.Bound, state)
		}
		assert.Equal(t, []talk.Cursor{{Path: "/t"}}, got.Cursors, "no reader stumbles over it")
	}
}
