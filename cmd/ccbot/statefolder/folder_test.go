package statefolder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

func TestStateErrorSaysWhatToMend(t *testing.T) {
	at := func(path string, err error) error {
		return fmt.Errorf("x: %w", &fs.PathError{Op: "write", Path: path, Err: err})
	}
	tests := []struct {
		name string
		err  error
		want string // part of it; empty: as it was
	}{
		{"full", at("/state/sessions/.tmp", syscall.ENOSPC), "there is no room left"},
		{"the person's share is full", at("/state/x", syscall.EDQUOT), "there is no room left"},
		{"read-only", at("/state", syscall.EROFS), "it is read-only"},
		{"not allowed", at("/state/x", syscall.EACCES), "this user has no permission"},
		{"another folder is full", at("/tmp/x", syscall.ENOSPC), ""},
		{"whose name begins so", at("/state2/x", syscall.ENOSPC), ""},
		{"missing", at("/state/x", syscall.ENOENT), ""},
		{"of no file", errors.New("x"), ""},
		{"none", nil, ""},
	}
	once := Error("/state", Error("/state", at("/state/"+probe, syscall.ENOSPC)))
	assert.EqualError(t, Error("/state", fmt.Errorf("CCBOT_DIR: %w", once)), "CCBOT_DIR: ccbot's folder /state cannot be used: there is no room left; "+
		"make some and try again (a start takes 262 kB); the saved data stays: no space left on device", "it is said once")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := Error("/state", tt.err)
			if tt.want == "" {
				assert.Equal(t, tt.err, err)
				return
			}
			assert.NotContains(t, err.Error(), "as it was", "it may have run for hours")
			require.ErrorContains(t, err, "ccbot's folder /state cannot be used: "+tt.want)
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, exit.Failure, exit.Code(err))
		})
	}
}

// A link dangles, for example, while its volume is not mounted.
func TestDanglingLinkIsNotEmptyFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), ".ccbot")
	require.NoError(t, os.Symlink("/not/mounted", dir))
	_, err := RefuseOthers(dir, false)
	require.EqualError(t, err, "CCBOT_DIR: "+dir+" is a link to /not/mounted, which is not there: mount or make that, or remove the link")
	assert.Equal(t, exit.Misuse, exit.Code(err))
}

// TestP9_LinkedSettingsAreNamed: the file that others may read is another program's.
func TestP9_LinkedSettingsAreNamed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700)) //nolint:gosec // as ccbot makes it
	other, link := filepath.Join(t.TempDir(), "other"), filepath.Join(dir, SettingsFile)
	require.NoError(t, os.WriteFile(other, nil, 0o600))
	require.NoError(t, os.Chmod(other, 0o644)) //nolint:gosec // as another program wants it
	require.NoError(t, os.Symlink(other, link))
	_, err := RefuseOthers(dir, false)
	require.ErrorContains(t, err, link+" is a link: put a file of its own there")
	require.ErrorContains(t, err, "group or others may read "+other)
	assert.Equal(t, exit.Misuse, exit.Code(err))
	env, err := RefuseOthers(dir, true)
	require.NoError(t, err)
	assert.Equal(t, other, env)
}
