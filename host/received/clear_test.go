package received

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func (w *world) boxes(t *testing.T, dirs ...string) []Box {
	t.Helper()
	all, err := Boxes(w.records, dirs)
	require.NoError(t, err)
	return all
}

func TestClearRemovesRecordedFiles(t *testing.T) {
	w := newWorld(t)
	w.put(t, "1", "a.txt", "one")
	w.put(t, "2", "b.txt", "two")
	assert.Equal(t, []Box{{Dir: w.dir, Recorded: 2}}, w.boxes(t, w.dir))
	require.NoError(t, w.Clear(nil))
	assert.NoDirExists(t, w.path(""))
	assert.Zero(t, w.noted(t))
	assert.Empty(t, w.boxes(t, w.dir))
	require.NoError(t, w.Clear([]string{w.dir, filepath.Join(w.dir, "gone")}), "once more")
}

// TestClearRemovesEmptyFolder whose files were removed by their age.
func TestClearRemovesEmptyFolder(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, os.Remove(w.path(w.put(t, "1", "a.txt", "one"))))
	require.NoError(t, w.Clear([]string{w.dir}))
	assert.NoDirExists(t, w.path(""))
}

// TestP2_ClearLeavesWhatIsNotOurs: a file that was changed, one that a person put there, another
// .gitignore, and what a link leads to.
func TestP2_ClearLeavesWhatIsNotOurs(t *testing.T) {
	w := newWorld(t)
	changed := w.put(t, "1", "a.txt", "one")
	w.put(t, "2", "b.txt", "two")
	require.NoError(t, os.WriteFile(w.path(changed), []byte("a person's"), 0o600))
	require.NoError(t, os.WriteFile(w.path("mine"), nil, 0o600))
	require.NoError(t, w.Clear(nil))
	assert.Equal(t, []Box{{Dir: w.dir, Others: []string{changed, "mine"}}}, w.boxes(t, w.dir))
	assert.FileExists(t, w.path(".gitignore"), "what stays is kept out of commits")

	require.NoError(t, os.Remove(w.path(changed)))
	require.NoError(t, os.Remove(w.path("mine")))
	require.NoError(t, os.WriteFile(w.path(".gitignore"), []byte("mine\n"), 0o600))
	require.NoError(t, w.Clear([]string{w.dir}))
	assert.Equal(t, []Box{{Dir: w.dir, Others: []string{".gitignore"}}}, w.boxes(t, w.dir))

	other, elsewhere := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, ".gitignore"), []byte(ignoreAll), 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(other, Folder)))
	assert.Len(t, w.boxes(t, other, w.dir), 1, "a link is no folder of ours")
	require.NoError(t, w.Clear([]string{other}))
	assert.FileExists(t, filepath.Join(elsewhere, ".gitignore"))
}

// TestP8_ClearContinues after a kill between a file and its record.
func TestP8_ClearContinues(t *testing.T) {
	w := newWorld(t)
	name := w.put(t, "1", "a.txt", "one")
	w.put(t, "2", "b.txt", "two")
	require.NoError(t, os.Remove(w.path(name)))
	w.again(t)
	require.NoError(t, w.Clear(nil))
	assert.NoDirExists(t, w.path(""))
	assert.Zero(t, w.noted(t))
}

// TestClearLeavesNewerRecords: only a newer ccbot knows which file such a record means.
func TestClearLeavesNewerRecords(t *testing.T) {
	w := newWorld(t)
	name := w.put(t, "1", "a.txt", "one")
	items, err := w.Store.records.List()
	require.NoError(t, err)
	path := filepath.Join(w.records, items[0])
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(strings.Replace(string(data), `"version":1`, `"version":2`, 1)), 0o600))
	_, err = Boxes(w.records, nil)
	require.ErrorContains(t, err, items[0])
	require.ErrorContains(t, w.Clear(nil), items[0])
	assert.FileExists(t, w.path(name))
}
