package spool_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/spool"
)

func numbers(into *[]int) func(string, []byte) error {
	return func(_ string, data []byte) error {
		var n int
		err := json.Unmarshal(data, &n)
		if err == nil {
			*into = append(*into, n)
		}
		return err
	}
}

// An unreadable item goes to quarantine with its reason, and the others are loaded. A second load changes nothing. Without a quarantine nothing is moved.
func TestLoadQuarantinesUnreadableItems(t *testing.T) {
	f, quarantine := newFolder(t), filepath.Join(t.TempDir(), "quarantine")
	for name, data := range map[string]string{"a.json": "1", "b.json": "{ha", "d.json": "2", "note.txt": "x"} {
		require.NoError(t, f.Put(name, []byte(data)))
	}
	require.NoError(t, os.Mkdir(filepath.Join(f.Path, "e.json"), 0o700))
	require.NoError(t, os.Symlink("d.json", filepath.Join(f.Path, "f.json")))
	require.NoError(t, os.WriteFile(filepath.Join(f.Path, "g.json"), make([]byte, 1001), 0o600))
	names := func(all []spool.Unloaded) (list []string) {
		for _, a := range all {
			list = append(list, a.Name)
			require.Error(t, a.Why)
		}
		return list
	}
	all := []string{"b.json", "e.json", "f.json", "g.json"}
	for _, tt := range []struct {
		name, quarantine string
		want             []string
	}{
		{"beside the owner", "", all},
		{"by the owner", quarantine, all},
		{"once more", quarantine, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var log bytes.Buffer
			var taken []int
			aside, err := spool.Loader{Quarantine: tt.quarantine, Log: slog.New(slog.NewTextHandler(&log, nil))}.Load(f, ".json", numbers(&taken))
			require.NoError(t, err)
			assert.Equal(t, []int{1, 2}, taken)
			assert.Equal(t, tt.want, names(aside))
			assert.Equal(t, len(tt.want), strings.Count(log.String(), "msg=file_unreadable file=queue/"))
		})
	}
	kept, err := os.ReadDir(quarantine)
	require.NoError(t, err)
	assert.Len(t, kept, 8, "four, each with its reason")
}

// An item may be removed while another program reads the folder, or be temporarily unreadable.
// Neither affects the other items; the owner does not move it.
func TestTemporarilyUnreadableItem(t *testing.T) {
	f, tooLong := newFolder(t), strings.Repeat("x", 300)+".json"
	require.NoError(t, f.Make())
	take := func([]byte) error { return nil }
	reader := spool.Loader{Log: slog.New(slog.DiscardHandler)}
	owner := spool.Loader{Quarantine: filepath.Join(t.TempDir(), "quarantine"), Log: reader.Log}
	for _, l := range []spool.Loader{reader, owner} {
		why, err := l.LoadOne(f, "gone.json", take)
		require.NoError(t, why)
		require.NoError(t, err)
	}
	why, err := reader.LoadOne(f, tooLong, take)
	require.NoError(t, err)
	require.ErrorContains(t, why, "name too long")
	why, err = owner.LoadOne(f, tooLong, take)
	require.NoError(t, why)
	require.ErrorContains(t, err, "name too long")
	assert.NoDirExists(t, owner.Quarantine)
}

// Quarantined items are unreported until marked; items that stay in place are not listed.
func TestUnreported(t *testing.T) {
	f, dir := newFolder(t), filepath.Join(t.TempDir(), "quarantine")
	unreported := func() []string {
		names, err := spool.Unreported(dir)
		require.NoError(t, err)
		return names
	}
	assert.Empty(t, unreported(), "a missing folder has none")
	l := spool.Loader{Quarantine: dir, Report: true, Log: slog.New(slog.DiscardHandler)}
	for _, name := range []string{"b.json", "a.json", "b.json"} {
		require.NoError(t, f.Put(name, []byte("{ha")))
		_, err := l.LoadOne(f, name, func([]byte) error { return os.ErrInvalid })
		require.NoError(t, err)
	}
	require.NoError(t, f.Put("quiet.json", nil))
	require.NoError(t, f.Quarantine("quiet.json", dir, "it was told by who did it"))
	_, err := l.Load(f, ".json", numbers(new([]int)))
	require.NoError(t, err)
	assert.ElementsMatch(t, []string{"queue-a.json", "queue-b.json", "queue-b.json.1"}, unreported())

	require.NoError(t, spool.MarkReported(dir, "queue-a.json", "queue-b.json"))
	assert.Equal(t, []string{"queue-b.json.1"}, unreported())
	require.NoError(t, os.Remove(filepath.Join(dir, "queue-b.json.1")))
	assert.Empty(t, unreported(), "a person has taken it away")
	require.NoError(t, os.Remove(filepath.Join(dir, "queue-b.json.1.reason")))
	require.NoError(t, f.Put("b.json", []byte("{ha")))
	_, err = l.Load(f, ".json", numbers(new([]int)))
	require.NoError(t, err, "the mark that was left behind is in nobody's way")
	assert.Equal(t, []string{"queue-b.json.1"}, unreported())
}

// An item that cannot be moved is not unreported, even after several attempts.
func TestUnreportedAfterFailedMove(t *testing.T) {
	f, dir := newFolder(t), filepath.Join(t.TempDir(), "quarantine")
	require.NoError(t, f.Put("a.json", []byte("{ha")))
	require.NoError(t, os.WriteFile(dir, nil, 0o600))
	l := spool.Loader{Quarantine: dir, Report: true, Log: slog.New(slog.DiscardHandler)}
	load := func() error { _, err := l.Load(f, ".json", numbers(new([]int))); return err }
	require.ErrorContains(t, load(), "spool: quarantine a.json")
	require.ErrorContains(t, load(), "spool: quarantine a.json")
	require.NoError(t, os.Remove(dir))
	require.NoError(t, load())
	names, err := spool.Unreported(dir)
	require.NoError(t, err)
	assert.Equal(t, []string{"queue-a.json"}, names)
}

// The folder's owner removes incomplete writes of a killed program; a program that only reads does
// not.
func TestP8_IncompleteWriteIsRemoved(t *testing.T) {
	f, dir := newFolder(t), filepath.Join(t.TempDir(), "quarantine")
	require.NoError(t, f.Put("1.json", []byte("1")))
	half := filepath.Join(f.Path, ".2.json1234567890")
	require.NoError(t, os.WriteFile(half, []byte("{ha"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(f.Path, ".folder"), 0o700))
	_, err := spool.Loader{Log: slog.New(slog.DiscardHandler)}.Load(f, ".json", numbers(new([]int)))
	require.NoError(t, err)
	assert.FileExists(t, half)
	_, err = spool.Loader{Quarantine: dir, Log: slog.New(slog.DiscardHandler)}.Load(f, ".json", numbers(new([]int)))
	require.NoError(t, err)
	assert.NoFileExists(t, half)
	assert.DirExists(t, filepath.Join(f.Path, ".folder"), "it is no write")
	assert.FileExists(t, filepath.Join(f.Path, "1.json"))

	require.NoError(t, os.WriteFile(filepath.Join(f.Path, ".1.json.swp"), nil, 0o600))
	_, err = spool.Loader{Quarantine: dir, Log: slog.New(slog.DiscardHandler)}.Load(f, ".json", numbers(new([]int)))
	require.NoError(t, err)
	assert.FileExists(t, filepath.Join(f.Path, ".1.json.swp"), "it is a person's editor's")
}
