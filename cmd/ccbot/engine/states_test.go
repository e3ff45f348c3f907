package engine

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// States without sessions are counted too: a gap in a graph means that the number is unknown.
func TestStatesAreCounted(t *testing.T) {
	f := newEngine(t)
	require.NoError(t, f.Store.Create(one(1, "api")))
	counts := f.States()
	assert.Len(t, counts, len(session.States()))
	assert.Equal(t, 1, counts[session.Archived])
	assert.Zero(t, counts[session.Running])
}

// Only the memory of running agents is measured.
func TestAgentMemoryIsMeasured(t *testing.T) {
	f := newEngine(t)
	table, err := process.NewTable()
	require.NoError(t, err)
	f.Table = table
	me, err := table.Identify(os.Getpid())
	require.NoError(t, err)
	agent := one(1, "api")
	agent.Binding = &session.Binding{Agent: me}
	require.NoError(t, f.Store.Create(agent))
	assert.Zero(t, f.AgentsMemory(t.Context()))
	agent = one(2, "web")
	agent.State, agent.EndedAt, agent.Binding = session.Running, time.Time{}, &session.Binding{Agent: me}
	require.NoError(t, f.Store.Create(agent))
	assert.NotZero(t, f.AgentsMemory(t.Context()))
}
