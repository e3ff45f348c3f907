package recovery

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// If the worker of the session is busy, the next scan tries again.
func TestP8_BusySessionMovesNextTime(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	agent := m.inTerminal(r.AgentSessionID)
	busy := &refusing{Lives: m.service, err: lifecycle.ErrBusy}
	m.Lifecycle = busy
	outcome, _ := m.came(arrival{agent, r.AgentSessionID})
	assert.Equal(t, lockTimeout, outcome)
	assert.Equal(t, 5*time.Second, busy.asked.Timeout)
	assert.False(t, busy.asked.Confirmed)
	assert.Equal(t, session.Rule("resume.resume_lock_timeout"), lastLine(m.get(r.ID)).Rule)
	assert.True(t, m.Came(t.Context(), arrival{agent, r.AgentSessionID}.writer()), "it is not told as a second writer meanwhile")
	m.Lifecycle = m.service
	outcome, _ = m.came(arrival{agent, r.AgentSessionID})
	assert.Equal(t, sessionResumed, outcome)
}

// refusing is a lifecycle that does not adopt, or does not get to its end.
type refusing struct {
	Lives
	err   error
	half  session.Record // the target, if it was made
	asked lifecycle.AdoptRequest
}

func (r *refusing) Adopt(_ context.Context, q lifecycle.AdoptRequest) (session.Record, error) {
	r.asked = q
	return r.half, r.err
}

// The state that the lifecycle sees right before it moves a session counts.
func TestP1_LifecycleRefusalCounts(t *testing.T) {
	refusals := map[string]error{"changed": lifecycle.ErrChanged, "no terminal": lifecycle.ErrNoTerminal,
		"writers": &lifecycle.WriterError{Writers: []evidence.Writer{writer(3)}}, "state": &lifecycle.StateError{State: session.Restoring}}
	for name, err := range refusals {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			m.Lifecycle = &refusing{Lives: m.service, err: err}
			outcome, reason := m.came(arrival{m.inTerminal(r.AgentSessionID), r.AgentSessionID})
			assert.Equal(t, secondWriter, outcome)
			assert.Contains(t, reason, err.Error())
		})
	}
}

// Evidence that cannot be read may be readable later: the next scan tries again.
func TestP6_WithoutEvidenceNothingMoves(t *testing.T) {
	tests := map[string]func(m *machine){
		"processes": func(m *machine) { m.presences.fail = errDisk },
		"tmux":      func(m *machine) { m.Recovery.Tmux = silent{m.tmux, "Server"} },
		"disk":      func(m *machine) { m.Lifecycle = &refusing{Lives: m.service, err: errDisk} },
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			agent := m.inTerminal(r.AgentSessionID)
			broken(m)
			assert.False(t, m.Came(t.Context(), arrival{agent, r.AgentSessionID}.writer()))
			assert.Len(t, m.lines("resume_unclear"), 1)
			assert.Equal(t, r.History, m.get(r.ID).History)
		})
	}
}

// aside is a store with records that could not be read.
type aside struct {
	*session.Store
	files []session.Unloaded
}

func (a aside) Unloaded() []session.Unloaded { return a.files }

// Several looks that find the same process at once move its session once.
func TestP1_ManyArrivalsMoveOnce(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	agent := m.inTerminal(r.AgentSessionID)
	done := make(chan bool)
	for range 10 {
		go func() { done <- m.Came(t.Context(), arrival{agent, r.AgentSessionID}.writer()) }()
	}
	for range 10 {
		require.True(t, <-done, "it is not reported as a second writer")
	}
	assert.Len(t, m.store.List(), 1)
	assert.Len(t, m.get(r.ID).History, 3)
}
