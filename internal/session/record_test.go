package session

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/talk"
)

// filled is a record in which every field holds something: a field that is
// added later is filled too, so no test here can forget it.
func filled(t *testing.T) Record {
	var r Record
	n := 0
	fill(t, reflect.ValueOf(&r).Elem(), &n)
	r.ID, r.Version, r.State, r.Final, r.RestoredFrom = uuid.New(), Version, Running, Archived, Lost
	r.AgentName = "other"
	r.unknown = map[string]json.RawMessage{"colour": json.RawMessage(`{"of":"later"}`)}
	require.NoError(t, r.check())
	return r
}

func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch {
	case !v.CanSet():
		return // unexported
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(noon.Add(time.Duration(*n) * time.Second)))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("text " + string(rune('a'+*n%26)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint64, reflect.Uint8:
		v.SetUint(uint64(*n % 200))
	case reflect.Float64:
		v.SetFloat(float64(*n) / 4)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 4)) // with room: an append must not show either
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.SetMapIndex(key, value)
	default:
		t.Fatalf("fill does not know %s: teach it, and see that Clone copies it", v.Type())
	}
}

// shared compares two records and returns the paths at which they hold the same memory.
func shared(path string, a, b reflect.Value, seen *int) (found []string) {
	switch a.Type() {
	case reflect.TypeFor[time.Time](), reflect.TypeFor[json.RawMessage]():
		return nil // a location, and an unknown field's text, are shared and never changed in place
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			found = append(found, shared(path+"."+a.Type().Field(i).Name, a.Field(i), b.Field(i), seen)...)
		}
	case reflect.Pointer, reflect.Slice, reflect.Map:
		*seen++
		if !a.IsNil() && a.Pointer() == b.Pointer() {
			return []string{path}
		}
	}
	switch a.Kind() {
	case reflect.Pointer:
		if !a.IsNil() {
			found = append(found, shared(path, a.Elem(), b.Elem(), seen)...)
		}
	case reflect.Slice:
		for i := range a.Len() {
			found = append(found, shared(path+"[]", a.Index(i), b.Index(i), seen)...)
		}
	case reflect.Map:
		for _, k := range a.MapKeys() {
			found = append(found, shared(path+"{}", a.MapIndex(k), b.MapIndex(k), seen)...)
		}
	}
	return found
}

func TestCloneIsDeep(t *testing.T) {
	r := filled(t)
	c := r.Clone()
	assert.Equal(t, r, c)
	seen := 0
	assert.Empty(t, shared("Record", reflect.ValueOf(r), reflect.ValueOf(c), &seen))
	assert.GreaterOrEqual(t, seen, 9, "the walk must reach the slices and pointers")
}

func TestCloneOfTheZeroRecord(t *testing.T) {
	assert.Equal(t, Record{}, Record{}.Clone())
}

// The walk itself must find what a shallow copy shares.
func TestSharedFindsAShallowCopy(t *testing.T) {
	r := filled(t)
	seen := 0
	found := shared("Record", reflect.ValueOf(r), reflect.ValueOf(r), &seen)
	assert.Subset(t, found, []string{"Record.Run.Binding", "Record.Prompts", "Record.unknown", "Record.Closing.Cleanup"})
}

// Every field reaches the file and comes back: a tag that is missing or doubled
// shows here.
func TestP8_FieldsSurviveFile(t *testing.T) {
	r := filled(t)
	data, err := json.Marshal(r)
	require.NoError(t, err)
	var back Record
	require.NoError(t, json.Unmarshal(data, &back))
	assert.Equal(t, r, back)
	for _, f := range reflect.VisibleFields(reflect.TypeFor[Record]()) {
		if f.IsExported() && !f.Anonymous {
			assert.NotEmpty(t, f.Tag.Get("json"), "field %s has no name in the file", f.Name)
		}
	}
}

func TestCursorIsTheLast(t *testing.T) {
	var r Record
	_, ok := r.Cursor()
	assert.False(t, ok)
	r.Cursors = []talk.Cursor{{Path: "/a"}, {Path: "/b", Offset: 3}}
	c, ok := r.Cursor()
	assert.True(t, ok)
	assert.Equal(t, talk.Cursor{Path: "/b", Offset: 3}, c)
}

// The files in testdata are of the program whose record had no parts: parts change no byte.
func TestPartsChangeNoByte(t *testing.T) {
	for _, name := range []string{"full", "sparse"} {
		want, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		require.NoError(t, err)
		var r Record
		require.NoError(t, json.Unmarshal(want, &r))
		assert.Len(t, r.unknown, 1, name)
		got, err := json.MarshalIndent(r, "", "  ")
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got)+"\n")
	}
}
