package claudesettings

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func newSettings(t *testing.T, content string) SettingsFile {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	s := SettingsIn(dir)
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)
	s.Now = func() time.Time { return at }
	if content != "" {
		require.NoError(t, os.WriteFile(s.Path, []byte(content), 0o640))
	}
	return s
}

func replaceBy(text string) func([]byte) ([]byte, error) {
	return func([]byte) ([]byte, error) { return []byte(text), nil }
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(data)
}

func names(t *testing.T, folder string) []string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	var all []string
	for _, e := range entries {
		all = append(all, e.Name())
	}
	return all
}

func TestSettingsEdit(t *testing.T) {
	s := newSettings(t, "old")
	require.NoError(t, os.Chmod(s.Path, 0o664)) // more than a umask leaves
	backup, err := s.Edit(replaceBy("new"))
	require.NoError(t, err)
	assert.Equal(t, "new", read(t, s.Path))
	assert.Equal(t, filepath.Join(filepath.Dir(s.Path), "settings.json.ccbot-20260504T030201.000Z"), backup)
	assert.Equal(t, "old", read(t, backup))
	for _, path := range []string{s.Path, backup} {
		info, err := os.Stat(path)
		require.NoError(t, err)
		assert.Equal(t, fs.FileMode(0o664), info.Mode(), path)
	}
	assert.Len(t, names(t, filepath.Dir(s.Path)), 2, "and nothing else is left")
}

func TestSettingsEditOfNothing(t *testing.T) {
	s := newSettings(t, "")
	s.Path = filepath.Join(filepath.Dir(s.Path), "not", "there", "settings.json")
	backup, err := s.Edit(replaceBy("new"))
	require.NoError(t, err)
	assert.Empty(t, backup)
	assert.Equal(t, "new", read(t, s.Path))
	assert.Equal(t, []string{"settings.json", "settings.json.ccbot-20260504T030201.000Z-absent"}, names(t, filepath.Dir(s.Path)))
	info, err := os.Stat(s.Path)
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o600), info.Mode())
	info, err = os.Stat(filepath.Dir(s.Path))
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o700), info.Mode().Perm())
}

// No change, or a refusal, leaves the file and the folder as they are.
func TestP10_SettingsLeftAlone(t *testing.T) {
	refused := errors.New("refused")
	for name, edit := range map[string]func([]byte) ([]byte, error){
		"no change": func(data []byte) ([]byte, error) { return bytes.Clone(data), nil },
		"refused":   func([]byte) ([]byte, error) { return nil, refused },
	} {
		for _, content := range []string{"old", ""} {
			s := newSettings(t, content)
			before := names(t, filepath.Dir(s.Path))
			backup, err := s.Edit(edit)
			assert.Equal(t, name == "refused", errors.Is(err, refused))
			assert.Empty(t, backup)
			assert.Equal(t, before, names(t, filepath.Dir(s.Path)))
		}
	}
}

func TestSettingsBackups(t *testing.T) {
	s := newSettings(t, "0")
	dir := filepath.Dir(s.Path)
	others := []string{"settings.json.ccbot-", "settings.json.ccbot-20000101T000000.000Z.mine", "settings.json.bak"}
	for _, name := range others {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o600))
	}
	var backups []string
	for i := range 8 {
		// the clock goes back
		s.Now = func() time.Time { return time.Date(2026, 5, 4, 3, 2, 1-i/2, 999, time.UTC) }
		backup, err := s.Edit(replaceBy(strconv.Itoa(i + 1)))
		require.NoError(t, err)
		assert.Equal(t, strconv.Itoa(i), read(t, backup))
		backups = append(backups, filepath.Base(backup))
	}
	assert.ElementsMatch(t, append(append(others, "settings.json"), backups...), names(t, dir), "none is removed by an edit")
}

func TestSettingsLinks(t *testing.T) {
	tests := []struct {
		name   string
		links  map[string]string // target of a link below the folder; @ is the folder
		target string
		there  bool
	}{
		{"one", map[string]string{"settings.json": "@/real.json"}, "real.json", true},
		{"relative", map[string]string{"settings.json": "dots/./../real.json"}, "real.json", true},
		{"a chain", map[string]string{"settings.json": "a", "a": "@/b", "b": "dots/real.json"}, "dots/real.json", true},
		{"up from a linked folder", map[string]string{"settings.json": "linked/../real.json", "linked": "dots/deep"}, "dots/real.json", true},
		{"dangling", map[string]string{"settings.json": "a", "a": "dots/real.json"}, "dots/real.json", false},
		{"dangling into a missing folder", map[string]string{"settings.json": "no/where/real.json"}, "no/where/real.json", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSettings(t, "")
			dir := filepath.Dir(s.Path)
			require.NoError(t, os.MkdirAll(filepath.Join(dir, "dots", "deep"), 0o700))
			target := filepath.Join(dir, tt.target)
			if tt.there {
				require.NoError(t, os.WriteFile(target, []byte("old"), 0o640))
			}
			for name, says := range tt.links {
				if says[0] == '@' {
					says = dir + says[1:]
				}
				require.NoError(t, os.Symlink(says, filepath.Join(dir, name)))
			}
			backup, err := s.Edit(replaceBy("new"))
			require.NoError(t, err)
			assert.Equal(t, "new", read(t, target))
			assert.Equal(t, tt.there, backup != "")
			info, err := os.Lstat(target)
			require.NoError(t, err)
			assert.True(t, info.Mode().IsRegular())
			for name := range tt.links {
				info, err := os.Lstat(filepath.Join(dir, name))
				require.NoError(t, err)
				assert.Equal(t, fs.ModeSymlink, info.Mode().Type(), "the link %s stays", name)
			}
			assert.Equal(t, "new", read(t, s.Path))
		})
	}
}

