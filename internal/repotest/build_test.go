package repotest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestBuildTellsItsProgress runs tools/build with a Go that only prints: without a terminal a build
// prints a few plain lines, and nothing if it is up to date; a compiler error is printed unchanged,
// with its exit code.
func TestBuildTellsItsProgress(t *testing.T) {
	const list = `if [ "$1" = list ]; then seq 8; exit; fi; `
	for _, tt := range []struct {
		name, prints string
		code         int
		want         string
	}{
		{"nothing to do", `true`, 0, ""},
		{"modules and packages", `case "$*" in
*ccbot-hook*) ;;
*) echo 'go: downloading example.com/m v1.0.0'; seq 8 ;;
esac`, 0, "loading modules: 1 of 2\ncompiling: 1 of 8\ncompiling: 2 of 8\ncompiling: 4 of 8\ncompiling: 6 of 8, about 1 s left\nlinking\n"},
		{"an error", `seq 2; echo '# ccbot/bot'; echo 'bot/bot.go:7:2: undefined: x'; exit 3`, 3,
			"compiling: 1 of 8\ncompiling: 2 of 8\n# ccbot/bot\nbot/bot.go:7:2: undefined: x\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			script, err := os.ReadFile("../../tools/build")
			require.NoError(t, err)
			require.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o700))
			for name, text := range map[string]string{"tools/build": string(script), "fake": "#!/bin/sh\n" + list + tt.prints + "\n",
				"go.sum": "a v1 h1:x\na v1/go.mod h1:x\nb v1 h1:x\n"} {
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700)) //nolint:gosec // they are run
			}
			cmd := exec.Command("bash", filepath.Join(dir, "tools/build"), "v1")
			cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "fake"))
			var out, errors bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errors
			_ = cmd.Run()
			assert.Equal(t, tt.want, errors.String())
			assert.Equal(t, tt.code, cmd.ProcessState.ExitCode())
			assert.Empty(t, out.String())
		})
	}
}

// TestBuildWithoutGitHasVersion: it is never empty, which would be the version of a plain build.
func TestBuildWithoutGitHasVersion(t *testing.T) {
	dir := t.TempDir()
	script, err := os.ReadFile("../../tools/build")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "tools"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tools", "build"), script, 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fake"), []byte("#!/bin/sh\necho \"# $*\"\n"), 0o700)) //nolint:gosec // it is run
	for given, want := range map[string]string{"": "unknown", "v1": "v1"} {
		cmd := exec.Command("bash", filepath.Join(dir, "tools", "build"), given, "")
		cmd.Env = append(os.Environ(), "GO="+filepath.Join(dir, "fake"))
		out, err := cmd.CombinedOutput()
		require.NoError(t, err)
		assert.Contains(t, string(out), "-X main.version="+want+" ")
	}
}

// TestNeedsNamesPackages: a missing program or file is one sentence with the command that installs
// it.
func TestNeedsNamesPackages(t *testing.T) {
	script, err := filepath.Abs("../../tools/needs")
	require.NoError(t, err)
	const certificates, headers = "/etc/ssl/certs/ca-certificates.crt", "/usr/include/stdlib.h"
	for _, tt := range []struct {
		name     string
		command  string
		programs string
		files    []string
		want     string
	}{
		{"all is there", "test", "go git tmux apt-get", []string{certificates}, ""},
		{"all is there, with the race detector", "race", "go gcc apt-get", []string{certificates, headers}, ""},
		{"a build needs no compiler and no tmux", "build", "go git apt-get", []string{certificates}, ""},
		{"a build needs no git", "build", "go apt-get", []string{certificates}, ""},
		{"no git", "test", "go tmux apt-get", []string{certificates}, "missing: git. Install with: apt-get install git\n"},
		{"no Go", "build", "git apt-get", nil, "Go is missing. Install Go 1.26 or newer from go.dev/dl, because those of distributions are often older.\n"},
		{"no certificates", "build", "go git apt-get", nil,
			"missing: the certificates of authorities, with which Go loads modules. Install with: apt-get install ca-certificates\n"},
		{"no compiler", "race", "go apt-get", []string{certificates},
			"missing: a C compiler, for the race detector. Install with: apt-get install gcc libc6-dev\n"},
		{"no headers", "race", "go gcc apt-get", []string{certificates}, "missing: the headers of the C library. Install with: apt-get install libc6-dev\n"},
		{"another system", "test", "go git", []string{certificates}, "missing: tmux. Debian's packages are tmux; install those of this system.\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			bin := filepath.Join(dir, "bin")
			require.NoError(t, os.Mkdir(bin, 0o700))
			for _, name := range strings.Fields(tt.programs) {
				require.NoError(t, os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // it is a program
			}
			if strings.Contains(tt.programs, "gcc") && !slices.Contains(tt.files, headers) {
				require.NoError(t, os.WriteFile(filepath.Join(bin, "gcc"), []byte("#!/bin/sh\nexit 1\n"), 0o700)) //nolint:gosec // it is a program
			}
			require.NoError(t, os.WriteFile(filepath.Join(bin, "uname"), []byte("#!/bin/sh\necho Linux\n"), 0o700)) //nolint:gosec // it is a program
			for _, file := range tt.files {
				require.NoError(t, os.MkdirAll(filepath.Dir(dir+file), 0o700))
				require.NoError(t, os.WriteFile(dir+file, nil, 0o600))
			}
			cmd := exec.Command("/bin/bash", script, tt.command)
			cmd.Env = []string{"PATH=" + bin, "CCBOT_NEEDS_ROOT=" + dir}
			out, _ := cmd.CombinedOutput()
			assert.Equal(t, tt.want, strings.ReplaceAll(string(out), "sudo ", ""))
			assert.Equal(t, tt.want != "", cmd.ProcessState.ExitCode() == 1)
		})
	}
}
