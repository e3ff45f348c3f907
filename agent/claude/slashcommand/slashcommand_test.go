package slashcommand

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHas(t *testing.T) {
	config, top := t.TempDir(), t.TempDir()
	dir := filepath.Join(top, "api", "cmd")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, path := range []string{
		filepath.Join(config, "commands", "lint.md"), filepath.Join(config, "commands", "team", "kil.md"),
		filepath.Join(config, "skills", "mod", "SKILL.md"), filepath.Join(config, "plugins", "p", "commands", "stp.md"),
		filepath.Join(config, "plugins", "p", "readme", "why1.md"), filepath.Join(top, "api", ".claude", "commands", "lst.md"),
		filepath.Join(top, "other", ".claude", "commands", "nw.md"),
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	for name, want := range map[string]bool{"model": true, "stats": true, "lint": true, "kil": true, "team:kil": true, "mod": true,
		"stp": true, "p:stp": true, "lst": true, "why1": false, "nw": false, "lis": false, "": false, "../lint": false, "a/../lint": false} {
		assert.Equal(t, want, Has(config, dir, name), name)
	}
}
