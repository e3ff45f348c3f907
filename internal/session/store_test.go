package session

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
)

type storeFolders struct {
	dir, quarantine string
	log             *bytes.Buffer
}

func newFolders(t *testing.T) storeFolders {
	base := t.TempDir()
	return storeFolders{filepath.Join(base, "sessions"), filepath.Join(base, "quarantine"), &bytes.Buffer{}}
}

func (f storeFolders) open(t *testing.T) *Store {
	t.Helper()
	s, err := Open(f.dir, f.quarantine, func() time.Time { return noon }, slog.New(slog.NewTextHandler(f.log, nil)), []string{"other"})
	require.NoError(t, err)
	return s
}

func (f storeFolders) put(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(f.dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(f.dir, name), []byte(content), 0o600))
}

// quarantined returns the names in quarantine without the files of reasons and the marks of
// unreported files.
func (f storeFolders) quarantined(t *testing.T) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(f.quarantine)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	require.NoError(t, err)
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".reason") && !strings.HasSuffix(e.Name(), ".untold") {
			names = append(names, e.Name())
		}
	}
	return names
}

// The directories of records that were not loaded are known, or any directory may be one.
func TestUnreadIn(t *testing.T) {
	id, other := uuid.New(), uuid.New()
	inAPI := func(dir string) bool { return dir == "/src/api" }
	for _, tt := range []struct {
		name          string
		file, content string
		want          bool
	}{
		{"of another version", id.String() + ".json", `{"version":99,"dir":"/src/api"}`, true},
		{"of another version, elsewhere", id.String() + ".json", `{"version":99,"dir":"/src/web"}`, false},
		{"of an unknown agent", id.String() + ".json", `{"version":2,"agent_name":"third","dir":"/src/api"}`, true},
		{"damaged", id.String() + ".json", `{"version":2,"dir":"/src/api","state":`, true},
		{"damaged, elsewhere", id.String() + ".json", `{"version":2,"dir":"/src/web","state":`, false},
		{"without a directory", id.String() + ".json", ``, true},
		{"with another name", "api.json", `{"version":2,"dir":"/src/api"}`, true},
		{"no record", "notes.txt", `x`, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFolders(t)
			f.put(t, tt.file, tt.content)
			assert.Equal(t, tt.want, f.open(t).UnreadIn(inAPI))
			assert.Equal(t, tt.want, f.open(t).UnreadIn(inAPI), "it may be in quarantine since an earlier start")
			f.put(t, tt.file, tt.content)
			assert.Equal(t, tt.want, f.open(t).UnreadIn(inAPI), "twice")
		})
	}
	f := newFolders(t)
	f.put(t, other.String()+".json", ``)
	s := f.open(t)
	require.True(t, s.UnreadIn(inAPI))
	back := record()
	back.ID = other
	require.NoError(t, s.Create(back))
	assert.False(t, s.UnreadIn(inAPI), "a person has brought it back")
}

func record() Record {
	return Record{Version: Version, ID: uuid.New(), Name: "api", Dir: "/src/api", State: Starting, AgentSessionID: uuid.New(), CreatedAt: noon}
}

func created(t *testing.T, s *Store) Record {
	t.Helper()
	r := record()
	require.NoError(t, s.Create(r))
	return r
}

func text(t *testing.T, r Record) string {
	t.Helper()
	data, err := json.Marshal(r)
	require.NoError(t, err)
	return string(data)
}

func TestCreateIsOnDiskAndLoads(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := filled(t)
	require.NoError(t, s.Create(r))
	info, err := os.Stat(filepath.Join(f.dir, r.ID.String()+".json"))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())

	got, ok := f.open(t).Get(r.ID)
	require.True(t, ok)
	r.UpdatedAt, r.ActiveAt = noon, noon
	assert.JSONEq(t, text(t, r), text(t, got))
	assert.Error(t, s.Create(r), "an id is created once")
}

// A save is a sign of life unless it is upkeep.
func TestUpkeepIsNoSignOfLife(t *testing.T) {
	f := newFolders(t)
	r := created(t, f.open(t))
	path := filepath.Join(f.dir, file(r.ID))
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	old := strings.Replace(string(data), `"active_at": "2026-03-04T12:00:00Z"`, `"active_at": "2026-03-04T11:00:00Z"`, 1)
	require.NotEqual(t, string(data), old)
	f.put(t, file(r.ID), old)
	s := f.open(t)
	require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		assert.Equal(t, noon.Add(-time.Hour), r.ActiveAt)
		r.Upkeep()
		return save()
	}))
	kept, _ := f.open(t).Get(r.ID)
	assert.Equal(t, noon.Add(-time.Hour), kept.ActiveAt)
	assert.Equal(t, noon, kept.UpdatedAt)
	require.NoError(t, s.Do(t.Context(), r.ID, func(_ *Record, save func() error) error { return save() }))
	now, _ := s.Get(r.ID)
	assert.Equal(t, noon, now.ActiveAt)
}