func TestP10_SettingsNotWritable(t *testing.T) {
	tests := []struct {
		name    string
		corrupt func(t *testing.T, path string)
		want    error
		says    string
	}{
		{"a folder", func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, errSettingsForeign,
			"not a file that ccbot edits: it is a directory"},
		{"a pipe", func(t *testing.T, path string) { require.NoError(t, syscall.Mkfifo(path, 0o600)) }, errSettingsForeign,
			"not a file that ccbot edits: it is a pipe"},
		{"read-only", func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("x"), 0o400)) }, errSettingsForeign,
			"not a file that ccbot edits: it is read-only"},
		{"links in a circle", func(t *testing.T, path string) { require.NoError(t, os.Symlink("settings.json", path)) }, syscall.ELOOP,
			"too many levels of symbolic links"},
		{"huge", func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, nil, 0o600))
			require.NoError(t, os.Truncate(path, maxSettings+1))
		}, errSettingsForeign, "not a file that ccbot edits: it is larger than 16 MiB"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSettings(t, "")
			tt.corrupt(t, s.Path)
			_, err := s.Edit(replaceBy("new"))
			assert.ErrorIs(t, err, tt.want)
			assert.EqualError(t, err, "edit "+s.Path+": "+tt.says, "the path once")
			assert.EqualError(t, s.Writable(), "edit "+s.Path+": "+tt.says)
			assert.Equal(t, []string{"settings.json"}, names(t, filepath.Dir(s.Path)))
		})
	}
	assert.ErrorIs(t, snapshot{mode: 0o600, owner: os.Geteuid() + 1}.writable(), errSettingsForeign)
}

// Another program writes between the read and the write: its change is not lost.
func TestP10_SettingsChangedMeanwhile(t *testing.T) {
	appendX := func(data []byte) ([]byte, error) { return append(bytes.Clone(data), 'x'), nil }
	tests := []struct {
		name  string
		times int
		other func(t *testing.T, path string)
		want  string
		kind  fs.FileMode // of what is under the name in the end
		err   error
	}{
		{"once", 1, func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte("theirs"), 0o640)) },
			"theirsx", 0o640, nil},
		{"always", 1000, func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(read(t, path)+"!"), 0o640))
		}, "old!!!!!", 0o640, errSettingsBusy},
		{"removed", 1, func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) }, "x", 0o600, nil},
		{"became a link", 1, func(t *testing.T, path string) {
			require.NoError(t, os.Rename(path, path+".real"))
			require.NoError(t, os.Symlink(path+".real", path))
		}, "oldx", fs.ModeSymlink, nil},
		{"mode", 1, func(t *testing.T, path string) { require.NoError(t, os.Chmod(path, 0o600)) }, "oldx", 0o600, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newSettings(t, "old")
			n := 0
			s.interfere = func() {
				if n++; n <= tt.times {
					tt.other(t, s.Path)
				}
			}
			backup, err := s.Edit(appendX)
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.want, read(t, s.Path))
			info, err := os.Lstat(s.Path)
			require.NoError(t, err)
			if tt.kind == fs.ModeSymlink {
				assert.Equal(t, tt.kind, info.Mode().Type())
			} else {
				assert.Equal(t, tt.kind, info.Mode())
			}
			files, err := filepath.Glob(s.Path + ".ccbot-*")
			require.NoError(t, err)
			if backup == "" {
				assert.Len(t, files, map[bool]int{true: 1}[tt.name == "removed"], "a try that failed leaves no backup")
				return
			}
			assert.Equal(t, []string{backup}, files)
			assert.Equal(t, tt.want, read(t, backup)+"x")
		})
	}
}

func TestSettingsWritable(t *testing.T) {
	assert.NoError(t, newSettings(t, "").Writable(), "it is made")
	s := newSettings(t, "{}")
	assert.NoError(t, s.Writable())
	assert.Equal(t, []string{"settings.json"}, names(t, filepath.Dir(s.Path)), "it only looks")
}

// TestP10_UninstallKeepsLaterChanges with what was there before.
func TestP10_UninstallKeepsLaterChanges(t *testing.T) {
	s := newSettings(t, `{"model":"opus"}`)
	first, err := s.Edit(replaceBy(`{"model":"opus","x":1}`))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(s.Path, []byte(`{"model":"haiku","x":1}`), 0o640))
	second, err := s.Edit(replaceBy(`{"model":"haiku"}`))
	require.NoError(t, err)
	assert.Equal(t, []string{`{"model":"opus"}`, `{"model":"haiku","x":1}`}, []string{read(t, first), read(t, second)})
}

func TestSettingsRead(t *testing.T) {
	data, err := newSettings(t, "").Read()
	assert.NoError(t, err)
	assert.Empty(t, data)
	data, err = newSettings(t, "{}").Read()
	assert.NoError(t, err)
	assert.Equal(t, "{}", string(data))
}
