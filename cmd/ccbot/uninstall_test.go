package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
)

// TestP9_UninstallRefusesForeignFolder: a folder of ccbot's that is a link leads to files
// of others. Nothing changes.
func TestP9_UninstallRefusesForeignFolder(t *testing.T) {
	dir, elsewhere := stateWith(t, one(1, "api")), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(elsewhere, "mine"), nil, 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "inbox")))
	before := append(tree(t, dir), tree(t, elsewhere)...)
	said := installed(t)(t, []string{"HOME=" + dir, "CCBOT_DIR=" + dir}, exit.Misuse, "uninstall")
	assert.Contains(t, said, filepath.Join(dir, "inbox")+" is a link")
	assert.Equal(t, before, append(tree(t, dir), tree(t, elsewhere)...))
}

// TestUninstallNeedsTerminal: there is no answer that a flag gives.
func TestUninstallNeedsTerminal(t *testing.T) {
	dir := stateWith(t, one(1, "api"))
	before := tree(t, dir)
	said := installed(t)(t, []string{"HOME=" + dir, "CCBOT_DIR=" + dir}, exit.Misuse, "uninstall")
	assert.Equal(t, "ccbot: uninstall asks a person for each step: run it in a terminal\n", said)
	assert.Equal(t, before, tree(t, dir))
}
