package evidence

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"ccbot/agent"
	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

type boundTo process.Identity

func (b boundTo) Shared() []session.Record {
	return []session.Record{{State: session.Running, Run: session.Run{Binding: &session.Binding{Agent: process.Identity(b)}}}}
}

// elsewhere is a process table in which each process is in another time namespace.
type elsewhere struct{ parents }

func (e elsewhere) Inspect(pid int) (process.Process, error) {
	p, err := e.parents.Inspect(pid)
	p.OtherClock = true
	return p, err
}

// shifted has presence files whose starts are of another clock.
type shifted struct{ present }

func (s shifted) Read(ctx context.Context, pid int) (presence.File, error) {
	f, err := s.present.Read(ctx, pid)
	f.ProcStart += 100_000
	return f, err
}

// TestP9_AgentOfAnotherClockIsUnknown: a caller below a process that may be an agent is served
// nothing.
func TestP9_AgentOfAnotherClockIsUnknown(t *testing.T) {
	tree := parents{of: map[int]int{1: 0, 20: 1, 30: 20}}
	noted := process.Identity{PID: 20, Start: 100_020, Boot: boot + "-3b9aca00"}
	for name, s := range map[string]*Sources{
		"bound":               {Records: boundTo(noted), Processes: tree},
		"has a presence file": {Records: noRecords{}, Agents: agent.Agents{agent.Default: {Presences: shifted{present{running: 20}}}}, Processes: elsewhere{tree}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := s.AgentAbove(t.Context(), s.Line(30))
			require.ErrorIs(t, err, errOtherClock)
		})
	}
}