func TestCreateRefusesAnUnusableRecord(t *testing.T) {
	tests := []struct {
		name    string
		corrupt func(*Record)
	}{
		{"no id", func(r *Record) { r.ID = uuid.Nil }},
		{"no state", func(r *Record) { r.State = "" }},
		{"unknown state", func(r *Record) { r.State = "paused" }},
		{"no dir", func(r *Record) { r.Dir = "" }},
		{"no claude id", func(r *Record) { r.AgentSessionID = uuid.Nil }},
		{"no creation time", func(r *Record) { r.CreatedAt = time.Time{} }},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := newFolders(t)
			s := f.open(t)
			r := record()
			tc.corrupt(&r)
			assert.Error(t, s.Create(r))
			assert.Empty(t, s.List())
			entries, err := os.ReadDir(f.dir)
			require.NoError(t, err)
			assert.Empty(t, entries)
		})
	}
}

func TestP8_UnreadableRecordsAreQuarantined(t *testing.T) {
	id := uuid.New()
	with := func(change func(m map[string]any)) string {
		r := record()
		r.ID = id
		r.Binding = &Binding{BoundAt: noon}
		var m map[string]any
		require.NoError(t, json.Unmarshal([]byte(text(t, r)), &m))
		change(m)
		data, err := json.Marshal(m)
		require.NoError(t, err)
		return string(data)
	}
	whole := with(func(map[string]any) {})
	tests := []struct{ name, content string }{
		{"empty", ""},
		{"truncated", whole[:len(whole)/2]},
		{"NUL bytes, as after a power cut", strings.Repeat("\x00", 512)},
		{"NUL bytes at the end", whole + "\x00\x00"},
		{"two objects", whole + whole},
		{"null", "null"},
		{"not an object", "[]"},
		{"another id than its name", with(func(m map[string]any) { m["id"] = uuid.NewString() })},
		{"id is no UUID", with(func(m map[string]any) { m["id"] = "x" })},
		{"unknown state", with(func(m map[string]any) { m["state"] = "paused" })},
		{"an earlier version", with(func(m map[string]any) { m["version"] = Version - 1 })},
		{"no version", with(func(m map[string]any) { delete(m, "version") })},
		{"version is text", with(func(m map[string]any) { m["version"] = "two" })},
		{"time without zone", with(func(m map[string]any) { m["created_at"] = "2026-03-04T12:00:00" })},
		{"time as number", with(func(m map[string]any) { m["created_at"] = 1772625600 })},
		{"date only", with(func(m map[string]any) { m["updated_at"] = "2026-03-04" })},
		{"empty time", with(func(m map[string]any) { m["ended_at"] = "" })},
		{"bad time inside", with(func(m map[string]any) { m["binding"].(map[string]any)["bound_at"] = "yesterday" })},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := newFolders(t)
			good := created(t, f.open(t))
			name := id.String() + ".json"
			f.put(t, name, tc.content)

			s := f.open(t)
			list := s.List()
			require.Len(t, list, 1)
			assert.Equal(t, good.ID, list[0].ID)
			assert.NoFileExists(t, filepath.Join(f.dir, name))
			set := f.quarantined(t)
			require.Len(t, set, 1)
			assert.Contains(t, set[0], name)
			kept, err := os.ReadFile(filepath.Join(f.quarantine, set[0]))
			require.NoError(t, err)
			assert.Equal(t, tc.content, string(kept), "nothing of it is changed")
			reason, err := os.ReadFile(filepath.Join(f.quarantine, set[0]+".reason"))
			require.NoError(t, err)
			assert.NotEmpty(t, strings.TrimSpace(string(reason)))
			assert.Contains(t, f.log.String(), "file_unreadable")

			assert.Len(t, f.open(t).List(), 1)
			assert.Len(t, f.quarantined(t), 1, "opening again changes nothing")
		})
	}
}

