package statefolder

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
)

func TestP9_ForeignFoldersOfPATHAreFound(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, name) }
	folder := func(name string, mode os.FileMode) string {
		require.NoError(t, os.MkdirAll(at(name), 0o755))
		require.NoError(t, os.Chmod(at(name), mode))
		return at(name)
	}
	own, group, open, sticky := folder("own", 0o755), folder("group", 0o775), folder("open", 0o777), folder("sticky", 0o777|os.ModeSticky)
	inOpen, inSticky := folder("open/bin", 0o755), folder("sticky/bin", 0o755)
	require.NoError(t, os.Symlink(open, at("link")))
	require.NoError(t, os.Symlink(inOpen, at("below")))
	program := filepath.Join(own, "tmux")
	require.NoError(t, os.WriteFile(program, nil, 0o755)) //nolint:gosec // it is a program
	all := []string{own, group, open, sticky, inOpen, inSticky, at("link"), at("below"), at("gone"), filepath.Join(sticky, "gone"), program, "bin", "", "/usr/bin"}
	found, err := ForeignFolders(strings.Join(append(all, open), ":"))
	require.NoError(t, err)
	relative := "it is not absolute, so each program looks in another folder"
	assert.Equal(t, []Foreign{
		{open, "others may write " + open}, {sticky, "others may write " + sticky}, {inOpen, "others may write " + open},
		{at("link"), "others may write " + open}, {at("below"), "others may write " + open},
		{filepath.Join(sticky, "gone"), "others may write " + sticky}, {"bin", relative}, {"", relative},
	}, found)
	assert.Equal(t, strings.Join([]string{own, group, inSticky, at("gone"), program, "/usr/bin"}, ":"), WithoutForeign(strings.Join(all, ":"), found))

	why, err := OthersCanWrite(program)
	require.NoError(t, err)
	assert.Empty(t, why)
	require.NoError(t, os.Chmod(program, 0o757)) //nolint:gosec // as another user would like it
	why, err = OthersCanWrite(program)
	require.NoError(t, err)
	assert.Equal(t, "others may write "+program, why)
}

func TestP9_OtherUsersFolderIsForeign_AsRoot(t *testing.T) {
	programtest.RequireRoot(t)
	dir := t.TempDir()
	require.NoError(t, os.Chown(dir, 65533, 65533))
	found, err := ForeignFolders(dir + ":" + filepath.Join(dir, "bin"))
	require.NoError(t, err)
	assert.Equal(t, []Foreign{{dir, dir + " belongs to user 65533"}, {filepath.Join(dir, "bin"), dir + " belongs to user 65533"}}, found)
}
