package statefolder

import (
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/upgrade"
)

// everything is each file below dir with its mode, time and content.
func everything(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	require.NoError(t, filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		data := []byte{}
		if info.Mode().IsRegular() {
			data, err = os.ReadFile(path)
		}
		all[path] = info.Mode().String() + info.ModTime().String() + string(data)
		return err
	}))
	return all
}

// The refused folder stays as it was, down to the time of each file.
func TestP8_NewerVersionsFolderIsRefused(t *testing.T) {
	for name, content := range map[string]string{"newer": strconv.Itoa(Format+1) + "\n", "never released": "1\n", "empty": "", "no number": "x\n", "zero": "0\n"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			// A start removes the rights of others.
			require.NoError(t, os.Mkdir(filepath.Join(dir, "sessions"), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, formatFile), []byte(content), 0o600))
			before := everything(t, dir)
			_, _, err := Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
			require.ErrorContains(t, err, dir)
			assert.Equal(t, exit.Failure, exit.Code(err))
			assert.Equal(t, err, CheckFormat(dir), "a verb that only reads says the same")
			assert.Equal(t, before, everything(t, dir))
		})
	}
}

// A folder without a version gets this one before anything else is written, and one of an older
// version after the steps. Until then a verb that only reads says how.
func TestFolderGetsVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state")
	for _, earlier := range []string{"", strconv.Itoa(upgrade.Oldest) + "\n", ""} {
		require.NoError(t, CheckFormat(dir))
		if earlier != "" {
			require.NoError(t, os.WriteFile(filepath.Join(dir, formatFile), []byte(earlier), 0o600))
			require.ErrorContains(t, CheckFormat(dir), "restart ccbot, or run `ccbot recover`")
		}
		_, held, err := Take(t.Context(), dir, "run", time.Second, slog.New(slog.DiscardHandler))
		require.NoError(t, err)
		require.NoError(t, held.Close())
		n, err := ReadFormat(dir)
		require.NoError(t, err)
		assert.Equal(t, Format, n)
	}
}
