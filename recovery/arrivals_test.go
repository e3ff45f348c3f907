package recovery

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/hooks"
	"ccbot/internal/hookwire"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle"
	"ccbot/lifecycle/evidence"
	"ccbot/tmux"
)

// What the program puts in their places.
var (
	_ Tmux       = (*tmux.Client)(nil)
	_ Processes  = (*process.Table)(nil)
	_ Evidence   = (*evidence.Sources)(nil)
	_ Lives      = (*lifecycle.Service)(nil)
	_ Records    = (*session.Store)(nil)
	_ hooks.Sink = (*Recovery)(nil)
)

func event(name string, agent process.Identity, claude uuid.UUID) hookwire.Event {
	return hookwire.Event{Version: hookwire.Version, Name: name, Received: noon, SessionID: claude.String(),
		ClaudePID: agent.PID, ClaudeStart: agent.Start, Boot: agent.Boot}
}

func sessionStart(agent process.Identity, claude uuid.UUID) hookwire.Event {
	return event(hookwire.SessionStart, agent, claude)
}

// hear gives an event and returns its outcome with the reason.
func (m *machine) hear(e hookwire.Event) (outcome, string) {
	m.t.Helper()
	before := len(m.lines("resume_reconciled"))
	require.NoError(m.t, m.HookEvent(m.t.Context(), e))
	lines := m.lines("resume_reconciled")
	require.Len(m.t, lines, before+1)
	last := lines[len(lines)-1]
	assert.Equal(m.t, "DEBUG", last["level"])
	assert.Equal(m.t, e.SessionID, last["claude_session_id"])
	return outcome(last["outcome"].(string)), last["reason"].(string)
}

// lost is a session that was lost before this start.
func (m *machine) lost(ago time.Duration) session.Record {
	r := m.start(running)
	m.lose(r)
	require.NoError(m.t, m.service.MarkLost(m.t.Context(), r.ID, "test", "its pane is gone", ""))
	return m.change(r.ID, func(r *session.Record) {
		r.CreatedAt, r.StartedAt, r.ReadyAt = noon.Add(-ago), noon.Add(-ago), noon.Add(-ago)
	})
}

func lastLine(r session.Record) session.Change { return r.History[len(r.History)-1] }

// A session that was lost goes on in the window where a person has resumed it:
// with its place in the chat, and written once.
func TestP1_ALostSessionGoesOnWhereItsConversationDoes(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(9 * day)
	lost = m.change(lost.ID, func(r *session.Record) { r.Conversation = session.Conversation{ChatID: 5, ThreadID: 6} })
	agent := m.atTheDesk(lost.ClaudeSessionID)
	outcome, _ := m.hear(sessionStart(agent, lost.ClaudeSessionID))
	assert.Equal(t, sessionResumed, outcome)
	target, ok := m.boundTo(arrival{agent: agent})
	require.True(t, ok)
	assert.Equal(t, lost.ID, target.TookOver)
	assert.Equal(t, lost.Conversation, target.Conversation)
	assert.Equal(t, lost.Name, target.Name)
	assert.Equal(t, session.Rule("resume.resumed_same_agent_session"), target.History[0].Rule)
	source := m.get(lost.ID)
	assert.Equal(t, session.ClosedTransferred, source.Closed)
	assert.Equal(t, session.Lost, source.State)

	outcome, _ = m.hear(event(hookwire.UserPromptSubmit, agent, lost.ClaudeSessionID))
	assert.Equal(t, sessionActive, outcome)
	assert.Equal(t, target.History, m.get(target.ID).History, "a prompt leaves no line")
	outcome, _ = m.hear(sessionStart(agent, lost.ClaudeSessionID))
	assert.Equal(t, sessionActive, outcome)
	assert.Equal(t, session.Rule("resume.current_session_active"), lastLine(m.get(target.ID)).Rule)
	assert.Len(t, m.store.List(), 2)
}