func TestP8_QuarantineReplacesNothing(t *testing.T) {
	f := newFolders(t) // its clock does not advance
	name := uuid.NewString() + ".json"
	for _, content := range []string{"first", "second"} {
		f.put(t, name, content)
		f.open(t)
	}
	var kept []string
	for _, n := range f.quarantined(t) {
		data, err := os.ReadFile(filepath.Join(f.quarantine, n))
		require.NoError(t, err)
		kept = append(kept, string(data))
	}
	assert.ElementsMatch(t, []string{"first", "second"}, kept)
}

func TestOnlyRegularFilesAreRead(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "elsewhere.json")
	tests := []struct {
		name string
		make func(t *testing.T, path string, content string)
	}{
		{"symlink to a good record", func(t *testing.T, path, content string) {
			require.NoError(t, os.WriteFile(elsewhere, []byte(content), 0o600))
			require.NoError(t, os.Symlink(elsewhere, path))
		}},
		{"directory", func(t *testing.T, path, _ string) { require.NoError(t, os.Mkdir(path, 0o700)) }},
		{"pipe", func(t *testing.T, path, _ string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }},
		{"huge", func(t *testing.T, path, content string) {
			require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
			require.NoError(t, os.Truncate(path, spool.DefaultMaxSize+1)) // sparse
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			f := newFolders(t)
			good := created(t, f.open(t))
			r := record()
			tc.make(t, filepath.Join(f.dir, r.ID.String()+".json"), text(t, r))
			s := f.open(t)
			_, ok := s.Get(r.ID)
			assert.False(t, ok)
			_, ok = s.Get(good.ID)
			assert.True(t, ok)
			if tc.name != "directory" { // it is not a file: it stays in place
				assert.Len(t, f.quarantined(t), 1)
			}
		})
	}
}

func TestForeignNamesAreLeftAlone(t *testing.T) {
	f := newFolders(t)
	names := []string{".tmp-1234.json", ".hidden", "notes.txt", "README"}
	for _, name := range names {
		f.put(t, name, "not a record")
	}
	assert.Empty(t, f.open(t).List())
	for _, name := range names {
		assert.FileExists(t, filepath.Join(f.dir, name))
	}
	assert.Empty(t, f.quarantined(t))
}

func TestP8_UnknownFieldsSurviveARewrite(t *testing.T) {
	f := newFolders(t)
	r := record()
	var m map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &m))
	later := map[string]string{
		"mood": `"good"`, "big": `12345678901234567890123`, "deep": `{"a":[1,{"b":null}]}`, "nothing": `null`, "unknown": `1.50`,
	}
	for name, value := range later {
		m[name] = json.RawMessage(value)
	}
	data, err := json.Marshal(m)
	require.NoError(t, err)
	f.put(t, r.ID.String()+".json", string(data))

	for range 2 { // a rewrite of a rewrite too
		s := f.open(t)
		require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
			r.Name += "!"
			return save()
		}))
	}
	data, err = os.ReadFile(filepath.Join(f.dir, r.ID.String()+".json"))
	require.NoError(t, err)
	var back map[string]json.RawMessage
	require.NoError(t, json.Unmarshal(data, &back))
	for name, value := range later {
		var want, got bytes.Buffer
		require.NoError(t, json.Compact(&want, []byte(value)))
		require.NoError(t, json.Compact(&got, back[name]), name)
		assert.Equal(t, want.String(), got.String(), name)
	}
	assert.Equal(t, `"api!!"`, string(back["name"]))
}

// A known name among the unknown ones would write a field twice.
func TestUnknownFieldsDoNotShadowKnown(t *testing.T) {
	r := record()
	r.unknown = map[string]json.RawMessage{"name": json.RawMessage(`"forged"`), "x": json.RawMessage(`1`)}
	var back map[string]any
	require.NoError(t, json.Unmarshal([]byte(text(t, r)), &back))
	assert.Equal(t, "api", back["name"])
	assert.Equal(t, 1.0, back["x"])
}

func TestListIsOldestFirst(t *testing.T) {
	s := newFolders(t).open(t)
	var want []uuid.UUID
	for i := range 5 {
		r := record()
		r.CreatedAt = noon.Add(time.Duration(5-i) * time.Hour)
		require.NoError(t, s.Create(r))
		want = append([]uuid.UUID{r.ID}, want...)
	}
	var got []uuid.UUID
	for _, r := range s.List() {
		got = append(got, r.ID)
	}
	assert.Equal(t, want, got)
}

