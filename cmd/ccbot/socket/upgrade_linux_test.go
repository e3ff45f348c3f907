package socket

import (
	"bufio"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/claudesettings"
	"ccbot/internal/process"
	"ccbot/lifecycle/evidence"
)

// TestMain is the hook of these tests when it has a copy's name: it prints a line and waits until
// its input is closed.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "ccbot-hook" {
		os.Stdout.WriteString("ready\n")
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
		return
	}
	os.Exit(m.Run())
}

// program replaces the file at the path with a copy of this test's program, in its version.
func program(t *testing.T, path, version string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	data, err := os.ReadFile(self)
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path+".new", append(data, version...), 0o700))
	require.NoError(t, os.Rename(path+".new", path))
}

// running starts the program at a path, and returns it as the kernel shows it.
func running(t *testing.T, table *process.Table, path string) func() process.Process {
	t.Helper()
	cmd := exec.Command(path)
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		assert.NoError(t, in.Close())
		assert.NoError(t, cmd.Wait())
	})
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	return func() process.Process {
		p, err := table.Inspect(cmd.Process.Pid)
		require.NoError(t, err)
		return p
	}
}

// TestP4_HookStaysKnownAfterUpgrade has an agent that was launched with the hook of version 1, and
// changes the programs before or after the hook starts.
func TestP4_HookStaysKnownAfterUpgrade(t *testing.T) {
	table, err := process.NewTable()
	require.NoError(t, err)
	type place struct{ dir, old, now string }
	tests := []struct {
		name   string
		before func(t *testing.T, p place) // the hook starts
		after  func(t *testing.T, p place) // the hook waits
		now    func(p place) string        // the hook of the ccbot that runs now
		want   bool
	}{
		{name: "the same programs", now: func(p place) string { return p.old }, want: true},
		{name: "overwritten twice while it waits", now: func(p place) string { return p.old }, want: true,
			after: func(t *testing.T, p place) { program(t, p.old, "2"); program(t, p.old, "3") }},
		{name: "overwritten before it starts", now: func(p place) string { return p.old }, want: true,
			before: func(t *testing.T, p place) { program(t, p.old, "2") }},
		{name: "another folder", now: func(p place) string { return p.now }, want: true,
			before: func(t *testing.T, p place) { program(t, p.now, "2") }},
		{name: "a switched link", now: func(p place) string { return p.now }, want: true,
			before: func(t *testing.T, p place) {
				program(t, p.now, "2")
				require.NoError(t, os.Symlink(filepath.Dir(p.now), filepath.Join(p.dir, "current")))
			}},
		{name: "its folder is deleted", now: func(p place) string { return p.now }, want: true,
			after: func(t *testing.T, p place) {
				program(t, p.now, "2")
				require.NoError(t, os.RemoveAll(filepath.Dir(p.old)))
			}},
		{name: "downgraded in another folder", now: func(p place) string { return p.now }, want: true,
			before: func(t *testing.T, p place) { program(t, p.now, "0") }},
		{name: "another program is at its path", now: func(p place) string { return p.now }, want: true,
			after: func(t *testing.T, p place) { program(t, p.now, "2"); program(t, p.old, "other") }},
		{name: "another program at the recorded path", now: func(p place) string { return p.now },
			before: func(t *testing.T, p place) { program(t, p.now, "2"); program(t, p.old, "other") }},
		{name: "no digest", now: func(p place) string { return p.now },
			before: func(t *testing.T, p place) { program(t, p.now, "2") }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			p := place{dir, filepath.Join(dir, "v1", "ccbot-hook"), filepath.Join(dir, "v2", "ccbot-hook")}
			program(t, p.old, "1")
			above := evidence.Above{Agent: who, Found: true, Hook: claudesettings.Launch{HookBinary: p.old}.HookDigest()}
			require.NotEmpty(t, above.Hook)
			if tt.name == "no digest" {
				above.Hook = ""
			}
			if tt.before != nil {
				tt.before(t, p)
			}
			hook := running(t, table, p.old)
			if tt.after != nil {
				tt.after(t, p)
			}
			s := Socket{Hook: tt.now(p), Programs: table, Log: slog.New(slog.DiscardHandler)}
			chain := []process.Process{hook(), {Identity: who, Exe: "/opt/claude"}}
			assert.Equal(t, tt.want, s.fromHook(chain, above))
			python := process.Process{Identity: process.Identity{PID: 3, Start: 1, Boot: "b"}, Exe: "/usr/bin/python3"}
			assert.False(t, s.fromHook([]process.Process{chain[0], python, chain[1]}, above), "only shells are between")
		})
	}
}
