package tmux_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/programtest"
	"ccbot/tmux"
)

func TestBracketedPaste(t *testing.T) {
	r := ensured(t)
	file := filepath.Join(t.TempDir(), "in")
	pane := r.shell(t, "u-1", `printf '\033[?2004hready'; stty raw -echo; exec cat >`+file)
	eventually(t, func() bool {
		screen, err := r.Capture(t.Context(), pane.ID, 0)
		p, paneErr := r.Pane(t.Context(), pane.ID)
		return err == nil && paneErr == nil && strings.Contains(screen, "ready") && p.Command == "cat"
	})
	require.NoError(t, r.Paste(t.Context(), tmux.Guard{Pane: pane.ID, PID: pane.PID}, "one\ntwo;"))
	eventually(t, func() bool {
		data, err := os.ReadFile(file)
		return err == nil && string(data) == "\x1b[200~one\ntwo;\x1b[201~"
	})
}

func TestWindowsOfInstantEndsAreKept(t *testing.T) {
	r := ensured(t)
	for i := range 60 {
		key := fmt.Sprintf("u-%d", i)
		p := r.shell(t, key, "exit 5")
		assert.Equal(t, "t/"+key, p.Tag)
	}
	eventually(t, func() bool {
		panes, err := r.Panes(t.Context())
		require.NoError(t, err)
		require.Len(t, panes, 62)
		return !slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.WindowName != "__main__" && p.DeadStatus != 5 })
	})
}

func TestStrangeNames(t *testing.T) {
	r := ensured(t)
	dir := filepath.Join(r.home, "new\nline | #{pid} \xff \\377 \a\x1b$(x)")
	require.NoError(t, os.Mkdir(dir, 0o700))
	data, err := os.ReadFile(programtest.Require(t, "sleep"))
	require.NoError(t, err)
	program := filepath.Join(r.home, "a,b}c#d:|e")
	require.NoError(t, os.WriteFile(program, data, 0o700))
	made, err := r.NewWindow(t.Context(), tmux.Spec{Name: "x", Tag: "a|b\nc", Dir: dir, Argv: []string{program, "1000"}})
	require.NoError(t, err)
	p := made
	eventually(t, func() bool {
		p, err = r.Pane(t.Context(), made.ID)
		return err == nil && p.Command == filepath.Base(program)
	})
	dir, err = filepath.EvalSymlinks(dir)
	require.NoError(t, err)
	assert.Equal(t, dir, p.Path)
	assert.Equal(t, "a|b\nc", p.Tag)
	g := tmux.Guard{Pane: p.ID, PID: p.PID, Command: p.Command}
	require.NoError(t, r.Enter(t.Context(), g))
	g.Command += "e"
	require.ErrorIs(t, r.Enter(t.Context(), g), tmux.ErrGuard)
}