func TestASessionsOwnAgent(t *testing.T) {
	m := newMachine(t)
	r := m.start(running)
	own := func(name string, claude uuid.UUID) hookwire.Event {
		e := event(name, r.Binding.Agent, claude)
		e.Launch = r.ID.String()
		return e
	}
	outcome, _ := m.hear(own(hookwire.SessionStart, r.ClaudeSessionID))
	assert.Equal(t, sessionActive, outcome)
	next := uuid.New() // through /clear
	m.presences.put(r.Binding.Agent, next)
	outcome, _ = m.hear(own(hookwire.SessionStart, next))
	assert.Equal(t, sessionFollowed, outcome)
	got := m.get(r.ID)
	assert.Equal(t, next, got.ClaudeSessionID)
	assert.Contains(t, got.EarlierClaudeIDs, r.ClaudeSessionID)
	assert.Equal(t, session.Rule("resume.current_session_followed"), lastLine(got).Rule)
	outcome, _ = m.hear(own(hookwire.UserPromptSubmit, next))
	assert.Equal(t, sessionActive, outcome)
	assert.Zero(t, m.processes.snapshots-1, "only the start itself has looked at all processes")
}

// An agent that becomes a session's with this very event has followed nobody.
func TestANewAgentFollowsNobody(t *testing.T) {
	m := newMachine(t)
	r := m.start(unbound)
	agent := m.processes.start(70, []string{"claude"})
	m.Lifecycle = binder{m.service, func() { m.change(r.ID, func(r *session.Record) { r.Binding = &session.Binding{Agent: agent} }) }}
	outcome, _ := m.hear(sessionStart(agent, r.ClaudeSessionID))
	assert.Equal(t, sessionActive, outcome)
}

// binder is a lifecycle that binds an agent when it hears of it.
type binder struct {
	Lives
	bind func()
}

func (b binder) HookEvent(context.Context, hookwire.Event) error { b.bind(); return nil }

func TestOtherEventsAskNothing(t *testing.T) {
	m := newMachine(t)
	lost := m.lost(time.Hour)
	agent := m.atTheDesk(lost.ClaudeSessionID)
	require.NoError(t, m.HookEvent(t.Context(), event(hookwire.Stop, agent, lost.ClaudeSessionID)))
	assert.Empty(t, m.lines("resume_reconciled"))
	assert.Len(t, m.store.List(), 1)
}

