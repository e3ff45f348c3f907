package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/processtest"
	"ccbot/internal/programtest"
)

// everyEvent lists the events that a hook may be run for, and one that ccbot does not use.
func everyEvent() []string {
	return []string{"SessionStart", "UserPromptSubmit", "Stop", "StopFailure", "SessionEnd", "PermissionRequest", "Notification"}
}

func payloadOf(event, text string) string {
	if event == "PermissionRequest" {
		return request(text)
	}
	return payload(event, text)
}

// TestP10_EventsInBadPlaces: exit 0 and not a word, and no bot anywhere.
func TestP10_EventsInBadPlaces(t *testing.T) {
	hook := build(t)
	places := []struct {
		name, script string
		corrupt      func(t *testing.T, a *agent)
	}{
		{name: "a good one"},
		{name: "no pane", script: `unset TMUX TMUX_PANE; "$0" --dir "$1"`},
		{name: "no folder told", script: `"$0"`},
		{name: "folder missing", corrupt: func(_ *testing.T, a *agent) { a.dir = filepath.Join(a.dir, "absent") }},
		{name: "folder is a file", corrupt: func(t *testing.T, a *agent) {
			a.dir = filepath.Join(a.dir, "file")
			require.NoError(t, os.WriteFile(a.dir, nil, 0o600))
		}},
		{name: "folder of the kernel", corrupt: func(_ *testing.T, a *agent) { a.dir = "/proc" }},
		{name: "read-only", corrupt: func(t *testing.T, a *agent) { mount(t, a.dir, "ro") }},
		{name: "full", corrupt: func(t *testing.T, a *agent) { mount(t, a.dir, "size=4k"); fill(t, a.dir) }},
		{name: "no more names", corrupt: func(t *testing.T, a *agent) { mount(t, a.dir, "nr_inodes=1") }},
		{name: "files may not grow", script: `ulimit -f 0; "$0" --dir "$1"`},
		// The runtime itself gives up there with a message; the rest of the line in the settings
		// handles that.
		{name: "no more open files", script: `(ulimit -n 3; "$0" --dir "$1") >/dev/null 2>&1 || :`},
		{name: "a socket that is a file", corrupt: func(t *testing.T, a *agent) {
			require.NoError(t, os.WriteFile(filepath.Join(a.dir, hookwire.SocketName), nil, 0o600))
		}},
	}
	inputs := map[string]func(event string) string{
		"good":     func(event string) string { return payloadOf(event, "x") },
		"half":     func(event string) string { return payloadOf(event, "x")[:60] },
		"not JSON": func(event string) string { return event },
	}
	big := map[string]func(event string) string{ // once is enough: it takes its time
		"10 MB":     func(event string) string { return payloadOf(event, strings.Repeat("x", 10<<20)) },
		"10 MB cut": func(event string) string { return payloadOf(event, strings.Repeat("x", 10<<20))[:10<<20] },
	}
	for _, place := range places {
		t.Run(place.name, func(t *testing.T) {
			a := newAgent(t, hook)
			if place.corrupt != nil {
				place.corrupt(t, &a)
			}
			inputs := maps.Clone(inputs)
			if place.name == "full" {
				maps.Copy(inputs, big)
			}
			for _, event := range everyEvent() {
				for name, in := range inputs {
					cmd := a.command(place.script)
					silent(t, cmd, strings.NewReader(in(event)))
					assert.Zero(t, cmd.ProcessState.ExitCode(), "%s, %s", event, name)
				}
			}
			for _, folder := range []string{"events", "bindings"} {
				entries, _ := os.ReadDir(filepath.Join(a.dir, folder)) // most have none
				for _, entry := range entries {
					assert.False(t, strings.HasPrefix(entry.Name(), "."), "half a file stays: %s", entry.Name())
				}
			}
		})
	}
}

