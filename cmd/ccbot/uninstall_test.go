package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/cmd/ccbot/exit"
	"ccbot/internal/session"
)

// TestP10_UninstallTakesOnlyTheHooks: the settings file is as it was before them, byte for byte, the
// state folder is not touched, and the commands that remove the rest are printed.
func TestP10_UninstallTakesOnlyTheHooks(t *testing.T) {
	home, work := t.TempDir(), t.TempDir()
	dir := stateWith(t, one(1, "api", func(r *session.Record) { r.State, r.Dir = session.Running, work }),
		one(2, "old", func(r *session.Record) { r.State, r.Dir = session.Archived, work }))
	inbox, completion := filepath.Join(work, ".ccbot-inbox"), filepath.Join(home, ".config/fish/completions/ccbot.fish")
	settings, before := filepath.Join(home, ".claude/settings.json"), "{\"model\" : \"opus\"}\n"
	for _, folder := range []string{inbox, filepath.Dir(completion), filepath.Dir(settings)} {
		require.NoError(t, os.MkdirAll(folder, 0o700))
	}
	require.NoError(t, os.WriteFile(completion, nil, 0o600))
	require.NoError(t, os.WriteFile(settings, []byte(before), 0o600))
	environ, ccbot := []string{"HOME=" + home, "CCBOT_DIR=" + dir, "CCBOT_TMUX_SOCKET=ccbot-none-" + filepath.Base(dir)}, installed(t)
	ccbot(t, environ, exit.OK, "hooks", "install")
	state := tree(t, dir)
	for _, hooks := range []string{"SessionStart: removed\nUserPromptSubmit: removed\n" + settings + "\n", ""} { // it may be run again
		said := ccbot(t, environ, exit.OK, "uninstall")
		said, programs, _ := strings.Cut(said, "Remove the programs:\n")
		assert.Equal(t, "nothing to remove: there is no "+home+"/.config/systemd/user/ccbot.service\n"+hooks+`
End the open sessions with their agents; the conversations stay:
  CCBOT_DIR=`+dir+` ccbot archive --yes `+idOf(1).String()+`

Remove the files from the chat, also those that you have changed:
  rm -rf `+inbox+`

Remove the completions of the shell:
  rm `+completion+`

Remove the state folder, with the token, the records and everything else in it:
  rm -rf `+dir+`

`, said)
		assert.Regexp(t, `^  rm \S+/ccbot\n  rm \S+/ccbot-hook\n  rm \S+/ccbot-try\n\n@BotFather`, programs)
		now, err := os.ReadFile(settings)
		require.NoError(t, err)
		assert.Equal(t, before, string(now))
	}
	assert.Equal(t, state, tree(t, dir))
}

// TestUninstallArchivesInItsFolder: the printed command finds the session in a shell that knows
// nothing of the folder, and names no folder if it is the default one.
func TestUninstallArchivesInItsFolder(t *testing.T) {
	home, fake := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(fake, "ccbot"), []byte("#!/bin/sh\necho \"$CCBOT_DIR: $*\"\n"), 0o700))
	records := stateWith(t, one(1, "api", func(r *session.Record) { r.State, r.Dir = session.Running, home }))
	for folder, environ := range map[string][]string{".ccbot": {"HOME=" + home}, "it's mine": {"HOME=" + home, "CCBOT_DIR=" + home + "/it's mine"}} {
		dir := filepath.Join(home, folder)
		require.NoError(t, os.CopyFS(dir, os.DirFS(records)))
		require.NoError(t, os.Chmod(dir, 0o700))
		said := installed(t)(t, append(environ, "CCBOT_TMUX_SOCKET=ccbot-none-"+filepath.Base(home)), exit.OK, "uninstall")
		_, command, _ := strings.Cut(said, "\nEnd the open sessions with their agents; the conversations stay:\n")
		command, _, _ = strings.Cut(command, "\n\n")
		cmd := exec.Command("sh", "-c", command)
		cmd.Env = []string{"PATH=" + fake}
		out, err := cmd.Output()
		require.NoError(t, err, command)
		named := dir
		if folder == ".ccbot" {
			named = ""
		}
		assert.Equal(t, named+": archive --yes "+idOf(1).String()+"\n", string(out))
	}
}

// TestP9_UninstallPrintsNoWayOut: a folder in the state folder may be a link to files of others,
// and the command that removes the state folder does not follow it.
func TestP9_UninstallPrintsNoWayOut(t *testing.T) {
	home, dir, elsewhere := t.TempDir(), stateWith(t), t.TempDir()
	mine, link := filepath.Join(elsewhere, "mine"), filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.WriteFile(mine, nil, 0o600))
	require.NoError(t, os.Symlink(elsewhere, filepath.Join(dir, "inbox")))
	require.NoError(t, os.Symlink(dir, link))
	said := installed(t)(t, []string{"HOME=" + home, "CCBOT_DIR=" + link}, exit.OK, "uninstall")
	remove := "  rm -rf " + link + "\n  rm -rf " + dir + "\n"
	require.Contains(t, said, remove)
	require.NoError(t, exec.Command("sh", "-c", remove).Run())
	assert.NoDirExists(t, dir)
	assert.FileExists(t, mine)
}

// TestUninstallOfHomeAsStateFolder names no command that would remove a person's files.
func TestUninstallOfHomeAsStateFolder(t *testing.T) {
	dir := stateWith(t)
	for _, home := range []string{dir, filepath.Join(dir, "me")} {
		said := installed(t)(t, []string{"HOME=" + home, "CCBOT_DIR=" + dir}, exit.OK, "uninstall")
		assert.NotContains(t, said, "rm -rf")
		assert.Contains(t, said, "The state folder "+dir+" has your other files, too")
	}
}

// TestUninstallLeavesOtherFolder: another ccbot keeps its service and its hooks.
func TestUninstallLeavesOtherFolder(t *testing.T) {
	home, dir, other := t.TempDir(), stateWith(t), stateWith(t)
	ccbot := installed(t)
	ccbot(t, []string{"HOME=" + home, "CCBOT_DIR=" + other}, exit.OK, "hooks", "install")
	unit := filepath.Join(home, ".config/systemd/user/ccbot.service")
	require.NoError(t, os.MkdirAll(filepath.Dir(unit), 0o700))
	require.NoError(t, os.WriteFile(unit, []byte("Environment=\"CCBOT_DIR="+other+"\"\n"), 0o600))
	before := tree(t, home)
	said := ccbot(t, []string{"HOME=" + home, "CCBOT_DIR=" + dir, "PATH=" + t.TempDir()}, exit.OK, "uninstall")
	assert.Contains(t, said, "stays, because it is for another state folder: "+unit+"\n")
	assert.Contains(t, said, "The hooks in "+home+"/.claude/settings.json stay, because some are of the state folder "+other+"; `ccbot hooks uninstall` takes all of them out.\n")
	assert.Equal(t, before, tree(t, home))
}
