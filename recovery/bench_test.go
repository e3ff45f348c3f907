package recovery

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/process/tabletest"
	"ccbot/internal/session"
	"ccbot/tmux"
	"ccbot/tmux/tmuxtest"
)

// A large household: 1,000 records, 200 of them running in 200 windows, 50 of which are gone. The
// records are on a disk, and the processes are those of this machine and the fake ones.
const (
	benchRecords = 1000
	benchWindows = 200
	benchLost    = 50
)

// BenchmarkRecover is one start: read the world, plan, back up, apply 50 changes, read it again.
// The first backup of all writes and flushes every record, later ones what changed.
func BenchmarkRecover(b *testing.B) {
	b.Run("backed up before", func(b *testing.B) { benchmarkRecover(b, true) })
	b.Run("first backup", func(b *testing.B) { benchmarkRecover(b, false) })
}

func benchmarkRecover(b *testing.B, before bool) {
	var backups time.Duration
	for range b.N {
		b.StopTimer()
		m := household(b)
		backUp := m.Backup
		if before {
			_, err := backUp(b.Context())
			require.NoError(b, err)
		}
		m.Backup = func(ctx context.Context) (string, error) {
			started := time.Now()
			defer func() { backups += time.Since(started) }()
			return backUp(ctx)
		}
		b.StartTimer()
		report, err := m.Run(b.Context())
		b.StopTimer()
		require.NoError(b, err)
		for _, result := range report.Results {
			require.NoError(b, result.Err)
		}
		require.Equal(b, benchLost, report.States[session.Lost])
		require.Len(b, report.Results, benchWindows)
	}
	b.ReportMetric(float64(backups.Milliseconds())/float64(b.N), "ms-backup/op")
}

// BenchmarkLookAndPlan measures a start without changes, and a dry run.
func BenchmarkLookAndPlan(b *testing.B) {
	m := household(b)
	for b.Loop() {
		actions, _ := Plan(m.Collect(b.Context()))
		require.Len(b, actions, benchWindows)
	}
}

func household(b *testing.B) *machine {
	m := newMachine(b)
	table, err := process.NewTable()
	require.NoError(b, err)
	server, err := m.tmux.Server(b.Context())
	require.NoError(b, err)
	for i := range benchRecords {
		r := record(session.Archived, nil)
		r.Version, r.Name = session.Version, fmt.Sprintf("api-%d", i)
		for n := range 30 {
			r.Note(noon, "chat.note", fmt.Sprintf("line %d of a longer history", n))
		}
		if i < benchWindows {
			r.State = session.Running
			r.Binding = m.window(server, r.ID, r.AgentSessionID, i < benchLost)
		}
		data, err := json.Marshal(r)
		require.NoError(b, err)
		require.NoError(b, os.WriteFile(filepath.Join(m.base, "sessions", r.ID.String()+".json"), data, 0o600))
	}
	m.table = both{m.processes, table}
	m.restart()
	m.Backup = Backups{Dir: filepath.Join(m.base, "backups"), Sessions: filepath.Join(m.base, "sessions"), Now: time.Now}.Make
	return m
}

// window makes a session's window with its agent, or what is left in a record of
// one that is gone.
func (m *machine) window(server tmux.ServerID, id, claude uuid.UUID, gone bool) *session.Binding {
	p := m.tmux.AddWindow(tmuxtest.Session, "api")
	agent := m.runs(p.PID, []string{"claude", "--session-id", claude.String()})
	m.tmux.Change(p.ID, func(p *tmux.Pane) { p.Tag = instance + "/" + id.String() })
	if gone {
		m.processes.Exit(p.PID)
		m.tmux.Change(p.ID, func(p *tmux.Pane) { p.Tag, p.PID = "", p.PID+1_000_000 })
	} else {
		m.presences.put(agent, claude)
	}
	return &session.Binding{Server: session.Server(server), Window: p.Window.String(), Pane: p.ID.String(), Agent: agent, BoundAt: noon}
}

// both are made up processes and those of this machine.
type both struct {
	*tabletest.Table
	table *process.Table
}

func (p both) Snapshot(ctx context.Context) (process.Snapshot, error) {
	real, err := p.table.Snapshot(ctx)
	if err != nil {
		return real, err
	}
	made, err := p.Table.Snapshot(ctx)
	real.Processes = append(real.Processes, made.Processes...)
	return real, err
}
