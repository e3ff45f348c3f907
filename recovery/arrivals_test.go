package recovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// The program's implementations of the interfaces.
var (
	_ Tmux      = (*tmux.Client)(nil)
	_ Processes = (*process.Table)(nil)
	_ Evidence  = (*evidence.Sources)(nil)
	_ Lives     = (*lifecycle.Service)(nil)
	_ Records   = (*session.Store)(nil)
)

// arrival is a process that has come to a conversation.
type arrival struct {
	agent  process.Identity
	claude uuid.UUID
}

// came lets Came process an arrival, and returns the outcome with the reason.
func (m *machine) came(a arrival) (outcome, string) {
	m.t.Helper()
	before := len(m.lines("resume_reconciled"))
	m.Came(m.t.Context(), a.writer())
	lines := m.lines("resume_reconciled")
	require.Len(m.t, lines, before+1)
	last := lines[len(lines)-1]
	assert.Equal(m.t, "DEBUG", last["level"])
	assert.Equal(m.t, a.claude.String(), last["claude_session_id"])
	return outcome(last["outcome"].(string)), last["reason"].(string)
}

func (a arrival) writer() evidence.Writer {
	return evidence.Writer{Process: process.Process{Identity: a.agent}, AgentSessionID: a.claude}
}

// lost is a session that was lost before this start.
func (m *machine) lost(ago time.Duration) session.Record {
	r := m.start(running)
	m.lose(r)
	require.NoError(m.t, m.service.Settle(m.t.Context(), r.ID, "test"))
	return m.change(r.ID, func(r *session.Record) {
		r.CreatedAt, r.StartedAt, r.ReadyAt = noon.Add(-ago), noon.Add(-ago), noon.Add(-ago)
	})
}

func lastLine(r session.Record) session.Change { return r.History[len(r.History)-1] }

// A lost session continues in the window in which a person has resumed it: with its place in the
// chat, and written once.
func TestP1_LostSessionFollowsConversation(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(9 * day)
	lost = m.change(lost.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: 5, ThreadID: 6} })
	agent := m.inTerminal(lost.AgentSessionID)
	outcome, _ := m.came(arrival{agent, lost.AgentSessionID})
	assert.Equal(t, sessionResumed, outcome)
	target, ok := m.boundTo(agent)
	require.True(t, ok)
	assert.Equal(t, lost.ID, target.ID)
	assert.Equal(t, lost.Conversation, target.Conversation)
	assert.Equal(t, lost.Name, target.Name)
	assert.Equal(t, session.Rule("resume.resumed_same_agent_session"), lastLine(target).Rule)

	outcome, _ = m.came(arrival{agent, lost.AgentSessionID})
	assert.Equal(t, sessionActive, outcome)
	assert.Equal(t, target.History, m.get(target.ID).History, "there is nothing to note")
	assert.Len(t, m.store.List(), 1)
}

