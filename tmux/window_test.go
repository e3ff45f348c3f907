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
	made, err := r.NewWindow(t.Context(), tmux.Spec{Name: "x", Key: "u-1", Tag: "a|b\nc", Dir: dir, Argv: []string{program, "1000"}})
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
	p, err := r.NewWindow(t.Context(), tmux.Spec{Name: "a\x00\nb\x1b[1m\xff", Key: "u-1", Tag: "t", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
	require.NoError(t, err)
	assert.Equal(t, "a  b [1m\ufffd", p.WindowName)
	require.NoError(t, r.Rename(t.Context(), tmux.Guard{Pane: p.ID, PID: p.PID}, "t", "c\td"))
	p, err = r.Pane(t.Context(), p.ID)
	require.NoError(t, err)
	assert.Equal(t, "c d", p.WindowName)
	// An unassigned code point is refused by some versions; the window is there all the same.
	p, err = r.NewWindow(t.Context(), tmux.Spec{Name: "\U000E0FFF", Key: "u-2", Tag: "t2", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
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

// A hook of the person's renames each new window before it has its tag: the window
// cannot be marked, and does not stay without a mark.
func TestP1_AWindowThatCannotBeMarkedDoesNotStay(t *testing.T) {
	r := ensured(t)
	before, err := r.Panes(t.Context())
	require.NoError(t, err)
	r.tmux(t, "set-hook", "-g", "after-new-window", "rename-window mine")
	_, err = r.NewWindow(t.Context(), tmux.Spec{Name: "api", Key: "u-1", Tag: "t/1", Dir: "/", Argv: []string{"/bin/sleep", "1000"}})
	require.Error(t, err)
	require.NotErrorIs(t, err, tmux.ErrLost, "nothing of it is left")
	after, err := r.Panes(t.Context())
	require.NoError(t, err)
	assert.Len(t, after, len(before))
}
