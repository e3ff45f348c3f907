package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/try/botapi"
)

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ccbot-try" {
		main()
	}
	os.Exit(m.Run())
}

func TestUsage(t *testing.T) {
	t.Setenv("PATH", "") // nothing is installed
	for _, tt := range []struct {
		name string
		args []string
		code int
		said string
	}{
		{"unknown flag", []string{"--fast"}, 2, "fast"},
		{"argument", []string{"now"}, 2, `unknown argument "now"`},
		{"unknown agent", []string{"--agent", "nobody"}, 2, `--agent is demo or claude, not "nobody"`},
		{"three bots", []string{"--bots", "3", "--topics", "group"}, 2, "--bots is 1 or 2, not 3"},
		{"two bots without a group", []string{"--bots", "2"}, 2, "--bots 2 needs --topics group"},
		{"no machine", []string{"--machines", "0"}, 2, "--machines is 1 to 3, not 0"},
		{"machines of two bots", []string{"--bots", "2", "--topics", "group", "--machines", "2"}, 2, "--machines needs --bots 1"},
		{"no claude", []string{"--agent", "claude"}, 2, "claude is not on PATH"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			assert.Equal(t, tt.code, run(tt.args, nil, &stdout, &stderr))
			assert.Contains(t, stderr.String(), tt.said)
			assert.Empty(t, stdout.String())
		})
	}
}

// TestHelp goes to the standard output, as that of every verb.
func TestHelp(t *testing.T) {
	var stdout, stderr bytes.Buffer
	assert.Zero(t, run([]string{"--help"}, nil, &stdout, &stderr))
	assert.Contains(t, stdout.String(), "--agent string ")
	assert.Contains(t, stdout.String(), "Examples:")
	assert.Empty(t, stderr.String())
}

// The program runs the ccbot in its own folder, even if it is started through a link, and leaves no
// folder.
func TestExitsAsCcbotDoes(t *testing.T) {
	for _, tt := range []struct {
		name, ccbot string
		code        int
		said        string
	}{
		{"missing", "", 1, "/ccbot: no such file or directory"},
		{"wrong configuration", "exit 2", 2, "ccbot try: ccbot: exit status 2"},
		{"killed", "kill -9 $$", 1, "signal: killed"},
		{"asked to stop", "exit 0", 0, "Ended; nothing is left."},
		{"a group of its own", `kill -0 -$$`, 0, "Ended; nothing is left."},
		{"a trial's own", `echo "$1 $CCBOT_DIR $CLAUDE_COMMAND"; exit 0`, 0, "run "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			me, err := os.Executable()
			require.NoError(t, err)
			dir, elsewhere, tmp := t.TempDir(), t.TempDir(), t.TempDir()
			require.NoError(t, os.Link(me, filepath.Join(dir, "ccbot-try")))
			require.NoError(t, os.Symlink(filepath.Join(dir, "ccbot-try"), filepath.Join(elsewhere, "ccbot-try")))
			if tt.ccbot != "" {
				require.NoError(t, os.WriteFile(filepath.Join(dir, "ccbot"), []byte("#!/bin/sh\n"+tt.ccbot+"\n"), 0o700))
			}
			cmd := exec.Command(filepath.Join(elsewhere, "ccbot-try"))
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMPDIR=" + tmp, "CCBOT_DIR=/nowhere", "CLAUDE_COMMAND=/nowhere", "GORACE=atexit_sleep_ms=0"}
			out, _ := cmd.CombinedOutput()
			assert.Equal(t, tt.code, cmd.ProcessState.ExitCode(), "%s", out)
			assert.Contains(t, string(out), tt.said)
			assert.NotContains(t, string(out), "nowhere")
			left, err := os.ReadDir(tmp)
			require.NoError(t, err)
			assert.Empty(t, left)
		})
	}
}

// TestOwnSettingsPlayNoPart compares with the table of docs/configuration.md, which another test
// holds to the program.
func TestOwnSettingsPlayNoPart(t *testing.T) {
	doc, err := os.ReadFile("../../docs/configuration.md")
	require.NoError(t, err)
	environ := []string{"HOME=/home/me"}
	for _, row := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` ").FindAllStringSubmatch(string(doc), -1) {
		environ = append(environ, row[1]+"=mine")
	}
	require.Greater(t, len(environ), 20)
	for agent, want := range map[string][]string{
		"demo":   {"CCBOT_LANG", "LOG_FORMAT", "LOG_LEVEL"},
		"claude": {"CCBOT_LANG", "CLAUDE_CONFIG_DIR", "LOG_FORMAT", "LOG_LEVEL"},
	} {
		b := &bot{place: place{trial: &trial{agent: agent, dir: t.TempDir()}}, api: botapi.New(botapi.Options{})}
		cmd, err := b.command(t.Context(), b.environ(environ), "run")
		require.NoError(t, err)
		var mine []string
		for _, kv := range cmd.Environ() { // the last one of a name counts
			if name, ok := strings.CutSuffix(kv, "=mine"); ok {
				mine = append(mine, name)
			}
		}
		slices.Sort(mine)
		assert.Equal(t, want, mine, agent)
		assert.Contains(t, cmd.Environ(), "HOME=/home/me")
	}
}