// mount mounts a small file system on dir. If that is not permitted, it makes the folder read-only
// instead.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	out, err := exec.Command("mount", "-t", "tmpfs", "-o", options, "ccbot-test", dir).CombinedOutput()
	if err != nil {
		t.Logf("no file system of its own (%s): the folder is made read-only instead", strings.TrimSpace(string(out)))
		require.NoError(t, os.Chmod(dir, 0o500))
		return
	}
	t.Cleanup(func() { assert.NoError(t, exec.Command("umount", dir).Run()) })
}

// fill takes the last block of a small file system.
func fill(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, "filler")
	if err := os.WriteFile(path, make([]byte, 4<<10), 0o600); err != nil {
		t.Logf("not to be filled: %v", err) // it is a read-only folder
	}
}

// server is a private tmux server.
type server struct {
	t    *testing.T
	name string
	dir  string // TMUX_TMPDIR
}

func newServer(t *testing.T, dir, name string) server {
	t.Helper()
	s := server{t, fmt.Sprintf("ccbot-test-%d-%s", os.Getpid(), name), dir}
	processtest.EndAfterFailure(t, dir)
	// it may have ended with its last window
	t.Cleanup(func() { _ = s.command("kill-server").Run() })
	return s
}

func (s server) command(args ...string) *exec.Cmd {
	cmd := exec.Command("tmux", append([]string{"-L", s.name, "-f", "/dev/null"}, args...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + s.dir, "TERM=xterm-256color", "LANG=C.UTF-8"}
	return cmd
}

func (s server) do(args ...string) string {
	s.t.Helper()
	out, err := s.command(args...).CombinedOutput()
	require.NoError(s.t, err, "%s: %s", args, out)
	return strings.TrimSpace(string(out))
}

// TestP10_NamesThePane runs the hook in panes of real servers, started by hand, and asks tmux which
// they were.
func TestP10_NamesThePane(t *testing.T) {
	programtest.Require(t, "tmux")
	a := newAgent(t, build(t))
	sockets := shortDir(t)
	in := filepath.Join(t.TempDir(), "in")
	require.NoError(t, os.WriteFile(in, []byte(payload("SessionStart", "x")), 0o600))
	one, two := newServer(t, sockets, "one"), newServer(t, sockets, "two")
	one.do("new-session", "-d", "-s", "first", "sleep 600")
	one.do("new-session", "-d", "-t", "first", "-s", "grouped")
	one.do("new-session", "-d", "-s", "other", "sleep 600")
	// the same name and the same pane numbers
	two.do("new-session", "-d", "-s", "first", "sleep 600")
	tests := []struct {
		name   string
		server server
		target string
	}{
		{"a session", one, "=first:"}, {"a grouped one", one, "=grouped:"}, {"another session", one, "=other:"}, {"another server", two, "=first:"},
	}
	want := map[string]string{} // pane and server by window
	for i, tt := range tests {
		done := filepath.Join(t.TempDir(), "done")
		line := fmt.Sprintf(`"%s" -c '"%s" --dir "%s" --installed <"%s"; touch "%s"; exec sleep 600'`, a.claude, a.hook, a.dir, in, done)
		out := tt.server.do("new-window", "-d", "-P", "-F", "#{pane_id} #{socket_path},#{pid}", "-n", strconv.Itoa(i), "-t", tt.target, line)
		eventually(t, func() bool { _, err := os.Stat(done); return err == nil })
		pane, where, _ := strings.Cut(out, " ")
		want[pane+" "+where] = tt.name
	}
	require.Len(t, want, len(tests))
	bindings := a.bindings(t)
	assert.Len(t, bindings, len(tests))
	for _, b := range bindings {
		// what follows is a session's number
		socketAndPID := b.Tmux[:strings.LastIndexByte(b.Tmux, ',')]
		assert.Contains(t, want, b.Pane+" "+socketAndPID)
		delete(want, b.Pane+" "+socketAndPID)
	}
	assert.Empty(t, want)
	assert.Empty(t, a.events(t), "started by hand")
}
