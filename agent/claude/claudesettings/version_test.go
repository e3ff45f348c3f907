package claudesettings

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/waittest"
)

// fakeClaude returns a program that prints the output of a script, and appends each start to a file
// in its folder.
func fakeClaude(t *testing.T, script string) *Binary {
	t.Helper()
	path := filepath.Join(t.TempDir(), "claude")
	writeClaude(t, path, script)
	return &Binary{Command: path, Env: []string{"PATH=" + os.Getenv("PATH")}, Log: slog.New(slog.DiscardHandler)}
}

func writeClaude(t *testing.T, path, script string) {
	t.Helper()
	fresh := path + ".new"
	require.NoError(t, os.WriteFile(fresh, []byte("#!/bin/sh\necho \"$0 $*\" >>'"+path+".log'\n"+script+"\n"), 0o700))
	require.NoError(t, os.Rename(fresh, path))
}

func starts(t *testing.T, i *Binary) []string {
	t.Helper()
	data, err := os.ReadFile(i.Command + ".log")
	if os.IsNotExist(err) {
		return nil
	}
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func TestBinary_Version(t *testing.T) {
	tests := []struct{ name, script, want string }{
		{"as it is said", "echo '2.0.30 (Claude Code)'", "2.0.30 (Claude Code)"},
		{"more lines", "echo 2.1.328; echo news", "2.1.328"},
		{"a book", "echo 2.1.328; exec head -c 10000000 /dev/zero", "2.1.328"},
		{"a child that keeps the output", "sleep 30 & echo $! >\"$0.child\"; echo 2.1.328", "2.1.328"},
		{"no version", "echo 'command not found'", ""},
		{"nothing", ":", ""},
		{"a failure", "echo 2.1.328; exit 1", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			i := fakeClaude(t, tt.script)
			t.Cleanup(func() { endChild(t, i.Command+".child") })
			assert.Equal(t, tt.want, i.Version(t.Context()))
			assert.Equal(t, tt.want, i.Version(t.Context()))
			assert.Equal(t, []string{i.Command + " --version"}, starts(t, i), "asked once, also when it does not know")
		})
	}
}

func TestBinary_Missing(t *testing.T) {
	i := &Binary{Command: filepath.Join(t.TempDir(), "claude"), Log: slog.New(slog.DiscardHandler)}
	assert.Empty(t, i.Version(t.Context()))
	writeClaude(t, i.Command, "echo 2.1.328")
	assert.Equal(t, "2.1.328", i.Version(t.Context()), "it was installed meanwhile")
}

// An update replaces the file, or what its link leads to. The binary is called by its own name all
// the same.
func TestBinary_AnUpdateIsSeen(t *testing.T) {
	i := fakeClaude(t, "echo 2.0.30")
	require.Equal(t, "2.0.30", i.Version(t.Context()))
	writeClaude(t, i.Command, "echo 2.1.328")
	require.NoError(t, os.Chtimes(i.Command, time.Time{}, time.Now().Add(time.Hour)))
	assert.Equal(t, "2.1.328", i.Version(t.Context()))

	link := filepath.Join(t.TempDir(), "claude")
	next := filepath.Join(t.TempDir(), "2.2.0")
	writeClaude(t, next, "echo ${0##*/} is wrong >&2; case $0 in */claude) echo 2.2.0;; esac")
	require.NoError(t, os.Symlink(i.Command, link))
	i.Command = link
	require.Equal(t, "2.1.328", i.Version(t.Context()))
	require.NoError(t, os.Remove(link))
	require.NoError(t, os.Symlink(next, link))
	assert.Equal(t, "2.2.0", i.Version(t.Context()))
}

// TestP9_VersionIsReadWithoutSecrets: the binary has what it was given, and nothing of this
// program.
func TestP9_VersionIsReadWithoutSecrets(t *testing.T) {
	t.Setenv("TELEGRAM_BOT_TOKEN", "123456:secret")
	i := fakeClaude(t, `env >"$0.env"; echo 2.1.328`)
	require.Equal(t, "2.1.328", i.Version(t.Context()))
	env, err := os.ReadFile(i.Command + ".env")
	require.NoError(t, err)
	assert.NotContains(t, string(env), "TELEGRAM")
	assert.NotContains(t, string(env), "secret")
}

// TestKnownWaitsForNoBinary asks for the version while the binary hangs, after it has answered, and
// after an update.
func TestKnownWaitsForNoBinary(t *testing.T) {
	i := fakeClaude(t, `[ -e "$0.go" ] && echo 2.0.30 && exit; echo >"$0.begun"; exec sleep 60`)
	i.Stale = make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- i.Run(ctx) }()
	waittest.Until(t, func() bool { _, err := os.Stat(i.Command + ".begun"); return err == nil })

	assert.Empty(t, i.Known())
	assert.Len(t, starts(t, i), 1, "the binary is still being asked")
	cancel()
	require.ErrorIs(t, <-ran, context.Canceled)
	require.NoError(t, os.WriteFile(i.Command+".go", nil, 0o600))
	require.Equal(t, "2.0.30", i.Version(t.Context()))

	writeClaude(t, i.Command, "echo 2.1.328")
	require.NoError(t, os.Chtimes(i.Command, time.Time{}, time.Now().Add(time.Hour)))
	assert.Equal(t, "2.0.30", i.Known(), "an update knows what the older one knew")
	select {
	case <-i.Stale:
	default:
		assert.Fail(t, "nobody asks the update")
	}
}

// If the caller stops, the next call runs the binary again.
func TestBinary_EndsWithItsContext(t *testing.T) {
	i := fakeClaude(t, `[ -e "$0.go" ] && echo 2.1.328 && exit; echo >"$0.begun"; exec sleep 60`)
	ctx, cancel := context.WithCancel(t.Context())
	said := make(chan string, 1)
	go func() { said <- i.Version(ctx) }()
	waittest.Until(t, func() bool { _, err := os.Stat(i.Command + ".begun"); return err == nil })
	cancel()
	assert.Empty(t, <-said)
	require.NoError(t, os.WriteFile(i.Command+".go", nil, 0o600))
	assert.Equal(t, "2.1.328", i.Version(t.Context()))
}

func TestSupportOf(t *testing.T) {
	for version, want := range map[string]Support{"": UnknownVersion, "two.one.x": UnknownVersion, "1.0.128": TooOld, Oldest: Supported,
		Tested + " (Claude Code)": Supported, "2.1.100000": Untested, "v3.0.0-beta.1": Untested} {
		assert.Equal(t, want, SupportOf(version), version)
	}
}

// TestTestedIsWhatTestsRun compares Tested with the version that the end-to-end tests install.
func TestTestedIsWhatTestsRun(t *testing.T) {
	data, err := os.ReadFile("../../../e2e/package.json")
	require.NoError(t, err)
	assert.Contains(t, string(data), `"@anthropic-ai/claude-code": "`+Tested+`"`)
}

// endChild ends the process whose number a file holds.
func endChild(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		return
	}
	var pid int
	_, err = fmt.Sscan(string(data), &pid)
	require.NoError(t, err)
	p, err := os.FindProcess(pid)
	require.NoError(t, err)
	require.NoError(t, p.Kill())
}
