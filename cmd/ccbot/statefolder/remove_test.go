package statefolder

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/fleet/center"
	"ccbot/fleet/join"
	"ccbot/fleet/member"
)

// filled is a folder with each entry that ccbot makes, and a folder outside that must stay.
func filled(t *testing.T) (dir, outside string) {
	t.Helper()
	outside = t.TempDir()
	dir = filepath.Join(t.TempDir(), "state")
	require.NoError(t, os.WriteFile(filepath.Join(outside, "mine"), nil, 0o600))
	for _, name := range subfolders {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, name, "deeper"), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "deeper", "x.json"), nil, 0o600))
		require.NoError(t, os.Symlink(outside, filepath.Join(dir, name, "link")))
	}
	for _, name := range append([]string{SettingsFile, prices, "." + formatFile + "4711"}, ownFiles...) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	return dir, outside
}

func TestRemoveTakesWhatCcbotMakes(t *testing.T) {
	dir, outside := filled(t)
	known, unknown, err := Contents(dir)
	require.NoError(t, err)
	assert.Len(t, known, len(subfolders)+len(ownFiles)+3)
	assert.Empty(t, unknown)
	require.NoError(t, Remove(dir))
	assert.NoDirExists(t, dir)
	assert.FileExists(t, filepath.Join(outside, "mine"), "no link is followed")
	require.NoError(t, Remove(dir), "it is gone already")
}

// TestFileOfEarlierVersionIsKnown: the budgets of chats, which an earlier ccbot kept over a stop.
func TestFileOfEarlierVersionIsKnown(t *testing.T) {
	dir, _ := filled(t)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "pace.json"), []byte("{}"), 0o600))
	_, unknown, err := Contents(dir)
	require.NoError(t, err)
	assert.Empty(t, unknown)
	require.NoError(t, Remove(dir))
	assert.NoDirExists(t, dir)
}

// TestRemoveLeavesWhatIsNotCcbots, also under a name of ccbot's.
func TestRemoveLeavesWhatIsNotCcbots(t *testing.T) {
	dir, outside := filled(t)
	mine := []string{"alive", "ccbot.env.bak", "notes", "quarantine"}
	for _, name := range []string{"quarantine", "alive"} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "alive"), 0o700))
	require.NoError(t, os.Symlink(outside, filepath.Join(dir, "quarantine")))
	for _, name := range []string{"notes", "ccbot.env.bak"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	_, unknown, err := Contents(dir)
	require.NoError(t, err)
	assert.Equal(t, mine, unknown)
	require.NoError(t, Remove(dir))
	known, unknown, err := Contents(dir)
	require.NoError(t, err)
	assert.Empty(t, known)
	assert.Equal(t, mine, unknown)
	assert.FileExists(t, filepath.Join(outside, "mine"))
}

// TestP8_RemoveContinues after a kill that left any number of the entries.
func TestP8_RemoveContinues(t *testing.T) {
	whole, _ := filled(t)
	all, _, err := Contents(whole)
	require.NoError(t, err)
	require.Equal(t, removedLast, all[len(all)-len(removedLast):], "the lock goes last")
	for n := range len(all) + 1 {
		dir, _ := filled(t)
		for _, name := range all[:n] {
			require.NoError(t, os.RemoveAll(filepath.Join(dir, name)))
		}
		left, _, err := Contents(dir)
		require.NoError(t, err)
		assert.Equal(t, len(all)-n, len(left))
		require.NoError(t, Remove(dir))
		assert.NoDirExists(t, dir)
	}
}

func TestRemoveRefusesLink(t *testing.T) {
	dir, _ := filled(t)
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	assert.Equal(t, dir, LinkTo(link))
	assert.Empty(t, LinkTo(dir))
	require.ErrorContains(t, Remove(link), "nothing in it was removed")
	known, _, err := Contents(dir)
	require.NoError(t, err)
	assert.Len(t, known, len(subfolders)+len(ownFiles)+3)
}

// A person's folder may have the names of ccbot's own, and CCBOT_DIR may name it by mistake.
func TestRemoveLeavesFolderWithoutMarks(t *testing.T) {
	dir := t.TempDir()
	mine := filepath.Join(dir, "backups", "mine")
	require.NoError(t, os.Mkdir(filepath.Dir(mine), 0o700))
	for _, path := range []string{mine, filepath.Join(dir, lockFile)} {
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	known, unknown, err := Contents(dir)
	require.NoError(t, err)
	assert.Empty(t, known)
	assert.Equal(t, []string{"backups", lockFile}, unknown)
	require.NoError(t, Remove(dir))
	assert.FileExists(t, mine)
}

// TestRemoveTakesLoneFleet: `ccbot host hub` and `ccbot join` make nothing but the fleet's folder.
func TestRemoveTakesLoneFleet(t *testing.T) {
	for name, make := range map[string]func(folder string) error{
		"hub": func(folder string) error {
			_, err := center.SetServer(folder, "tls://hub.example.net:4222")
			return err
		},
		"join": func(folder string) error { _, err := member.Keys(folder); return err },
		"joined": func(folder string) error {
			keys, err := member.Keys(folder)
			if err != nil {
				return err
			}
			return member.Joined(folder, join.Admission{ID: "h7k2m9qa"}, keys)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "state")
			require.NoError(t, make(filepath.Join(dir, "fleet")))
			known, unknown, err := Contents(dir)
			require.NoError(t, err)
			assert.Equal(t, []string{"fleet"}, known)
			assert.Empty(t, unknown)
			require.NoError(t, Remove(dir))
			assert.NoDirExists(t, dir)
		})
	}
	for name, mode := range map[string]os.FileMode{"ships": 0o600, "keys": 0o644} {
		dir := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(dir, "fleet"), 0o700))
		mine := filepath.Join(dir, "fleet", name)
		require.NoError(t, os.WriteFile(mine, nil, 0o600))
		require.NoError(t, os.Chmod(mine, mode))
		require.NoError(t, Remove(dir))
		assert.FileExists(t, mine, "it is a person's")
	}
}