// Cases in which nothing moves, with the facts as the machine shows them.
func TestP1_DoubtPreventsMoves(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *machine, r session.Record, a *arrival)
		want   outcome
		reason string
		line   bool // in the session's history
	}{
		{name: "nobody's conversation", want: noSession, reason: "no session",
			change: func(_ *machine, _ session.Record, a *arrival) { a.claude = uuid.New() }},
		{name: "the agent is gone again", want: agentGone, reason: "the process is gone",
			change: func(m *machine, _ session.Record, a *arrival) { m.processes.Exit(a.agent.PID) }},
		{name: "another process has its pid", want: agentGone, reason: "the process is gone",
			change: func(_ *machine, _ session.Record, a *arrival) { a.agent.Start++ }},
		{name: "nested below a session's agent", want: nestedAgent, reason: "below another agent", line: true,
			change: func(m *machine, _ session.Record, a *arrival) {
				outer := m.start(running)
				m.processes.Change(a.agent.PID, func(p *process.Process) { p.PPID = outer.Binding.Agent.PID })
			}},
		{name: "nested below an agent at the desk", want: nestedAgent, reason: "below another agent", line: true,
			change: func(m *machine, _ session.Record, a *arrival) {
				shell := m.runs(70, []string{"bash"})
				outer := m.inTerminal(uuid.New())
				m.processes.Change(shell.PID, func(p *process.Process) { p.PPID = outer.PID })
				m.processes.Change(a.agent.PID, func(p *process.Process) { p.PPID = shell.PID })
			}},
		{name: "no presence file yet", want: agentUnproven, reason: "no presence file", line: true,
			change: func(m *machine, _ session.Record, _ *arrival) { m.presences.files = nil }},
		{name: "in another conversation by now", want: agentUnproven, reason: "no presence file", line: true,
			change: func(m *machine, _ session.Record, _ *arrival) { m.presences.files[0].SessionID = uuid.New() }},
		{name: "outside of tmux", want: secondWriter, reason: "in no window", line: true,
			change: func(m *machine, _ session.Record, a *arrival) {
				m.processes.Change(a.agent.PID, func(p *process.Process) { p.TTY = 0 })
			}},
		{name: "told as a second writer", want: secondWriter, reason: "reported as a second writer", line: true,
			change: func(m *machine, r session.Record, a *arrival) {
				m.change(r.ID, func(r *session.Record) {
					r.SecondWriters = []process.Identity{a.agent}
				})
			}},
		{name: "another process writes it too", want: secondWriter, reason: "1 other processes", line: true,
			change: func(m *machine, r session.Record, _ *arrival) { m.inTerminal(r.AgentSessionID) }},
		{name: "archived on purpose", want: secondWriter, reason: "on purpose", line: true,
			change: func(m *machine, r session.Record, _ *arrival) {
				m.change(r.ID, func(r *session.Record) { r.State = session.Archived })
			}},
		{name: "a running session has it", want: secondWriter, reason: "not proven to have ended", line: true,
			change: func(m *machine, r session.Record, _ *arrival) {
				m.start(func(o *session.Record) { o.State, o.AgentSessionID = session.Running, r.AgentSessionID })
			}},
		{name: "in the window of another session", want: secondWriter, reason: "that of another session", line: true,
			change: func(m *machine, _ session.Record, a *arrival) {
				panes, err := m.tmux.Panes(m.t.Context())
				require.NoError(m.t, err)
				m.start(func(o *session.Record) {
					o.State = session.Running
					for _, p := range panes {
						if p.PID == a.agent.PID {
							o.Binding.Window = p.Window.String()
						}
					}
				})
			}},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			a := arrival{m.inTerminal(r.AgentSessionID), r.AgentSessionID}
			tc.change(m, r, &a)
			before := m.get(r.ID)
			outcome, reason := m.came(a)
			assert.Equal(t, tc.want, outcome)
			assert.Contains(t, reason, tc.reason)
			after := m.get(r.ID)
			assert.Equal(t, before.State, after.State)
			assert.Empty(t, after.ClosedReason)
			if tc.line {
				assert.Equal(t, session.Rule("resume."+tc.want), lastLine(after).Rule)
			} else {
				assert.Equal(t, before.History, after.History)
			}
		})
	}
}

