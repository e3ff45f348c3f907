package host

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/folders"
	"ccbot/port/refusal"
)

func TestList(t *testing.T) {
	d := newOpens(t)
	d.inside(t, "b c.txt", "hello")
	d.inside(t, "out/deep", "x")
	d.inside(t, "a\xff", "")
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600))
	l, err := d.List(t.Context(), d.records.one.ID, d.dir)
	require.NoError(t, err)
	assert.Equal(t, folders.Listing{Entries: []folders.Entry{{Name: "b c.txt", Size: 5}, {Name: "out", Dir: true}, {Name: "pipe"}}, NotText: 1}, l)
	l, err = d.List(t.Context(), d.records.one.ID, filepath.Join(d.dir, "out"))
	require.NoError(t, err)
	assert.Equal(t, []folders.Entry{{Name: "deep", Size: 1}}, l.Entries)
	for n := range 60 {
		d.inside(t, fmt.Sprintf("out/%02d", n), "x")
	}
	l, err = d.List(t.Context(), d.records.one.ID, filepath.Join(d.dir, "out"))
	require.NoError(t, err)
	assert.Len(t, l.Entries, mostListed)
	assert.Equal(t, 11, l.More)
}

// TestNameThatIsNoTextIsNoOtherFile: its bytes are U+FFFD in a message, and a file may have that name.
func TestNameThatIsNoTextIsNoOtherFile(t *testing.T) {
	d := newOpens(t)
	for _, name := range []string{"a\xff", "a\ufffd"} {
		d.inside(t, name, "x")
		d.inside(t, "in "+name+"/b", "x")
		for _, path := range []string{name, "in " + name + "/b"} {
			_, err := d.Open(t.Context(), d.records.one.ID, filepath.Join(d.dir, path))
			assert.True(t, refusal.Is(err, refusal.FileMissing), "%q: %v", path, err)
		}
		_, err := d.Resolve(t.Context(), d.dir, "in "+name)
		assert.True(t, refusal.Is(err, refusal.DirNotText), "%q: %v", name, err)
	}
	names, more, err := d.Children(t.Context(), d.dir, true)
	require.NoError(t, err)
	assert.Empty(t, names)
	assert.False(t, more)
}

func TestP9_ListOmissions(t *testing.T) {
	d := newOpens(t)
	d.inside(t, "file", "x")
	require.NoError(t, syscall.Mkfifo(filepath.Join(d.dir, "pipe"), 0o600))
	require.NoError(t, os.Symlink(d.elsewhere, filepath.Join(d.dir, "away")))
	for path, want := range map[string]refusal.Code{
		"api": refusal.FileRelative, d.elsewhere: refusal.FileOutside, filepath.Join(d.dir, "away"): refusal.FileOutside,
		d.Own.Dir: refusal.FileOwn, filepath.Join(d.dir, "none"): refusal.FileMissing,
		filepath.Join(d.dir, "file"): refusal.FileIrregular, filepath.Join(d.dir, "pipe"): refusal.FileIrregular,
	} {
		_, err := d.List(t.Context(), d.records.one.ID, path)
		assert.True(t, refusal.Is(err, want), "%s: %v", path, err)
	}
	d.workIn(filepath.Dir(d.dir)) // which has ccbot's own folder in it
	_, err := d.List(t.Context(), d.records.one.ID, d.Own.Dir)
	assert.True(t, refusal.Is(err, refusal.FileOwn))
}