// scramble changes everything a copy reaches, in place.
func scramble(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type() != reflect.TypeFor[time.Time]() {
				scramble(v.Field(i))
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			scramble(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scramble(v.Index(i))
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			if v.CanSet() {
				v.SetMapIndex(k, reflect.Value{})
			}
		}
	default:
		if v.CanSet() {
			v.SetZero()
		}
	}
}

func TestP8_CopiesDoNotReachTheStore(t *testing.T) {
	tests := []struct {
		name string
		copy func(t *testing.T, s *Store, created *Record) *Record
	}{
		{"what was given to Create", func(_ *testing.T, _ *Store, r *Record) *Record { return r }},
		{"Get", func(t *testing.T, s *Store, r *Record) *Record {
			c, ok := s.Get(r.ID)
			require.True(t, ok)
			return &c
		}},
		{"List", func(_ *testing.T, s *Store, _ *Record) *Record { return &s.List()[0] }},
		{"what Do worked on", func(t *testing.T, s *Store, r *Record) *Record {
			var c *Record
			require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
				c = r
				return save()
			}))
			return c
		}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			s := newFolders(t).open(t)
			r := filled(t)
			id := r.ID
			require.NoError(t, s.Create(r))
			before, _ := s.Get(id)
			want := text(t, before)
			scramble(reflect.ValueOf(tc.copy(t, s, &r)).Elem())
			after, ok := s.Get(id)
			require.True(t, ok)
			assert.Equal(t, want, text(t, after))
		})
	}
}

func TestP8_UnsavedChangesAreDropped(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := created(t, s)
	broken := errors.New("broken")
	err := s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		r.Name = "saved"
		require.NoError(t, save())
		r.Name, r.Prompts = "not saved", []string{"k"}
		return broken
	})
	assert.ErrorIs(t, err, broken)
	for name, store := range map[string]*Store{"memory": s, "disk": f.open(t)} {
		got, _ := store.Get(r.ID)
		assert.Equal(t, "saved", got.Name, name)
		assert.Empty(t, got.Prompts, name)
	}
}

func TestP8_FailedSaveKeepsOldValue(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r := created(t, s)
	away := f.dir + ".away"
	err := s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		require.NoError(t, os.Rename(f.dir, away)) // fails for root too, unlike a read-only folder
		require.NoError(t, os.WriteFile(f.dir, nil, 0o600))
		r.Name = "new"
		return save()
	})
	require.Error(t, err)
	require.NoError(t, os.Remove(f.dir))
	require.NoError(t, os.Rename(away, f.dir))
	for name, store := range map[string]*Store{"memory": s, "disk": f.open(t)} {
		got, ok := store.Get(r.ID)
		require.True(t, ok, name)
		assert.Equal(t, "api", got.Name, name)
	}
	require.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		r.Name = "later"
		return save()
	}), "the worker is free again")
	entries, err := os.ReadDir(f.dir)
	require.NoError(t, err)
	assert.Len(t, entries, 1, "no temporary file stays")
}

func TestSaveRefusesAnUnusableRecord(t *testing.T) {
	s := newFolders(t).open(t)
	r := created(t, s)
	assert.Error(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		r.State = "paused"
		return save()
	}))
	got, _ := s.Get(r.ID)
	assert.Equal(t, Starting, got.State)
}

// The worker of one record must not write another one's file.
func TestSaveRefusesAnotherID(t *testing.T) {
	s := newFolders(t).open(t)
	r, other := created(t, s), created(t, s)
	assert.Error(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
		r.ID, r.Name = other.ID, "stolen"
		return save()
	}))
	got, _ := s.Get(other.ID)
	assert.Equal(t, "api", got.Name)
}

func TestP8_RecordChangesAreSerialized(t *testing.T) {
	s := newFolders(t).open(t)
	r := created(t, s)
	var inside atomic.Int32
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() {
			assert.NoError(t, s.Do(t.Context(), r.ID, func(r *Record, save func() error) error {
				assert.Equal(t, int32(1), inside.Add(1))
				defer inside.Add(-1)
				r.Owner++
				r.Prompts = append(r.Prompts, fmt.Sprint(i))
				return save()
			}))
		})
		wg.Go(func() { s.List(); s.Get(r.ID) })
	}
	wg.Wait()
	got, _ := s.Get(r.ID)
	assert.Equal(t, int64(50), got.Owner, "no change is lost")
	assert.Len(t, got.Prompts, 50)
}

