package evidence

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// An agent with two processes has ended without one of them, and lives only if both are proven to.
func TestP6_LivenessOfTwoProcesses(t *testing.T) {
	server := process.Identity{PID: 9, Start: 1, Boot: boot}
	type row struct {
		terminal, server process.Liveness
		want             process.Liveness
		half             Half
	}
	for _, tt := range []row{
		{process.Alive, process.Alive, process.Alive, Whole},
		{process.Alive, process.Gone, process.Gone, NoServer},
		{process.Alive, process.Unknown, process.Unknown, Whole},
		{process.Gone, process.Alive, process.Gone, NoTerminal},
		{process.Gone, process.Gone, process.Gone, Whole},
		{process.Gone, process.Unknown, process.Unknown, Whole},
		{process.Unknown, process.Alive, process.Unknown, Whole},
		{process.Unknown, process.Gone, process.Unknown, Whole},
		{process.Unknown, process.Unknown, process.Unknown, Whole},
	} {
		of := func(process.Identity) process.Liveness { return tt.server }
		got, half := AgentOf(session.Binding{AgentServer: server}, tt.terminal, of)
		assert.Equal(t, tt, row{tt.terminal, tt.server, got, half})
		got, half = AgentOf(session.Binding{}, tt.terminal, of)
		assert.Equal(t, row{terminal: tt.terminal, want: tt.terminal}, row{tt.terminal, 0, got, half}, "an agent with one process")
	}
}