// Of several sessions those that are stale are set aside; while more than one is
// left a person decides.
func TestP1_OfSeveralSessionsNoneIsGuessed(t *testing.T) {
	m := newMachine(t)
	first := m.lost(time.Hour)
	same := func(r session.Record) session.Record {
		return m.change(r.ID, func(r *session.Record) { r.AgentSessionID = first.AgentSessionID })
	}
	second, old := same(m.lost(2*time.Hour)), same(m.lost(9*day))
	failed := m.change(same(m.lost(8*day)).ID, func(r *session.Record) { r.State = session.Failed })
	agent := m.inTerminal(first.AgentSessionID)

	outcome, _ := m.came(arrival{agent, first.AgentSessionID})
	assert.Equal(t, manySessions, outcome)
	assert.Equal(t, session.Abandoned, m.get(old.ID).State)
	assert.Equal(t, session.ClosedStale, m.get(old.ID).ClosedReason)
	assert.Equal(t, "no sign of life for 9d (threshold 24h), newest: created_at 2026-02-23T12:00:00Z", lastLine(m.get(old.ID)).Why)
	assert.Equal(t, session.Failed, m.get(failed.ID).State)
	assert.Equal(t, session.ClosedStale, m.get(failed.ID).ClosedReason)
	assert.Equal(t, session.Lost, m.get(second.ID).State)
	assert.Equal(t, session.Rule("resume.multiple_matching_prior_sessions"), lastLine(m.get(second.ID)).Rule)

	m.now = noon.Add(22*time.Hour + 30*time.Minute) // now the second one is stale too
	outcome, _ = m.came(arrival{agent, first.AgentSessionID})
	assert.Equal(t, sessionResumed, outcome)
	assert.Equal(t, session.Abandoned, m.get(second.ID).State)
	assert.Equal(t, session.Running, m.get(first.ID).State)
}

func TestAmbiguousCandidatesAreStale(t *testing.T) {
	m := newMachine(t)
	first, second := m.lost(9*day), m.lost(8*day)
	m.change(second.ID, func(r *session.Record) { r.AgentSessionID = first.AgentSessionID })
	a := arrival{m.inTerminal(first.AgentSessionID), first.AgentSessionID}
	outcome, _ := m.came(a)
	assert.Equal(t, allStale, outcome)
	assert.Equal(t, session.Abandoned, m.get(first.ID).State)
	assert.Equal(t, session.Abandoned, m.get(second.ID).State)
	outcome, _ = m.came(a)
	assert.Equal(t, noSession, outcome, "they do not count any more")
}

// The lifecycle finds the agent by its presence file alone; a session that moves is not reported as
// a second writer.
func TestP1_PresenceFindsAgentWithoutHooks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		lost, archived := m.lost(time.Hour), m.lost(time.Hour)
		archived = m.change(archived.ID, func(r *session.Record) { r.State = session.Archived })
		agent := m.inTerminal(lost.AgentSessionID)
		m.inTerminal(archived.AgentSessionID)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = m.service.Run(ctx) }()
		synctest.Wait() // it has read all processes
		cancel()
		synctest.Wait()
		target, ok := m.boundTo(agent)
		require.True(t, ok)
		assert.Equal(t, lost.ID, target.ID)
		assert.Equal(t, session.Archived, m.get(archived.ID).State)
		ghosts := 0
		for _, kind := range m.reported {
			if kind == "lifecycle.OtherWriters" {
				ghosts++
			}
		}
		assert.Equal(t, 1, ghosts, "of the archived one")
	})
}

func TestCameReturnsUnreportedMoves(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *machine, r session.Record, agent process.Identity)
		want   bool
	}{
		{"moved", func(*machine, session.Record, process.Identity) {}, true},
		{"gone again", func(m *machine, _ session.Record, agent process.Identity) { m.processes.Exit(agent.PID) }, true},
		{"ended on purpose", func(m *machine, r session.Record, _ process.Identity) {
			m.change(r.ID, func(r *session.Record) { r.State = session.Completed })
		}, false},
		{"several sessions", func(m *machine, r session.Record, _ process.Identity) {
			m.change(m.lost(time.Hour).ID, func(o *session.Record) { o.AgentSessionID = r.AgentSessionID })
		}, false},
		{"nested", func(m *machine, _ session.Record, agent process.Identity) {
			outer := m.inTerminal(uuid.New())
			m.processes.Change(agent.PID, func(p *process.Process) { p.PPID = outer.PID })
		}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			agent := m.inTerminal(r.AgentSessionID)
			tc.change(m, r, agent)
			assert.Equal(t, tc.want, m.Came(t.Context(), arrival{agent, r.AgentSessionID}.writer()))
		})
	}
}
