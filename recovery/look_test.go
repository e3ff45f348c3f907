package recovery

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/port/talk"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// A Look during a start must not take its window for an orphan.
func TestP2_NewWindowIsNotOrphan(t *testing.T) {
	m := newMachine(t)
	m.Recovery.Tmux = during{m.tmux, func() { m.start(func(*session.Record) {}) }}
	assert.Empty(t, m.Collect(t.Context()).Orphans())
}

// during starts a session right before the panes are read.
type during struct {
	*tmuxtest.Fake
	start func()
}

func (d during) Panes(ctx context.Context) ([]tmux.Pane, error) {
	d.start()
	return d.Fake.Panes(ctx)
}

// The number of records does not change how often the processes and tmux are listed.
func TestSnapshotReadsOnce(t *testing.T) {
	m := newMachine(t)
	for range 5 {
		m.start(running)
	}
	count := func() (snapshots, listings int) {
		m.restart()
		scans, before := m.processes.Scanned(), len(m.tmux.Calls())
		m.Collect(t.Context())
		for _, op := range m.tmux.Calls()[before:] {
			if op == "Panes" {
				listings++
			}
		}
		return m.processes.Scanned() - scans, listings
	}
	snapshots, few := count()
	assert.Equal(t, 1, snapshots)
	for range 20 {
		m.start(running)
	}
	m.inTerminal(m.store.List()[0].AgentSessionID)
	snapshots, many := count()
	assert.Equal(t, 1, snapshots)
	assert.Equal(t, few, many)
	assert.LessOrEqual(t, many, 2, "one of recovery's own, one of the lifecycle's survey")
}

func TestLook(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	path := filepath.Join(m.base, "transcript.jsonl")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	require.NoError(t, os.Chtimes(path, noon, noon.Add(time.Hour)))
	r = m.change(r.ID, func(r *session.Record) { r.Cursors = []talk.Cursor{{Path: path}} })
	over := m.start(running)
	over = m.change(over.ID, func(r *session.Record) {
		r.State, r.Binding, r.Cursors = session.Archived, nil, []talk.Cursor{{Path: path}}
	})
	w := m.Collect(t.Context())
	assert.Equal(t, tabletest.Boot, w.Boot)
	assert.Equal(t, limits, w.Limits)
	assert.Equal(t, "transcript", w.Signs[r.ID].Of)
	assert.True(t, w.Signs[r.ID].At.Equal(noon.Add(time.Hour)))
	assert.NotEqual(t, "transcript", w.Signs[over.ID].Of, "whoever goes on with it writes it too")
	assert.Equal(t, process.Alive, w.Survey.Agents[r.ID])
	m.presences.fail = errors.New("not readable")
	assert.Nil(t, m.Collect(t.Context()).Survey.Writers)
	assert.Equal(t, process.Alive, m.Collect(t.Context()).Survey.Agents[r.ID])
	assert.NotEmpty(t, m.lines("writers_unclear"))
}

// An agent that a tool call of another one has started is not taken over.
func TestP2_NestedAgentIsNotTakenOver(t *testing.T) {
	m := newMachine(t)
	outer, lost := m.start(running), m.start(running)
	m.lose(lost)
	agent := m.inTerminal(lost.AgentSessionID)
	m.processes.Change(agent.PID, func(p *process.Process) { p.PPID = outer.Binding.Agent.PID })
	m.restart()
	m.recover()
	assert.Equal(t, session.Lost, m.get(lost.ID).State)
	assert.Empty(t, m.get(lost.ID).ClosedReason)
	assert.Equal(t, process.Alive, m.processes.Liveness(agent))
}

// If the processes above an agent are unknown, it stays in its place.
func TestP6_UnreadableAncestorCountsAsAgent(t *testing.T) {
	m := newMachine(t)
	lost := m.start(running)
	m.lose(lost)
	agent := m.inTerminal(lost.AgentSessionID)
	shell := m.runs(70, []string{"bash"})
	m.processes.Change(agent.PID, func(p *process.Process) { p.PPID = shell.PID })
	m.restart()
	m.presences.torn = shell.PID
	m.recover()
	assert.Equal(t, session.Lost, m.get(lost.ID).State)
	assert.Empty(t, m.get(lost.ID).ClosedReason)
}
