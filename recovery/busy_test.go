package recovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
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

// Whoever holds a session for long keeps no other conversation waiting, and the
// next event moves it.
func TestP8_ABusySessionHoldsUpNobody(t *testing.T) {
	tests := []struct {
		name string
		busy func(moves, stale session.Record) uuid.UUID
		// what a session that is set aside becomes while it waits
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
				stale := m.change(m.lost(9*day).ID, func(r *session.Record) { r.ClaudeSessionID = moves.ClaudeSessionID })
				e := event(hookwire.UserPromptSubmit, m.atTheDesk(moves.ClaudeSessionID), moves.ClaudeSessionID)
				let := m.hold(tc.busy(moves, stale))
				began := time.Now()
				outcome, _ := m.hear(e)
				assert.Equal(t, lockTimeout, outcome)
				assert.LessOrEqual(t, time.Since(began), patience+2*briefly)
				assert.Len(t, m.lines("resume_not_noted"), 1)
				assert.Equal(t, tc.stale, m.get(stale.ID).State)
				let()
				outcome, _ = m.hear(e)
				assert.Equal(t, sessionResumed, outcome)
				assert.Equal(t, session.Abandoned, m.get(stale.ID).State)
			})
		})
	}
}

// A caller that goes away is no session that is busy.
func TestAWaitThatIsEndedIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		moves := m.lost(time.Hour)
		stale := m.change(m.lost(9*day).ID, func(r *session.Record) { r.ClaudeSessionID = moves.ClaudeSessionID })
		agent := m.atTheDesk(moves.ClaudeSessionID)
		let := m.hold(stale.ID)
		defer let()
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		defer stop()
		require.ErrorIs(t, m.HookEvent(ctx, sessionStart(agent, moves.ClaudeSessionID)), context.DeadlineExceeded)
		assert.Empty(t, m.lines("resume_reconciled"))
	})
}

// An adopted agent has no launch of ours: its event alone makes nobody follow.
func TestASessionThatDidNotFollowIsNotSaidTo(t *testing.T) {
	m := newMachine(t)
	r := m.start(func(r *session.Record) { r.State, r.Binding.Adopted = session.Running, true })
	outcome, reason := m.hear(event(hookwire.UserPromptSubmit, r.Binding.Agent, uuid.New()))
	assert.Equal(t, sessionActive, outcome)
	assert.Contains(t, reason, "has not followed")
	got := m.get(r.ID)
	assert.Equal(t, r.ClaudeSessionID, got.ClaudeSessionID)
	assert.Equal(t, session.Rule("resume.current_session_active"), lastLine(got).Rule)
}

// The session that launched it is known without a look at all records.
func TestALaunchThatIsGoneLeavesALine(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	m.Store = unlisted{m.store, t}
	e := sessionStart(writer(7).Identity, r.ClaudeSessionID)
	e.Launch = r.ID.String()
	outcome, _ := m.hear(e)
	assert.Equal(t, agentGone, outcome)
	assert.Equal(t, session.Rule("resume.agent_gone"), lastLine(m.get(r.ID)).Rule)
	before := m.get(r.ID).History
	e.SessionID = uuid.NewString() // that it had in between
	m.hear(e)
	assert.Equal(t, before, m.get(r.ID).History)
}

// Whoever archives a session, or completes it, was there.
func TestTimestamps_AnEndOnPurposeIsASignOfLife(t *testing.T) {
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
