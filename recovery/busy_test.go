package recovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/session"
)

// hold works on a record until it is let go.
func (m *machine) hold(id uuid.UUID) (let func()) {
	held, free, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- m.store.Do(context.Background(), id, func(*session.Record, func() error) error {
			close(held)
			<-free
			return nil
		})
	}()
	<-held
	return func() {
		close(free)
		require.NoError(m.t, <-done)
	}
}

// A session that is locked for long delays no other conversation, and the next scan moves it.
func TestP8_BusySessionBlocksNoOthers(t *testing.T) {
	tests := []struct {
		name string
		busy func(moves, stale session.Record) uuid.UUID
		// the state of a session that is set aside while it waits
		stale session.State
	}{
		{"the one that moves", func(moves, _ session.Record) uuid.UUID { return moves.ID }, session.Abandoned},
		{"one that is set aside", func(_, stale session.Record) uuid.UUID { return stale.ID }, session.Lost},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMachine(t)
				moves := m.lost(time.Hour)
				stale := m.change(m.lost(9*day).ID, func(r *session.Record) { r.AgentSessionID = moves.AgentSessionID })
				a := arrival{m.inTerminal(moves.AgentSessionID), moves.AgentSessionID}
				let := m.hold(tc.busy(moves, stale))
				began := time.Now()
				outcome, _ := m.came(a)
				assert.Equal(t, lockTimeout, outcome)
				assert.LessOrEqual(t, time.Since(began), timeout+2*briefly)
				assert.Len(t, m.lines("resume_not_noted"), 1)
				assert.Equal(t, tc.stale, m.get(stale.ID).State)
				let()
				outcome, _ = m.came(a)
				assert.Equal(t, sessionResumed, outcome)
				assert.Equal(t, session.Abandoned, m.get(stale.ID).State)
			})
		})
	}
}

// A caller that goes away does not make a session busy.
func TestCancelledWaitIsError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		moves := m.lost(time.Hour)
		stale := m.change(m.lost(9*day).ID, func(r *session.Record) { r.AgentSessionID = moves.AgentSessionID })
		agent := m.inTerminal(moves.AgentSessionID)
		let := m.hold(stale.ID)
		defer let()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		assert.False(t, m.Came(ctx, arrival{agent, moves.AgentSessionID}.writer()))
		assert.Len(t, m.lines("resume_unclear"), 1)
		assert.Empty(t, m.lines("resume_reconciled"))
	})
}

// A person who archives or completes a session was there.
func TestDeliberateEndIsSignOfLife(t *testing.T) {
	for _, state := range session.States() {
		r := record(state, nil)
		r.EndedAt = noon.Add(time.Hour)
		want := Sign{noon, "created_at"}
		if state == session.Archived || state == session.Completed {
			want = Sign{r.EndedAt, "ended_at"}
		}
		assert.Equal(t, want, signOf(r), state)
	}
}
