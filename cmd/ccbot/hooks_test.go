package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/cmd/ccbot/config"
	"ccbot/cmd/ccbot/exit"
	"ccbot/cmd/ccbot/statefolder"
	"ccbot/cmd/ccbot/terminal"
)

func TestHookFolders(t *testing.T) {
	home := t.TempDir()
	withFile := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(withFile, statefolder.SettingsFile), []byte("CLAUDE_CONFIG_DIR=~/named\n"), 0o600))
	broken := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(broken, statefolder.SettingsFile), []byte("CLAUDE_CONFIG_DIR secret\n"), 0o600))
	tests := []struct {
		name        string
		environ     []string
		dir, claude string
		err         string
	}{
		{"defaults", []string{"HOME=" + home}, home + "/.ccbot", home + "/.claude", ""},
		{"empty is not set", []string{"HOME=" + home, "CCBOT_DIR=", "CLAUDE_CONFIG_DIR="}, home + "/.ccbot", home + "/.claude", ""},
		{"set", []string{"HOME=" + home, "CCBOT_DIR=~/a/../b", "CLAUDE_CONFIG_DIR=/c/"}, home + "/b", "/c", ""},
		{"in the file", []string{"HOME=" + home, "CCBOT_DIR=" + withFile}, withFile, home + "/named", ""},
		{"the environment wins", []string{"HOME=" + home, "CCBOT_DIR=" + withFile, "CLAUDE_CONFIG_DIR=/x"}, withFile, "/x", ""},
		{"broken file", []string{"HOME=" + home, "CCBOT_DIR=" + broken}, "", "", "cannot be read"},
		{"no home", nil, "", "", "HOME"},
		{"relative", []string{"HOME=" + home, "CCBOT_DIR=x"}, "", "", "absolute"},
		{"a wrong name for tmux", []string{"HOME=" + home, "CCBOT_TMUX_SOCKET=a/b"}, "", "", "CCBOT_TMUX_SOCKET"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, err := config.LoadForReading(tt.environ)
			if tt.err != "" {
				require.ErrorContains(t, err, tt.err)
				assert.Equal(t, exit.Misuse, exit.Code(err))
				assert.NotContains(t, err.Error(), "secret")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, []string{tt.dir, tt.claude}, []string{c.Dir, c.ClaudeDir})
		})
	}
}

func TestHooksReport(t *testing.T) {
	r := hooksReport{File: "/c/settings.json", Problem: "no binary", Installed: claudesettings.Installed{HooksOff: true, Events: []claudesettings.EventState{
		{Event: "SessionStart", State: claudesettings.InstallDuplicate, Commands: []string{"a && b", "c"}},
		{Event: "UserPromptSubmit", State: claudesettings.InstallCurrent, Commands: []string{"right"}},
	}}}
	var out bytes.Buffer
	require.NoError(t, terminal.Show(&out, false, r, r.print))
	assert.Equal(t, "SessionStart: duplicate\n  a && b\n  c\nUserPromptSubmit: installed\n"+
		"disableAllHooks is on: Claude Code runs no hooks, these included\nno binary\n/c/settings.json\n", out.String())
	out.Reset()
	require.NoError(t, terminal.Show(&out, true, r, r.print))
	assert.Contains(t, out.String(), "a && b")
	var back hooksReport
	require.NoError(t, json.Unmarshal(out.Bytes(), &back))
	assert.Equal(t, r, back)
}
