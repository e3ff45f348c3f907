package service

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// bench is a home with a scripted service manager.
type bench struct {
	*Service
	said  strings.Builder
	ran   []string
	fails string            // a command that begins so fails
	ends  int               // reads during which launchd still has an agent after bootout
	gone  bool              // launchd does not have it
	says  map[string]string // outputs of commands, by their beginning
}

func newBench(t *testing.T, goos string) *bench {
	t.Helper()
	b := &bench{says: map[string]string{
		"systemctl --user show": "ActiveState=active\nSubState=running\nActiveEnterTimestamp=Fri 2026-01-02 03:04:05 UTC\nMainPID=42\nStatusText=listening as @b\nNRestarts=1\n",
		"loginctl":              "no\n"}, gone: true}
	p := plain
	p.Home = t.TempDir()
	b.Service = New(goos, "", 7, p, func(_ context.Context, argv ...string) (string, error) {
		line := strings.Join(argv, " ")
		b.ran = append(b.ran, line)
		if err := b.launchd(line); err != nil {
			return "", err
		}
		if b.fails != "" && strings.HasPrefix(line, b.fails) {
			return "", errors.New("no bus")
		}
		for begin, out := range b.says {
			if strings.HasPrefix(line, begin) {
				return out, nil
			}
		}
		return "", nil
	}, &b.said)
	return b
}

// launchd simulates launchd's effect on the agent.
func (b *bench) launchd(line string) error {
	const target = "gui/7/ccbot"
	switch {
	case line == "launchctl bootout "+target:
		b.gone = true
	case strings.HasPrefix(line, "launchctl bootstrap ") && b.gone && b.ends > 0:
		return errors.New("Bootstrap failed: 5: Input/output error")
	case strings.HasPrefix(line, "launchctl bootstrap "), line == "launchctl kickstart "+target:
		b.gone = false
		b.says["launchctl print "+target] = "gui/7/ccbot = {\n\tstate = running\n\tpid = 42\n}\n"
	case line == "launchctl print "+target && b.gone && b.ends > 0:
		b.ends--
	case strings.HasSuffix(line, " "+target) && strings.HasPrefix(line, "launchctl") && !strings.Contains(line, "enable") && b.gone:
		return errors.New("Could not find service")
	}
	return nil
}

// since returns the new commands and output, without the commands that only read.
func (b *bench) since() (ran []string, said string) {
	for _, line := range b.ran {
		if !strings.Contains(line, " show") && !strings.Contains(line, " print ") {
			ran = append(ran, line)
		}
	}
	said = b.said.String()
	b.ran = nil
	b.said.Reset()
	return ran, said
}

func (b *bench) text(t *testing.T) string {
	t.Helper()
	text, _, err := read(b.manager.file())
	require.NoError(t, err)
	return text
}

func TestInstallWithSystemd(t *testing.T) {
	b := newBench(t, "linux")
	require.NoError(t, b.Install(t.Context(), false))
	assert.Equal(t, Unit(b.Program), b.text(t))
	ran, said := b.since()
	assert.Equal(t, []string{"systemctl --user daemon-reload", "systemctl --user enable --now ccbot"}, ran)
	assert.Contains(t, said, "written: "+filepath.Join(b.Program.Home, ".config/systemd/user/ccbot.service"))
	assert.Contains(t, said, "process 42")
	assert.Contains(t, said, "loginctl enable-linger")

	require.NoError(t, b.Install(t.Context(), false), "once more")
	_, said = b.since()
	assert.Contains(t, said, "unchanged: ")
	assert.NotContains(t, said, "until: ")

	b.Program.Binary = "/opt/new/ccbot"
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, State{Manager: "systemd", File: b.manager.file(), Installed: true, Starts: `"/home/me/bin/ccbot" run`, Active: true, Known: new(true), State: "active (running)", Report: "listening as @b",
		Since: state.Since, PID: 42, Restarts: new(1), Lingers: "no"}, state)
	assert.EqualValues(t, 1767323045, state.Since.Unix())
	require.NoError(t, b.Install(t.Context(), false), "what install has written is replaced")
	_, said = b.since()
	assert.Contains(t, said, "until: ccbot service restart")
	state, err = b.State(t.Context())
	require.NoError(t, err)
	assert.True(t, state.Same && state.Current)
}