// What moves nothing, with the facts as the machine shows them.
func TestP1_NothingMovesInDoubt(t *testing.T) {
	tests := []struct {
		name   string
		event  func(m *machine, r session.Record, e *hookwire.Event)
		want   outcome
		reason string
		line   bool // in the session's history
	}{
		{name: "no identity", want: identityMissing, reason: "does not say which process",
			event: func(_ *machine, _ session.Record, e *hookwire.Event) { e.ClaudeStart = 0 }},
		{name: "nobody's conversation", want: noSession, reason: "no session",
			event: func(_ *machine, _ session.Record, e *hookwire.Event) { e.SessionID = uuid.NewString() }},
		{name: "the agent is gone again", want: agentGone, reason: "the process is gone",
			event: func(m *machine, _ session.Record, e *hookwire.Event) { m.processes.exit(e.ClaudePID) }},
		{name: "another process has its pid", want: agentGone, reason: "the process is gone",
			event: func(_ *machine, _ session.Record, e *hookwire.Event) { e.ClaudeStart++ }},
		{name: "nested below a session's agent", want: nestedAgent, reason: "below another agent", line: true,
			event: func(m *machine, _ session.Record, e *hookwire.Event) {
				outer := m.start(running)
				m.processes.change(e.ClaudePID, func(p *process.Process) { p.PPID = outer.Binding.Agent.PID })
			}},
		{name: "nested below an agent at the desk", want: nestedAgent, reason: "below another agent", line: true,
			event: func(m *machine, _ session.Record, e *hookwire.Event) {
				shell := m.processes.start(70, []string{"bash"})
				outer := m.atTheDesk(uuid.New())
				m.processes.change(shell.PID, func(p *process.Process) { p.PPID = outer.PID })
				m.processes.change(e.ClaudePID, func(p *process.Process) { p.PPID = shell.PID })
			}},
		{name: "no presence file yet", want: agentUnproven, reason: "no presence file", line: true,
			event: func(m *machine, _ session.Record, _ *hookwire.Event) { m.presences.files = nil }},
		{name: "in another conversation by now", want: agentUnproven, reason: "no presence file", line: true,
			event: func(m *machine, _ session.Record, _ *hookwire.Event) { m.presences.files[0].SessionID = uuid.New() }},
		{name: "outside of tmux", want: secondWriter, reason: "in no window", line: true,
			event: func(m *machine, _ session.Record, e *hookwire.Event) {
				m.processes.change(e.ClaudePID, func(p *process.Process) { p.TTY = 0 })
			}},
		{name: "told as a second writer", want: secondWriter, reason: "told as a second writer", line: true,
			event: func(m *machine, r session.Record, e *hookwire.Event) {
				m.change(r.ID, func(r *session.Record) {
					r.Seconds = []process.Identity{{PID: e.ClaudePID, Start: e.ClaudeStart, Boot: e.Boot}}
				})
			}},
		{name: "another process writes it too", want: secondWriter, reason: "1 other processes", line: true,
			event: func(m *machine, r session.Record, _ *hookwire.Event) { m.atTheDesk(r.ClaudeSessionID) }},
		{name: "archived on purpose", want: secondWriter, reason: "on purpose", line: true,
			event: func(m *machine, r session.Record, _ *hookwire.Event) {
				m.change(r.ID, func(r *session.Record) { r.State = session.Archived })
			}},
		{name: "a running session has it", want: secondWriter, reason: "not proven to be over", line: true,
			event: func(m *machine, r session.Record, _ *hookwire.Event) {
				m.start(func(o *session.Record) { o.State, o.ClaudeSessionID = session.Running, r.ClaudeSessionID })
			}},
		{name: "in the window of another session", want: secondWriter, reason: "that of another session", line: true,
			event: func(m *machine, _ session.Record, e *hookwire.Event) {
				panes, err := m.tmux.Panes(m.t.Context())
				require.NoError(m.t, err)
				m.start(func(o *session.Record) {
					o.State = session.Running
					for _, p := range panes {
						if p.PID == e.ClaudePID {
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
			e := sessionStart(m.atTheDesk(r.ClaudeSessionID), r.ClaudeSessionID)
			tc.event(m, r, &e)
			before := m.get(r.ID)
			outcome, reason := m.hear(e)
			assert.Equal(t, tc.want, outcome)
			assert.Contains(t, reason, tc.reason)
			after := m.get(r.ID)
			assert.Equal(t, before.State, after.State)
			assert.Empty(t, after.Closed)
			if tc.line {
				assert.Equal(t, session.Rule("resume."+tc.want), lastLine(after).Rule)
			} else {
				assert.Equal(t, before.History, after.History)
			}
			for _, r := range m.store.List() {
				assert.Equal(t, uuid.Nil, r.TookOver)
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
		return m.change(r.ID, func(r *session.Record) { r.ClaudeSessionID = first.ClaudeSessionID })
	}
	second, old := same(m.lost(2*time.Hour)), same(m.lost(9*day))
	failed := m.change(same(m.lost(8*day)).ID, func(r *session.Record) { r.State = session.Failed })
	agent := m.atTheDesk(first.ClaudeSessionID)

	outcome, _ := m.hear(sessionStart(agent, first.ClaudeSessionID))
	assert.Equal(t, manySessions, outcome)
	assert.Equal(t, session.Abandoned, m.get(old.ID).State)
	assert.Equal(t, session.ClosedStale, m.get(old.ID).Closed)
	assert.Equal(t, "no sign of life for 9d (threshold 24h), newest: created_at 2026-02-23T12:00:00Z", lastLine(m.get(old.ID)).Why)
	assert.Equal(t, session.Failed, m.get(failed.ID).State)
	assert.Equal(t, session.ClosedStale, m.get(failed.ID).Closed)
	assert.Equal(t, session.Lost, m.get(second.ID).State)
	assert.Equal(t, session.Rule("resume.multiple_matching_prior_sessions"), lastLine(m.get(second.ID)).Rule)

	m.now = noon.Add(22*time.Hour + 30*time.Minute) // now the second one is stale too
	outcome, _ = m.hear(event(hookwire.UserPromptSubmit, agent, first.ClaudeSessionID))
	assert.Equal(t, sessionResumed, outcome)
	assert.Equal(t, session.Abandoned, m.get(second.ID).State)
	assert.Equal(t, session.ClosedTransferred, m.get(first.ID).Closed)
}

func TestAllThatCouldBeMeantAreStale(t *testing.T) {
	m := newMachine(t)
	first, second := m.lost(9*day), m.lost(8*day)
	m.change(second.ID, func(r *session.Record) { r.ClaudeSessionID = first.ClaudeSessionID })
	e := sessionStart(m.atTheDesk(first.ClaudeSessionID), first.ClaudeSessionID)
	outcome, _ := m.hear(e)
	assert.Equal(t, allStale, outcome)
	assert.Equal(t, session.Abandoned, m.get(first.ID).State)
	assert.Equal(t, session.Abandoned, m.get(second.ID).State)
	outcome, _ = m.hear(e)
	assert.Equal(t, noSession, outcome, "they do not count any more")
}

// cameBy is what the evidence says of a process that came to a conversation.
func (m *machine) cameBy(r session.Record, agent process.Identity) evidence.Writer {
	m.t.Helper()
	survey, err := m.Evidence.Survey(m.t.Context(), []session.Record{r})
	require.NoError(m.t, err)
	for _, w := range survey.Writers[r.ID] {
		if w.Identity == agent {
			return w
		}
	}
	require.Fail(m.t, "it does not write the conversation")
	return evidence.Writer{}
}

// The lifecycle finds who came by its presence file alone; what moves is not told
// as a second writer.
func TestP1_AnAgentWithoutHooksIsFoundByItsPresence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMachine(t)
		lost, archived := m.lost(time.Hour), m.lost(time.Hour)
		archived = m.change(archived.ID, func(r *session.Record) { r.State = session.Archived })
		agent := m.atTheDesk(lost.ClaudeSessionID)
		m.atTheDesk(archived.ClaudeSessionID)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { _ = m.service.Run(ctx) }()
		synctest.Wait() // it has looked at all processes
		cancel()
		synctest.Wait()
		target, ok := m.boundTo(arrival{agent: agent})
		require.True(t, ok)
		assert.Equal(t, lost.ID, target.TookOver)
		assert.Equal(t, session.Archived, m.get(archived.ID).State)
		ghosts := 0
		for _, kind := range m.told {
			if kind == "lifecycle.OtherWriters" {
				ghosts++
			}
		}
		assert.Equal(t, 1, ghosts, "of the archived one")
	})
}

func TestCameSaysWhatIsLeftToTell(t *testing.T) {
	tests := []struct {
		name   string
		change func(m *machine, r session.Record, agent process.Identity)
		want   bool
	}{
		{"moved", func(*machine, session.Record, process.Identity) {}, true},
		{"gone again", func(m *machine, _ session.Record, agent process.Identity) { m.processes.exit(agent.PID) }, true},
		{"ended on purpose", func(m *machine, r session.Record, _ process.Identity) {
			m.change(r.ID, func(r *session.Record) { r.State = session.Completed })
		}, false},
		{"several sessions", func(m *machine, r session.Record, _ process.Identity) {
			m.change(m.lost(time.Hour).ID, func(o *session.Record) { o.ClaudeSessionID = r.ClaudeSessionID })
		}, false},
		{"nested", func(m *machine, _ session.Record, agent process.Identity) {
			outer := m.atTheDesk(uuid.New())
			m.processes.change(agent.PID, func(p *process.Process) { p.PPID = outer.PID })
		}, false},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			m := newMachine(t)
			r := m.lost(time.Hour)
			agent := m.atTheDesk(r.ClaudeSessionID)
			came := m.cameBy(r, agent)
			tc.change(m, r, agent)
			assert.Equal(t, tc.want, m.Came(t.Context(), came))
		})
	}
}

// After a week off there are many events of processes that are gone: none of them
// has the records looked through.
func TestEventsOfWhatIsGoneAreCheap(t *testing.T) {
	m := newMachine(t)
	r := m.lost(time.Hour)
	m.Store = unlisted{m.store, t}
	outcome, _ := m.hear(sessionStart(writer(7).Identity, r.ClaudeSessionID))
	assert.Equal(t, agentGone, outcome)
}

type unlisted struct {
	*session.Store
	t *testing.T
}

func (u unlisted) Shared() []session.Record {
	u.t.Error("all records are listed")
	return nil
}
