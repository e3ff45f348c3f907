package recovery

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/hookwire"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
)

// The worker of the session may be busy; then the next event tries again.
func TestP8_ABusySessionMovesAtTheNextEvent(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	agent := m.atTheDesk(r.ClaudeSessionID)
	busy := &refusing{Lives: m.service, err: lifecycle.ErrBusy}
	m.Lifecycle = busy
	outcome, _ := m.hear(sessionStart(agent, r.ClaudeSessionID))
	assert.Equal(t, lockTimeout, outcome)
	assert.Equal(t, 5*time.Second, busy.asked.Patience)
	assert.False(t, busy.asked.Asked)
	assert.Equal(t, session.Rule("resume.resume_lock_timeout"), lastLine(m.get(r.ID)).Rule)
	assert.True(t, m.Came(t.Context(), m.cameBy(r, agent)), "it is not told as a second writer meanwhile")
	m.Lifecycle = m.service
	outcome, _ = m.hear(event(hookwire.UserPromptSubmit, agent, r.ClaudeSessionID))
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

// What the lifecycle sees right before it moves a session counts.
func TestP1_ARefusalOfTheLifecycleCounts(t *testing.T) {
	refusals := map[string]error{"changed": lifecycle.ErrChanged, "no terminal": lifecycle.ErrNoTerminal,
		"writers": &lifecycle.WriterError{Writers: []evidence.Writer{writer(3)}}, "state": &lifecycle.StateError{State: session.Restoring},
		"moved": &lifecycle.MovedError{To: uuid.New()}}
	for name, err := range refusals {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			m.Lifecycle = &refusing{Lives: m.service, err: err}
			outcome, reason := m.hear(sessionStart(m.atTheDesk(r.ClaudeSessionID), r.ClaudeSessionID))
			assert.Equal(t, secondWriter, outcome)
			assert.Contains(t, reason, err.Error())
		})
	}
}

// Evidence that cannot be read may be readable later: the event comes again.
func TestP6_WithoutEvidenceTheEventComesAgain(t *testing.T) {
	tests := map[string]func(m *machine){
		"processes": func(m *machine) { m.presences.fail = errDisk },
		"tmux":      func(m *machine) { m.Recovery.Tmux = silent{m.tmux, "Server"} },
		"disk":      func(m *machine) { m.Lifecycle = &refusing{Lives: m.service, err: errDisk} },
	}
	for name, broken := range tests {
		t.Run(name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			agent := m.atTheDesk(r.ClaudeSessionID)
			came := m.cameBy(r, agent)
			broken(m)
			require.Error(t, m.HookEvent(t.Context(), sessionStart(agent, r.ClaudeSessionID)))
			assert.False(t, m.Came(t.Context(), came))
			assert.Len(t, m.lines("resume_unclear"), 1)
			assert.Equal(t, r.History, m.get(r.ID).History)
		})
	}
	t.Run("lifecycle", func(t *testing.T) {
		m := newMachine(t)
		m.Lifecycle = deaf{m.service}
		require.ErrorIs(t, m.HookEvent(t.Context(), sessionStart(writer(7).Identity, uuid.New())), errDisk)
		assert.Empty(t, m.lines("resume_reconciled"))
	})
}

// deaf is a lifecycle that takes no event.
type deaf struct{ Lives }

func (deaf) HookEvent(context.Context, hookwire.Event) error { return errDisk }

// The record of the session that launched the agent could not be read.
func TestAnUnreadableRecordIsNotReplaced(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	agent := m.atTheDesk(r.ClaudeSessionID)
	m.Store = aside{m.store, []session.Aside{{ID: r.ID}}}
	e := sessionStart(agent, r.ClaudeSessionID)
	e.Launch = r.ID.String()
	outcome, _ := m.hear(e)
	assert.Equal(t, sessionUnreadable, outcome)
}

type aside struct {
	*session.Store
	files []session.Aside
}

func (a aside) Aside() []session.Aside { return a.files }

// Two that tell of the same process at once move its session once.
func TestP1_ManyEventsMoveASessionOnce(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	agent := m.atTheDesk(r.ClaudeSessionID)
	came := m.cameBy(r, agent)
	done := make(chan error)
	for i := range 10 {
		go func() {
			if i%2 == 0 {
				done <- m.HookEvent(t.Context(), sessionStart(agent, r.ClaudeSessionID))
				return
			}
			if !m.Came(t.Context(), came) {
				done <- errors.New("told as a second writer")
			}
			done <- nil
		}()
	}
	for range 10 {
		require.NoError(t, <-done)
	}
	assert.Len(t, m.store.List(), 2)
}