// TestUnitIsCurrentWithSamePrograms: another order of PATH, or a folder without a program
// that ccbot needs, is no reason to install again.
func TestUnitIsCurrentWithSamePrograms(t *testing.T) {
	b := newBench(t, "linux")
	one, two := filepath.Join(t.TempDir(), "a%b"), t.TempDir()
	require.NoError(t, os.Mkdir(one, 0o700))
	for _, program := range []string{one + "/claude", two + "/tmux"} {
		require.NoError(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // a program
	}
	b.Program.Needs, b.Program.Path = []string{"claude", "tmux", "git"}, one+":"+two
	require.NoError(t, b.Install(t.Context(), false))
	for path, current := range map[string]bool{one + ":" + two: true, two + ":" + one: true, two + ":/none:" + one: true, two: false, one: false} {
		b.Program.Path = path
		state, err := b.State(t.Context())
		require.NoError(t, err)
		assert.Equal(t, current, state.Current, path)
	}
	require.NoError(t, os.WriteFile(two+"/claude", []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // a program
	b.Program.Path = two + ":" + one
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.False(t, state.Current, "this shell finds another claude first")
}

// A person's file is left alone, and compared with the text that install would write.
func TestPersonsFileIsLeftAlone(t *testing.T) {
	b := newBench(t, "linux")
	mine := strings.Replace(Unit(b.Program), "RestartSec=5s", "RestartSec=50s", 1)
	require.NoError(t, os.MkdirAll(filepath.Dir(b.manager.file()), 0o700))
	require.NoError(t, os.WriteFile(b.manager.file(), []byte(mine), 0o600))
	require.ErrorIs(t, b.Install(t.Context(), false), errChanged)
	ran, said := b.since()
	assert.Empty(t, ran)
	assert.Contains(t, said, "\n-RestartSec=50s\n+RestartSec=5s\n")
	require.ErrorIs(t, b.Uninstall(t.Context(), false), errChanged)
	assert.Equal(t, mine, b.text(t))
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.True(t, state.Changed && state.Same && !state.Current)
	require.NoError(t, b.Install(t.Context(), true))
	assert.Equal(t, Unit(b.Program), b.text(t))
}

// TestDanglingLinkIsPersonsFile: systemctl mask makes one.
func TestDanglingLinkIsPersonsFile(t *testing.T) {
	for _, to := range []string{os.DevNull, "/not/there"} {
		b := newBench(t, "linux")
		require.NoError(t, os.MkdirAll(filepath.Dir(b.manager.file()), 0o700))
		require.NoError(t, os.Symlink(to, b.manager.file()))
		require.ErrorIs(t, b.Install(t.Context(), false), errChanged)
		require.ErrorIs(t, b.Uninstall(t.Context(), false), errChanged)
		state, err := b.State(t.Context())
		require.NoError(t, err)
		assert.True(t, state.Installed && state.Changed)
		now, err := os.Readlink(b.manager.file())
		require.NoError(t, err)
		assert.Equal(t, to, now)
		require.NoError(t, b.Install(t.Context(), true))
		assert.Equal(t, Unit(b.Program), b.text(t))
	}
}

// Install then prints the remaining commands.
func TestInstallWithoutManagerWritesFile(t *testing.T) {
	for goos, left := range map[string]string{"linux": "systemctl --user enable --now ccbot\n", "darwin": "launchctl bootstrap gui/7 "} {
		b := newBench(t, goos)
		b.fails = map[string]string{"linux": "systemctl", "darwin": "launchctl"}[goos]
		require.NoError(t, b.Install(t.Context(), false))
		assert.NotEmpty(t, b.text(t))
		_, said := b.since()
		assert.Contains(t, said, "does not answer (no bus)")
		assert.Contains(t, said, left)
		state, err := b.State(t.Context())
		require.NoError(t, err)
		assert.Equal(t, goos == "darwin", state.Known != nil, "launchd has forgotten it; of systemd nothing is known")
		assert.Nil(t, state.Restarts)
		require.NoError(t, b.Uninstall(t.Context(), false))
		assert.Empty(t, b.text(t))
	}
}

func TestServiceThatDoesNotStart(t *testing.T) {
	b := newBench(t, "linux")
	b.fails = "systemctl --user enable"
	require.ErrorContains(t, b.Install(t.Context(), false), "does not start: no bus")
}

// TestStoppedServiceIsNotActive: its start went well, or was not needed.
func TestStoppedServiceIsNotActive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "linux")
		b.says["systemctl --user show"] = "ActiveState=activating\nSubState=auto-restart\nMainPID=0\n"
		require.ErrorIs(t, b.Install(t.Context(), false), ErrOff)
		_, said := b.since()
		assert.Contains(t, said, "state: activating (auto-restart)\n")
		assert.NotContains(t, said, "ccbot runs")
		b.fails = "systemctl --user show"
		require.ErrorIs(t, b.Install(t.Context(), false), ErrUnknown)
		_, said = b.since()
		assert.NotContains(t, said, "ccbot runs")
	})
}

