package evidence

import (
	"context"
	"io/fs"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/agent/claude/presence"
	"ccbot/agent/witness"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// parents is a process table that knows of each process its parent.
type parents struct {
	Processes
	of map[int]int
}

func (p parents) Inspect(pid int) (process.Process, error) {
	parent, ok := p.of[pid]
	if !ok {
		return process.Process{}, process.ErrGone
	}
	return process.Process{Identity: process.Identity{PID: pid, Start: uint64(pid), Boot: boot}, PPID: parent}, nil
}

// present has a presence file of one process; the file of another cannot be read.
type present struct {
	witness.Presences
	running, torn int
}

func (p present) Read(_ context.Context, pid int) (presence.File, error) {
	switch pid {
	case p.running:
		return presence.File{PID: pid, ProcStart: uint64(pid)}, nil
	case p.torn:
		return presence.File{}, presence.ErrTorn
	}
	return presence.File{}, fs.ErrNotExist
}

type noRecords struct{}

func (noRecords) Shared() []session.Record { return nil }

func TestProcessesBelowAgent(t *testing.T) {
	s := &Sources{Agents: agent.Agents{agent.Default: {Witness: claude.Witness{}, Presences: present{running: 20, torn: 40}}}, Records: noRecords{},
		Processes: parents{of: map[int]int{1: 0, 10: 1, 20: 10, 30: 20, 31: 30, 40: 1, 41: 40, 51: 50, 60: 61, 61: 60}}}
	for pid, want := range map[int]bool{10: false, 20: false, 30: true, 31: true, 40: false, 51: false, 60: false, 99: false} {
		below, err := s.RunsBelowAgent(t.Context(), process.Identity{PID: pid})
		require.NoError(t, err)
		assert.Equal(t, want, below, pid)
	}
	_, err := s.RunsBelowAgent(t.Context(), process.Identity{PID: 41})
	require.ErrorIs(t, err, presence.ErrTorn, "it is unknown, and neither yes nor no")
	assert.Len(t, s.Line(31), 5)
	assert.Len(t, s.Line(51), 1, "what cannot be read ends the line")
	assert.Len(t, s.Line(60), 64, "a table that changes under the walk could show a ring")
}
