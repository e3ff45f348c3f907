package recovery

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// orphans returns the ids of the windows that are not ignored.
func (m *machine) orphans() (ids []string) {
	m.t.Helper()
	windows, err := m.Orphans(m.t.Context())
	require.NoError(m.t, err)
	for _, w := range windows {
		ids = append(ids, w.Pane.Window.String())
	}
	return ids
}

func (m *machine) windowsJSON() (list windowList) {
	m.t.Helper()
	data, err := os.ReadFile(filepath.Join(m.base, windowsFile))
	require.NoError(m.t, err)
	require.NoError(m.t, json.Unmarshal(data, &list))
	return list
}

func TestP2_OrphansAreShownUntilIgnored(t *testing.T) {
	m := newMachine(t)
	m.start(running)
	one, two := m.tmux.AddWindow(tmuxtest.Session, "one"), m.tmux.AddWindow(tmuxtest.Session, "two")
	split := m.tmux.Split(one.ID)
	claude := uuid.New()
	m.presences.put(m.runs(two.PID, []string{"claude"}), claude)
	m.runs(one.PID, []string{"bash"})
	calls := m.changes()

	windows, err := m.Orphans(t.Context())
	require.NoError(t, err)
	require.Len(t, windows, 2)
	assert.Equal(t, one.ID, windows[0].Pane.ID)
	assert.Nil(t, windows[0].Agent)
	require.NotNil(t, windows[1].Agent)
	assert.Equal(t, two.PID, windows[1].Agent.PID)
	assert.Equal(t, claude, windows[1].Agent.AgentSessionID)

	require.NoError(t, m.Ignore(t.Context(), windows[0]))
	assert.Equal(t, []string{two.Window.String()}, m.orphans())
	m.restart()
	assert.Equal(t, []string{two.Window.String()}, m.orphans())
	m.recover()
	assert.Len(t, m.lines("orphan_window"), 1)

	m.tmux.ClosePaneByHand(one.ID) // the rest is not what was ignored
	assert.Equal(t, []string{one.Window.String(), two.Window.String()}, m.orphans())
	m.tmux.ClosePaneByHand(split)
	m.tmux.ClosePaneByHand(two.ID)
	assert.Empty(t, m.orphans())
	assert.Equal(t, calls, m.changes(), "nothing is done to them")
}

func TestOrphanIsReportedOncePerLife(t *testing.T) {
	m := newMachine(t)
	one := m.tmux.AddWindow(tmuxtest.Session, "one")
	fresh := func() []evidence.Window {
		all, err := m.Orphans(t.Context())
		require.NoError(t, err)
		fresh, err := m.NewOrphans(t.Context(), all)
		require.NoError(t, err)
		return fresh
	}
	first := fresh()
	require.Len(t, first, 1)
	require.Len(t, fresh(), 1, "asking is not telling")
	require.NoError(t, m.MarkReported(t.Context(), first))
	m.restart()
	assert.Empty(t, fresh())
	assert.Len(t, m.orphans(), 1, "it is still in the list")

	two := m.tmux.AddWindow(tmuxtest.Session, "two")
	require.NoError(t, m.Ignore(t.Context(), evidence.Window{Pane: two}))
	unreported, err := m.NewOrphans(t.Context(), []evidence.Window{{Pane: two}})
	require.NoError(t, err)
	assert.Len(t, unreported, 1, "not to be told is not to have been told")
	m.tmux.ClosePaneByHand(two.ID)
	two = m.tmux.AddWindow(tmuxtest.Session, "two")
	second := fresh()
	require.Len(t, second, 1)
	assert.Equal(t, two.Window, second[0].Pane.Window)
	require.NoError(t, m.Ignore(t.Context(), first[0]))
	list := m.windowsJSON()
	require.Len(t, list.Windows, 1)
	assert.True(t, list.Windows[0].Reported && list.Windows[0].Ignored)

	m.tmux.StopServer()
	require.NoError(t, m.tmux.Ensure(t.Context()))
	for m.tmux.AddWindow(tmuxtest.Session, "three").Window != one.Window { // the ids begin again
	}
	third := fresh()
	assert.NotEmpty(t, third)
	require.NoError(t, m.MarkReported(t.Context(), third))
	assert.Len(t, m.windowsJSON().Windows, len(third), "what was known of the server before is forgotten")
}