func TestNamesThatTmuxWouldRefuse(t *testing.T) {
	r := ensured(t)
	p, err := r.NewWindow(t.Context(), tmux.Spec{Name: "a\x00\nb\x1b[1m\xff", Tag: "t", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
	require.NoError(t, err)
	assert.Equal(t, "a  b [1m\ufffd", p.WindowName)
	require.NoError(t, r.Rename(t.Context(), tmux.Guard{Pane: p.ID, PID: p.PID}, "t", "c\td"))
	p, err = r.Pane(t.Context(), p.ID)
	require.NoError(t, err)
	assert.Equal(t, "c d", p.WindowName)
	// An unassigned code point is refused by some versions; the window is there all the same.
	p, err = r.NewWindow(t.Context(), tmux.Spec{Name: "\U000E0FFF", Tag: "t2", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
	require.NoError(t, err)
	assert.Equal(t, "t2", p.Tag)
}

func TestLinkedWindowComesOnce(t *testing.T) {
	r := ensured(t)
	r.tmux(t, "new-session", "-d", "-s", "aaa")
	pane := r.shell(t, "u-1", "sleep 1000")
	r.tmux(t, "link-window", "-s", pane.Window.String(), "-t", "aaa:")
	panes, err := r.Panes(t.Context())
	require.NoError(t, err)
	var seen []string
	for _, p := range panes {
		if p.ID == pane.ID {
			seen = append(seen, p.Session)
		}
	}
	assert.Equal(t, []string{"ccbot"}, seen)
}

func TestEnsureCompletesWhatIsMissing(t *testing.T) {
	r := ensured(t)
	r.shell(t, "u-1", "sleep 1000")
	r.tmux(t, "kill-window", "-t", "=ccbot:=__main__")
	require.NoError(t, r.Ensure(t.Context()))
	require.NoError(t, r.Ensure(t.Context()))
	assert.Equal(t, "__main__\nu-1", sortedLines(r.tmux(t, "list-windows", "-t", "=ccbot", "-F", "#{window_name}")))
	r.tmux(t, "kill-session", "-t", "=ccbot")
	require.NoError(t, r.Ensure(t.Context()))
	assert.Equal(t, "__main__ 120x40", r.tmux(t, "list-windows", "-t", "=ccbot", "-F", "#{window_name} #{window_width}x#{window_height}"))
	p := r.shell(t, "u-2", "sleep 1000")
	assert.Equal(t, "120x40", r.tmux(t, "list-panes", "-t", p.ID.String(), "-F", "#{pane_width}x#{pane_height}"))
}

func sortedLines(text string) string {
	lines := strings.Split(text, "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

func TestAttachCommand(t *testing.T) {
	r := ensured(t)
	first := r.shell(t, "u-1", "sleep 1000")
	second := r.shell(t, "u-2", "sleep 1000")
	for _, c := range []struct {
		name string
		text string
		want tmux.WindowID
	}{
		{"by id", r.AttachCommand(second.Window, "u-2"), second.Window},
		{"by name", r.AttachCommand(tmux.WindowID{}, "u-1"), first.Window},
	} {
		t.Run(c.name, func(t *testing.T) {
			// A pane of the same server is the person's terminal.
			terminal := r.tmux(t, "new-window", "-d", "-P", "-F", "#{pane_id}", "-t", r.control()+":", "env -u TMUX sh -c "+strconv.Quote(c.text))
			eventually(t, func() bool {
				p, err := r.Pane(t.Context(), second.ID)
				return err == nil && p.Attached == 1
			})
			assert.Equal(t, c.want.String(), r.tmux(t, "display-message", "-p", "-t", "=ccbot:", "#{window_id}"))
			r.tmux(t, "kill-pane", "-t", terminal)
			eventually(t, func() bool {
				p, err := r.Pane(t.Context(), second.ID)
				return err == nil && p.Attached == 0
			})
		})
	}
}

// Under any tmux.conf a window is made by ids: with its tag before its process, and with the status
// of a process that ends at once. An impossible window is refused, and nothing stays.
func TestP1_WindowsUnderAnyConfiguration(t *testing.T) {
	for _, line := range []string{
		"set-hook -g after-new-window 'rename-window mine'",
		"set-hook -g window-linked 'rename-window mine'",
		"set-hook -g after-new-window 'move-window -r'",
		"set-hook -g after-new-window 'split-window -d'",
		"set-hook -g after-new-window 'next-window'",
		"set-hook -g after-new-window 'set-option -w synchronize-panes on'",
		"set-hook -g after-respawn-pane 'rename-window mine'",
		"set-hook -g after-set-option 'display-message hello'",
		"set-option -g remain-on-exit on",
		"set-option -g remain-on-exit off",
		"set-option -g automatic-rename on",
		"set-option -g allow-rename on",
		"set-option -g base-index 1 ; set-option -g pane-base-index 1",
		"set-option -g renumber-windows on",
		"set-option -g destroy-unattached on",
		"set-option -g default-command 'exec false'",
		"set-option -g default-shell /bin/false",
		"set-option -g default-size 20x5",
		"set-option -g window-size smallest",
		"set-option -g history-limit 0",
		"set-option -g update-environment ''",
		"set-option -g set-titles on",
	} {
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			r := open(t)
			require.NoError(t, os.WriteFile(filepath.Join(r.home, ".tmux.conf"), []byte(line+"\n"), 0o600))
			require.NoError(t, r.Ensure(t.Context()))
			long := r.shell(t, "long", "exec sleep 1000")
			short := r.shell(t, "short", "exit 7")
			assert.Equal(t, "t/long", long.Tag)
			eventually(t, func() bool {
				p, err := r.Pane(t.Context(), short.ID)
				return err == nil && p.Dead && p.DeadStatus == 7 && p.Tag == "t/short"
			})
			require.NoError(t, r.ClosePane(t.Context(), tmux.Guard{Pane: short.ID, PID: short.PID}))
			p, err := r.Pane(t.Context(), long.ID)
			require.NoError(t, err)
			assert.Equal(t, long.PID, p.PID)
			assert.False(t, p.Dead)
			panes, err := r.Panes(t.Context())
			require.NoError(t, err)
			assert.False(t, slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.WindowName == tmux.PlaceholderName }))
		})
	}
}

// If a hook takes the pane of a new window, nothing of ccbot stays there, and no process is
// started.
func TestP2_TakenWindowIsNotClosed(t *testing.T) {
	for name, tc := range map[string]struct {
		hook string
		left int // windows that are a person's now
	}{
		"closed":    {"kill-pane -t =ccbot:=ccbot-new", 0},
		"respawned": {"respawn-pane -k -t =ccbot:=ccbot-new 'sleep 1000'", 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := ensured(t)
			before, err := r.Panes(t.Context())
			require.NoError(t, err)
			r.tmux(t, "set-hook", "-g", "after-new-window", tc.hook)
			_, err = r.NewWindow(t.Context(), tmux.Spec{Name: "api", Tag: "t/1", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
			require.ErrorIs(t, err, tmux.ErrTaken)
			require.NotErrorIs(t, err, tmux.ErrLost, "nothing of it is left")
			after, err := r.Panes(t.Context())
			require.NoError(t, err)
			assert.Len(t, after, len(before)+tc.left)
		})
	}
}

// Between the steps the window is a placeholder, and no process of the session runs in a window
// without its tag.
func TestP1_ProcessBeginsAfterTheTag(t *testing.T) {
	r := ensured(t)
	var seen []string
	_, err := r.NewWindow(t.Context(), tmux.Spec{Name: "api", Tag: "t/1", Dir: "/", Argv: []string{"/bin/cat"}, At: func(step string) {
		panes, err := r.Panes(t.Context())
		require.NoError(t, err)
		for _, p := range panes {
			if p.WindowName == tmux.PlaceholderName {
				// tmux names the process before its exec
				assert.True(t, step == "window-begun" || p.Command != "cat", step)
				seen = append(seen, step+" "+p.Tag)
			}
		}
	}})
	require.NoError(t, err)
	assert.Equal(t, []string{"window-reserved ", "window-tagged t/1", "window-begun t/1"}, seen)
}

// A placeholder that a crash has left closes by itself, also where dead panes stay.
func TestLeftPlaceholderCloses(t *testing.T) {
	r := ensured(t)
	r.tmux(t, "set-option", "-g", "remain-on-exit", "on")
	func() {
		defer func() { _ = recover() }()
		_, _ = r.NewWindow(t.Context(), tmux.Spec{Name: "api", Tag: "t/1", Dir: "/", Argv: []string{"/bin/cat"}, At: func(step string) {
			if step == "window-tagged" {
				panic("the end")
			}
		}})
	}()
	eventually(t, func() bool {
		panes, err := r.Panes(t.Context())
		return err == nil && !slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.WindowName == tmux.PlaceholderName })
	})
}

// show-buffer of tmux 3.5a prints more than the buffer if that has 976 bytes, or some other
// lengths.
func TestCaptureEndsWithTheScreen(t *testing.T) {
	r := ensured(t)
	pane := r.shell(t, "u-1", `stty -echo; while read -r _; do printf x; done`)
	const first, last = 850, 1000
	r.tmux(t, "resize-window", "-t", pane.ID.String(), "-x", "80", "-y", "24")
	press := func(n int) { r.tmux(t, "send-keys", "-t", pane.ID.String(), "-N", strconv.Itoa(n), "Enter") }
	press(first)
	for n := first; n <= last; n++ {
		var screen string
		eventually(t, func() bool {
			var err error
			screen, err = r.Capture(t.Context(), pane.ID, 0)
			require.NoError(t, err)
			return strings.Count(screen, "x") >= n
		})
		assert.Equal(t, n, strings.Count(screen, "x"))
		assert.Empty(t, strings.Trim(screen, "x \n"))
		press(1)
	}
}