func TestOtherRecordsAreNotBlocked(t *testing.T) {
	s := newFolders(t).open(t)
	slow, fast := created(t, s), created(t, s)
	require.NoError(t, s.Do(t.Context(), slow.ID, func(*Record, func() error) error {
		return s.Do(t.Context(), fast.ID, func(_ *Record, save func() error) error { return save() })
	}))
}

func TestWorkerWaitEndsWithContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newFolders(t).open(t)
		r := created(t, s)
		ctx, cancel := context.WithCancel(t.Context())
		release, waited := make(chan struct{}), make(chan error, 1)
		var holder sync.WaitGroup
		holder.Go(func() {
			assert.NoError(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error { <-release; return nil }))
		})
		synctest.Wait()
		holder.Go(func() {
			waited <- s.Do(ctx, r.ID, func(*Record, func() error) error { t.Error("ran beside another"); return nil })
		})
		synctest.Wait()
		cancel()
		assert.ErrorIs(t, <-waited, context.Canceled)
		close(release)
		holder.Wait()
		assert.NoError(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error { return nil }))
	})
}

func TestPanicFreesWorker(t *testing.T) {
	s := newFolders(t).open(t)
	r := created(t, s)
	assert.Panics(t, func() {
		_ = s.Do(t.Context(), r.ID, func(*Record, func() error) error { panic("oh") })
	})
	assert.NoError(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error { return nil }))
}

func TestDoOfAnUnknownRecord(t *testing.T) {
	s := newFolders(t).open(t)
	err := s.Do(t.Context(), uuid.New(), func(*Record, func() error) error { t.Error("ran"); return nil })
	assert.ErrorIs(t, err, ErrNotFound)
	_, ok := s.Get(uuid.New())
	assert.False(t, ok)
}

func TestRemove(t *testing.T) {
	f := newFolders(t)
	s := f.open(t)
	r, other := created(t, s), created(t, s)
	require.NoError(t, s.Remove(r.ID))
	require.NoError(t, s.Remove(r.ID), "what is gone is gone")
	for name, store := range map[string]*Store{"memory": s, "disk": f.open(t)} {
		list := store.List()
		require.Len(t, list, 1, name)
		assert.Equal(t, other.ID, list[0].ID, name)
	}
	assert.ErrorIs(t, s.Do(t.Context(), r.ID, func(*Record, func() error) error { return nil }), ErrNotFound)
}

// A change that was waiting or running must not bring a removed record back.
func TestP8_RemoveWaitsForTheWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFolders(t)
		s := f.open(t)
		r := created(t, s)
		release := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			assert.NoError(t, s.Do(t.Context(), r.ID, func(_ *Record, save func() error) error { <-release; return save() }))
		})
		synctest.Wait()
		wg.Go(func() { assert.NoError(t, s.Remove(r.ID)) })
		synctest.Wait()
		close(release)
		wg.Wait()
		assert.Empty(t, s.List())
		assert.Empty(t, f.open(t).List())
	})
}

func TestOpenFailsWithoutFolder(t *testing.T) {
	base := t.TempDir()
	file := filepath.Join(base, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	now := func() time.Time { return noon }
	_, err := Open(filepath.Join(file, "sessions"), base, now, slog.New(slog.DiscardHandler), nil)
	assert.Error(t, err)

	// A quarantine that cannot be made: Open must fail, or the file would be overwritten.
	dir := filepath.Join(base, "sessions")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	bad := filepath.Join(dir, uuid.NewString()+".json")
	require.NoError(t, os.WriteFile(bad, []byte("{"), 0o600))
	_, err = Open(dir, filepath.Join(file, "quarantine"), now, slog.New(slog.DiscardHandler), nil)
	assert.Error(t, err)
	assert.FileExists(t, bad)
}

// FuzzRecord: reading any file does not panic, and the result is usable and reads the same after a
// rewrite.
func FuzzRecord(f *testing.F) {
	r := record()
	data, _ := json.Marshal(r)
	f.Add(data)
	f.Add([]byte(`{"version":9}`))
	f.Add([]byte(strings.Repeat("\x00", 8)))
	f.Add([]byte(`{"version":2,"ID":"x","binding":null,"history":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var r Record
		if json.Unmarshal(data, &r) != nil {
			return
		}
		require.NoError(t, r.check())
		again, err := json.Marshal(r)
		require.NoError(t, err)
		var back Record
		require.NoError(t, json.Unmarshal(again, &back))
		third, err := json.Marshal(back)
		require.NoError(t, err)
		require.JSONEq(t, string(again), string(third))
	})
}