func TestClosedWindowsAreForgotten(t *testing.T) {
	m := newMachine(t)
	for range 5 {
		p := m.tmux.AddWindow(tmuxtest.Session, "one")
		require.NoError(t, m.Ignore(t.Context(), evidence.Window{Pane: p}))
		m.tmux.ClosePaneByHand(p.ID)
	}
	assert.Len(t, m.windowsJSON().Windows, 1)
}

func TestOrphansWithoutTmux(t *testing.T) {
	m := newMachine(t)
	m.tmux.AddWindow(tmuxtest.Session, "one")
	m.Recovery.Tmux = silent{m.tmux, "Panes"}
	_, err := m.Orphans(t.Context())
	require.Error(t, err, "nobody knows")
	require.Error(t, m.Ignore(t.Context(), evidence.Window{}))
	m.Recovery.Tmux = silent{m.tmux, "Server"}
	_, err = m.NewOrphans(t.Context(), nil)
	require.Error(t, err)
	m.tmux.StopServer()
	m.Recovery.Tmux = m.tmux
	assert.Empty(t, m.orphans(), "there are none")
}

// An unreadable list is set aside and costs a repeated notice; fields that this version does not
// know stay.
func TestP8_UnreadableWindowList(t *testing.T) {
	tests := []struct {
		name, data string
		aside      bool
	}{
		{"torn", `{"version":1,"windows":[{"ser`, true},
		{"empty", "", true},
		{"of another shape", `{"version":1,"windows":7}`, true},
		{"of another version", `{"version":2,"windows":[]}`, true},
		{"with a later field", `{"version":1,"windows":[],"colour":"red"}`, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			path := filepath.Join(m.base, windowsFile)
			require.NoError(t, os.WriteFile(path, []byte(tc.data), 0o600))
			p := m.tmux.AddWindow(tmuxtest.Session, "one")
			assert.Len(t, m.orphans(), 1)
			m.recover()
			data, err := os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, tc.data, string(data), "a look changes nothing")

			require.NoError(t, m.Ignore(t.Context(), evidence.Window{Pane: p}))
			assert.Empty(t, m.orphans())
			moved, err := filepath.Glob(filepath.Join(m.base, "quarantine", "*windows.json"))
			require.NoError(t, err)
			assert.Equal(t, tc.aside, len(moved) == 1)
			data, err = os.ReadFile(path)
			require.NoError(t, err)
			assert.Equal(t, strings.Contains(tc.data, "colour"), strings.Contains(string(data), `"colour":"red"`))
		})
	}
}

// If nothing can be written, nothing is reported as done.
func TestP8_UnwritableWindowList(t *testing.T) {
	m := newMachine(t)
	p := m.tmux.AddWindow(tmuxtest.Session, "one")
	m.Dir = filepath.Join(m.base, "claude") // a file
	require.Error(t, m.Ignore(t.Context(), evidence.Window{Pane: p}))
	assert.Len(t, m.orphans(), 1)
}

// Ids are used again, by windows of the next server and by processes.
func TestP2_WindowIsIdentifiedByLife(t *testing.T) {
	known := knownWindow{ServerPID: server.PID, ServerStart: server.Start, Window: "@7", PanePID: pane(7).PID}
	assert.True(t, known.same(server, pane(7)))
	assert.False(t, known.same(server, pane(8, func(p *tmux.Pane) { p.PID = pane(7).PID })))
	assert.False(t, known.same(server, pane(7, func(p *tmux.Pane) { p.PID++ })))
	assert.False(t, known.same(tmux.ServerID{PID: server.PID, Start: server.Start + 1}, pane(7)))
	assert.False(t, known.same(tmux.ServerID{PID: server.PID + 1, Start: server.Start}, pane(7)))
}
