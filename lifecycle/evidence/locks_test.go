package evidence

import (
	"context"
	"log/slog"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	coding "ccbot/agent"
	"ccbot/agent/claude"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
)

// locks are the locks of an agent's conversations.
type locks struct {
	held map[int][]uuid.UUID
	err  error
}

func (l locks) Held() (map[int][]uuid.UUID, error) { return l.held, l.err }

// scanned is a process table.
type scanned struct {
	Processes
	table process.Snapshot
}

func (s scanned) Self() process.Identity { return process.Identity{PID: 1, Start: 1, Boot: boot} }

func (s scanned) Snapshot(context.Context) (process.Snapshot, error) { return s.table, nil }

// The holder of a lock writes the conversation, and another one of the same command line does not.
func TestP1_HolderOfLockWrites(t *testing.T) {
	ids := []uuid.UUID{uuid.New(), uuid.New(), uuid.New()}
	table := process.Snapshot{}
	for _, pid := range []int{5, 6} {
		table.Processes = append(table.Processes, process.Process{Identity: process.Identity{PID: pid, Start: 50, Boot: boot}, State: 'S',
			Args: []string{"claude", "--resume", ids[0].String()}})
	}
	s := &Sources{Records: noRecords{}, Processes: scanned{table: table}, Log: slog.New(slog.DiscardHandler),
		Bindings: func() ([]hookwire.Binding, []error) { return nil, nil },
		Agents: coding.Agents{coding.Default: {Witness: claude.Witness{},
			Locks: locks{held: map[int][]uuid.UUID{5: ids[:2], 6: ids[2:], 7: ids[:1]}}}}}
	e, err := s.Read(t.Context(), ids[0], ids[1])
	require.NoError(t, err)
	require.Len(t, e.Verdicts, 2)
	for i, v := range e.Verdicts {
		assert.Equal(t, 5, v.Process.PID)
		assert.Equal(t, ids[i], v.SessionID)
		assert.Equal(t, process.Yes, v.Writer)
		assert.Equal(t, process.SourceLock, v.Source)
	}

	s.Agents = coding.Agents{coding.Default: {Witness: claude.Witness{}, Locks: locks{err: assert.AnError}}}
	e, err = s.Read(t.Context(), ids[0])
	require.NoError(t, err)
	require.Len(t, e.Verdicts, 2, "it is unknown what the agent's processes write")
	assert.Equal(t, []process.Answer{process.Maybe, process.Maybe}, []process.Answer{e.Verdicts[0].Writer, e.Verdicts[1].Writer})
}