// TestOldSystemdIsAsked: no option that it does not know, and a time of another zone is not taken
// for one of UTC.
func TestOldSystemdIsAsked(t *testing.T) {
	b := newBench(t, "linux")
	require.NoError(t, b.Install(t.Context(), false))
	for _, line := range b.ran {
		assert.NotContains(t, line, "--timestamp")
	}
	b.says["systemctl --user show"] = "ActiveState=active\nSubState=running\nActiveEnterTimestamp=Fri 2026-01-02 03:04:05 EST\n"
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.True(t, state.Active && state.Since.IsZero(), state)
}

func TestUninstallAndRestart(t *testing.T) {
	b := newBench(t, "linux")
	require.ErrorIs(t, b.Restart(t.Context()), ErrNotInstalled)
	_, err := b.LogCommand(Logs{Lines: 100, Follow: true})
	require.ErrorIs(t, err, ErrNotInstalled)
	require.NoError(t, b.Uninstall(t.Context(), false))
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.Equal(t, State{Manager: "systemd", File: b.manager.file()}, state)
	assert.Empty(t, b.ran, "nothing is there")
	require.NoError(t, b.Install(t.Context(), false))
	b.since()
	logs, err := b.LogCommand(Logs{Lines: 100, Follow: true})
	require.NoError(t, err)
	assert.Equal(t, "journalctl --user -u ccbot -n 100 -f", strings.Join(logs, " "))
	logs, err = b.LogCommand(Logs{Lines: 100, Since: "2 hours ago"})
	require.NoError(t, err)
	assert.Equal(t, []string{"journalctl", "--user", "-u", "ccbot", "--since", "2 hours ago"}, logs)
	require.NoError(t, b.Restart(t.Context()))
	require.NoError(t, b.Uninstall(t.Context(), false))
	ran, _ := b.since()
	assert.Equal(t, []string{"systemctl --user reset-failed ccbot", "systemctl --user restart ccbot", "systemctl --user daemon-reload", "systemctl --user disable --now ccbot", "systemctl --user daemon-reload"}, ran)
	assert.NoFileExists(t, b.manager.file())
}

func TestInstallWithLaunchd(t *testing.T) {
	b := newBench(t, "darwin")
	require.NoError(t, b.Install(t.Context(), false))
	file := b.manager.file()
	load := []string{"launchctl enable gui/7/ccbot", "launchctl bootstrap gui/7 " + file}
	ran, _ := b.since()
	assert.Equal(t, load, ran)
	assert.Equal(t, filepath.Join(b.Program.Home, "Library/LaunchAgents/ccbot.plist"), file)
	require.NoError(t, b.Install(t.Context(), false))
	ran, _ = b.since()
	assert.Empty(t, ran, "it is loaded with this file")
	state, err := b.State(t.Context())
	require.NoError(t, err)
	assert.True(t, state.Active && state.PID == 42, state)
	b.says["launchctl print gui/7/ccbot"] = "gui/7/ccbot = {\n\tstate = not running\n}\n"
	require.NoError(t, b.Install(t.Context(), false))
	ran, _ = b.since()
	assert.Equal(t, []string{"launchctl kickstart gui/7/ccbot"}, ran, "it is loaded, and rests")
	require.NoError(t, b.Restart(t.Context()))
	require.NoError(t, b.Uninstall(t.Context(), false))
	ran, _ = b.since()
	assert.Equal(t, []string{"launchctl kickstart -k gui/7/ccbot", "launchctl bootout gui/7/ccbot"}, ran)
}

// TestLaunchdIsWaitedFor: bootout is back before the agent has ended, and until then no other one
// can be loaded.
func TestLaunchdIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "darwin")
		require.NoError(t, b.Install(t.Context(), false))
		b.since()
		b.Program.Binary, b.ends = "/opt/new/ccbot", 30
		require.NoError(t, b.Install(t.Context(), false))
		ran, _ := b.since()
		assert.Equal(t, []string{"launchctl bootout gui/7/ccbot", "launchctl enable gui/7/ccbot", "launchctl bootstrap gui/7 " + b.manager.file()}, ran,
			"launchd reads a file only when it loads it")
		b.ends = 1 << 30
		require.ErrorContains(t, b.Stop(t.Context()), "launchd still has it")
	})
}

