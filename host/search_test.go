package host

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/port/folders"
)

// far bounds no search of a test.
var far = folders.Extent{Folders: 1000, Depth: 100, Found: 100, Time: time.Minute}

// TestSearchFindsUnusedFolders finds repositories first, then what is nearer, and neither what a
// link leads to nor what is hidden or a dependency.
func TestSearchFindsUnusedFolders(t *testing.T) {
	base := tree(t, []string{"root/My-Api", "root/a/b/api/.git", "root/a/b/api/api-docs", "root/web/.git", "root/web/src/api", "root/.cache/api",
		"root/web/node_modules/api", "root2/old-API", "out/api"},
		map[string]string{"root/leads-out": "out", "root/api-link": "root2"})
	require.NoError(t, os.MkdirAll(filepath.Join(base, "root/linked-api"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/linked-api/.git"), []byte("gitdir: elsewhere\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(base, "root/api.txt"), nil, 0o600))
	at := func(names ...string) (all []string) {
		for _, name := range names {
			all = append(all, filepath.Join(base, name))
		}
		return all
	}
	m := &Machine{Home: base, Roots: at("root", "root2", "root/a")}
	found := searched(t, m, "aPi", far)
	assert.Equal(t, at("root/linked-api", "root/a/b/api", "root/My-Api", "root2/old-API", "root/web/src/api", "root/a/b/api/api-docs"), found.Dirs)
	assert.True(t, found.IsWhole())
	assert.Equal(t, at("root", "root2"), found.Roots, "one root is inside another")
	assert.Equal(t, at("root/web/src/api"), searched(t, m, "src/api", far).Dirs)

	m.Roots = nil
	found = searched(t, m, "out", far)
	assert.Equal(t, at("out"), found.Dirs)
	assert.Equal(t, []string{base}, found.Roots)
}

// TestSearchStaysInExtent reads no more than it may, and reports that it was cut.
func TestSearchStaysInExtent(t *testing.T) {
	base := tree(t, []string{"a/api", "b/api", "c/d/api"}, nil)
	m := &Machine{Home: base}
	for _, tt := range []struct {
		name  string
		most  folders.Extent
		found int
		read  int
	}{
		{"all", far, 3, 8},
		{"folders", folders.Extent{Folders: 2, Depth: 100, Found: 100}, 1, 2},
		{"depth", folders.Extent{Folders: 1000, Depth: 2, Found: 100}, 2, 4},
		{"found", folders.Extent{Folders: 1000, Depth: 100, Found: 1}, 1, 8},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.most.Time = time.Minute
			found := searched(t, m, "api", tt.most)
			assert.Len(t, found.Dirs, tt.found)
			assert.Equal(t, tt.read, found.Read)
			assert.Equal(t, tt.name == "all", found.IsWhole())
		})
	}
	slow := far
	slow.Time = 0
	found := searched(t, m, "api", slow)
	assert.True(t, found.Cut)
	assert.Empty(t, found.Dirs)
	over, end := context.WithCancel(t.Context())
	end()
	_, err := m.Search(over, "", "api", far)
	assert.ErrorIs(t, err, context.Canceled)
}

func searched(t *testing.T, m *Machine, part string, most folders.Extent) folders.Found {
	t.Helper()
	found, err := m.Search(t.Context(), "", part, most)
	require.NoError(t, err)
	return found
}

// TestSearchReportsUnreadableFolders does not take what it cannot read for empty.
func TestSearchReportsUnreadableFolders(t *testing.T) {
	base := tree(t, []string{"root/open/api"}, nil)
	m := &Machine{Home: base, Roots: []string{filepath.Join(base, "root"), filepath.Join(base, "none")}}
	found := searched(t, m, "api", far)
	assert.Equal(t, []string{filepath.Join(base, "root/open/api")}, found.Dirs)
	assert.Equal(t, 1, found.Unreadable, "a root that does not exist")
	assert.False(t, found.IsWhole())
	if os.Getuid() == 0 {
		return // root reads all folders
	}
	m.Roots = m.Roots[:1]
	locked := filepath.Join(base, "root/locked")
	require.NoError(t, os.Mkdir(locked, 0))
	t.Cleanup(func() { assert.NoError(t, os.Chmod(locked, 0o700)) })
	assert.Equal(t, 1, searched(t, m, "api", far).Unreadable)
}
