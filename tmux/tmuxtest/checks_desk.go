package tmuxtest

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/tmux"
)

// A person has started a claude from a shell: the pane's pid is still the shell's.
func checkGuardInFrontOfShell(t *testing.T, w World) {
	id := w.Person.OpenShell(t)
	shell, err := w.Tmux.Pane(t.Context(), id)
	require.NoError(t, err)
	closeAfter(t, w, shell)
	r := newRecorder(t)
	w.Person.RunInFront(t, id, w.Binary, programWord, r.file)
	r.await(t, w, id)
	require.Equal(t, shell.PID, r.PID)
	require.NotEqual(t, shell.Command, r.Command)
	g := r.guard()
	require.NoError(t, w.Tmux.Paste(t.Context(), g, "text"))
	require.NoError(t, w.Tmux.Enter(t.Context(), g))
	require.NoError(t, w.Tmux.Press(t.Context(), g, tmux.KeyEscape))
	r.requireInput(t, "text\r\x1b")
	requireRefused(t, w, tmux.Guard{Pane: id, PID: shell.PID, Command: shell.Command}, nil)
	r.requireInput(t, "text\r\x1b")

	w.Person.EndInFront(t, id)
	eventually(t, func() bool {
		p, err := w.Tmux.Pane(t.Context(), id)
		return err == nil && p.Command == shell.Command
	}, "the shell is not in front again")
	requireRefused(t, w, g, nil)
	after, err := w.Tmux.Pane(t.Context(), id)
	require.NoError(t, err)
	assert.Equal(t, shell.PID, after.PID)
	assert.False(t, after.Dead, "the shell stays")
}

func viewers(t *testing.T, w World) []tmux.Viewer {
	t.Helper()
	all, err := w.Tmux.Viewers(t.Context())
	require.NoError(t, err)
	return all
}

func viewer(t *testing.T, w World, tty string) tmux.Viewer {
	t.Helper()
	all := viewers(t, w)
	i := slices.IndexFunc(all, func(v tmux.Viewer) bool { return v.TTY == tty })
	require.GreaterOrEqual(t, i, 0, "%s is not among %v", tty, all)
	return all[i]
}

func attached(t *testing.T, w World, id tmux.PaneID) int {
	t.Helper()
	p, err := w.Tmux.Pane(t.Context(), id)
	require.NoError(t, err)
	return p.Attached
}

func checkViewers(t *testing.T, w World) {
	r, other := startRecorder(t, w, nil), startRecorder(t, w, nil)
	require.Empty(t, viewers(t, w), "the client that asks is none")
	tty := w.Person.Attach(t, r.Window, Terminal{})
	assert.Equal(t, []tmux.Viewer{{Window: r.Window, Session: Session, TTY: tty}}, viewers(t, w))
	assert.Equal(t, 1, attached(t, w, r.ID))
	w.Person.Show(t, tty, other.Window)
	assert.Equal(t, other.Window, viewer(t, w, tty).Window)

	second := w.Person.Attach(t, r.Window, Terminal{ReadOnly: true})
	assert.True(t, viewer(t, w, second).ReadOnly)
	assert.False(t, viewer(t, w, tty).ReadOnly)
	assert.Equal(t, r.Window, viewer(t, w, second).Window)
	assert.Equal(t, r.Window, viewer(t, w, tty).Window, "a session shows one window, to all its terminals")

	w.Person.Detach(t, second)
	assert.Len(t, viewers(t, w), 1)
	w.Person.Detach(t, tty)
	assert.Empty(t, viewers(t, w))
	assert.Equal(t, 0, attached(t, w, r.ID))
}

// The check continues until the second has changed after the attach, because tmux does not report
// fractions of a second.
func checkLastKey(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	typing := w.Person.Attach(t, r.Window, Terminal{})
	watching := w.Person.Attach(t, r.Window, Terminal{})
	var first tmux.Viewer
	press := func() tmux.Viewer {
		require.NoError(t, w.Tmux.Enter(t.Context(), r.guard()))
		w.Person.Press(t, typing)
		return viewer(t, w, typing)
	}
	eventually(t, func() bool {
		first = press()
		return !first.LastKey.IsZero()
	}, "a key is not seen")
	eventually(t, func() bool { return press().LastKey.After(first.LastKey) }, "a later key is not seen")
	assert.Zero(t, viewer(t, w, watching).LastKey, "neither ccbot's keys nor another terminal's are its own")
}

// ccbot's typing does not count as a person's; keys from a terminal do, even after the terminal has
// gone.
func checkTouched(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	touched := func() time.Time {
		p, err := w.Tmux.Pane(t.Context(), r.ID)
		require.NoError(t, err)
		return p.Touched
	}
	tty := w.Person.Attach(t, r.Window, Terminal{})
	first := touched()
	require.False(t, first.IsZero())
	start := time.Now()
	eventually(t, func() bool {
		require.NoError(t, w.Tmux.Paste(t.Context(), r.guard(), "x"))
		require.NoError(t, w.Tmux.Enter(t.Context(), r.guard()))
		return time.Since(start) > 1100*time.Millisecond
	}, "a second passes")
	assert.Equal(t, first, touched(), "ccbot's own keys")
	w.Person.Press(t, tty)
	eventually(t, func() bool { return touched().After(first) }, "a person's key is not seen")
	w.Person.Detach(t, tty)
	assert.True(t, touched().After(first), "it is still known")
}

func checkGroupedViewer(t *testing.T, w World) {
	r, other := startRecorder(t, w, nil), startRecorder(t, w, nil)
	tty := w.Person.Attach(t, r.Window, Terminal{})
	grouped := w.Person.Attach(t, other.Window, Terminal{Grouped: true})
	v := viewer(t, w, grouped)
	assert.Equal(t, other.Window, v.Window)
	assert.NotEqual(t, Session, v.Session)
	assert.Equal(t, r.Window, viewer(t, w, tty).Window, "each session of a group shows its own")
	assert.Equal(t, 1, attached(t, w, other.ID), "the pane is told under ccbot's session")
	w.Person.Show(t, grouped, r.Window)
	assert.Equal(t, r.Window, viewer(t, w, grouped).Window)
}

func checkControlIsNoViewer(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	w.Person.Attach(t, r.Window, Terminal{Control: true})
	assert.Empty(t, viewers(t, w))
	assert.Equal(t, 1, attached(t, w, r.ID), "it is attached all the same")
}

func checkViewedWindowCloses(t *testing.T, w World) {
	r := startRecorder(t, w, nil)
	tty := w.Person.Attach(t, r.Window, Terminal{})
	require.NoError(t, w.Tmux.ClosePane(t.Context(), r.guard()))
	v := viewer(t, w, tty)
	assert.NotEqual(t, r.Window, v.Window)
	panes, err := w.Tmux.Panes(t.Context())
	require.NoError(t, err)
	assert.True(t, slices.ContainsFunc(panes, func(p tmux.Pane) bool { return p.Window == v.Window && p.Session == Session }))
}