// TestSilentLaunchdIsUnknown: an agent that may run is not said to be stopped.
func TestSilentLaunchdIsUnknown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, "darwin")
		require.NoError(t, b.Install(t.Context(), false))
		b.since()
		b.fails, b.ends = "launchctl print", 1<<30
		require.ErrorIs(t, b.Stop(t.Context()), ErrUnknown)
		require.ErrorIs(t, b.Restart(t.Context()), ErrUnknown)
		ctx, stop := context.WithCancel(t.Context())
		stop()
		require.ErrorIs(t, b.Stop(ctx), context.Canceled)
		_, said := b.since()
		assert.Empty(t, said)
	})
}

// TestStop and start again.
func TestStop(t *testing.T) {
	for goos, want := range map[string][]string{
		"linux":  {"systemctl --user stop ccbot", "systemctl --user reset-failed ccbot", "systemctl --user restart ccbot"},
		"darwin": {"launchctl bootout gui/7/ccbot", "launchctl enable gui/7/ccbot", "launchctl bootstrap gui/7 FILE"},
	} {
		b := newBench(t, goos)
		require.ErrorIs(t, b.Stop(t.Context()), ErrNotInstalled)
		require.NoError(t, b.Install(t.Context(), false))
		b.since()
		require.NoError(t, b.Stop(t.Context()))
		if goos == "darwin" {
			state, err := b.State(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []any{false, "not loaded", ""}, []any{state.Active, state.State, state.Problem})
		}
		require.NoError(t, b.Restart(t.Context()))
		ran, said := b.since()
		assert.Equal(t, want, strings.Split(strings.ReplaceAll(strings.Join(ran, "\n"), b.manager.file(), "FILE"), "\n"))
		assert.Contains(t, said, "or until: ccbot service restart\n")
	}
}

// The other program is also named in a person's file.
func TestOtherProgramIsNamed(t *testing.T) {
	for goos, odd := range map[string]string{"linux": `"/opt/<other>/ccbot" run`, "darwin": "/opt/<other>/ccbot"} {
		b := newBench(t, goos)
		mine := b.Program.Binary
		b.Program.Binary = "/opt/<other>/ccbot"
		require.NoError(t, b.Install(t.Context(), false))
		b.Program.Binary = mine
		for _, changed := range []bool{false, true} {
			state, err := b.State(t.Context())
			require.NoError(t, err)
			assert.Equal(t, []any{changed, false, odd}, []any{state.Changed, state.Same, state.Starts})
			require.NoError(t, os.WriteFile(b.manager.file(), []byte(b.text(t)+"\n"), 0o600))
		}
	}
}

func TestUnwritablePathsAreRefused(t *testing.T) {
	b := newBench(t, "linux")
	b.Program.Path = "/a\nExecStartPre=/bin/evil"
	require.ErrorContains(t, b.Install(t.Context(), true), "control character")
	b.Program.Path, b.Program.Binary = "/a", "/it's/ccbot"
	require.ErrorContains(t, b.Install(t.Context(), true), "quotation mark")
	b.Program.Binary, b.Program.StateDir = "/ccbot", "/state\xff"
	require.ErrorContains(t, b.Install(t.Context(), true), "not UTF-8")
	assert.Empty(t, b.text(t))
}

// TestIrregularUnitIsNotRead puts a pipe, a device and a huge file in the place of the unit.
func TestIrregularUnitIsNotRead(t *testing.T) {
	for name, plant := range map[string]func(path string) error{
		"a pipe":   func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"a device": func(path string) error { return os.Symlink("/dev/zero", path) },
		"too large": func(path string) error {
			// without blocks on the disk
			return errors.Join(os.WriteFile(path, []byte("[Unit]"), 0o600), os.Truncate(path, 1<<34))
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, "linux")
			require.NoError(t, os.MkdirAll(filepath.Dir(b.manager.file()), 0o700))
			require.NoError(t, plant(b.manager.file()))
			require.Error(t, b.Install(t.Context(), true))
			require.Error(t, b.Uninstall(t.Context(), true))
			_, err := b.State(t.Context())
			require.Error(t, err)
		})
	}
}

// TestRelativeConfigHomeIsIgnored: systemd would not find a unit in the folder where the verb runs.
func TestRelativeConfigHomeIsIgnored(t *testing.T) {
	for units, want := range map[string]string{"": "/home/me/.config", "rel": "/home/me/.config", "./rel": "/home/me/.config", "/etc/xdg": "/etc/xdg"} {
		s := New("linux", units, 7, Program{Home: "/home/me"}, nil, nil)
		assert.Equal(t, want+"/systemd/user/ccbot.service", s.manager.file(), units)
	}
}
