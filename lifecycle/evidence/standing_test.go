package evidence

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/agent/claude"
	"ccbot/internal/process"
	"ccbot/internal/session"
)

// ticks of the clock in these tests.
const (
	tBefore = 100 // before everything
	tAsked  = 300
	tEnded  = 400
	tAfter  = 500
)

const boot = "8d6c7a52-0000-4000-8000-000000000001"

func momentAt(tick uint64) process.Moment { return process.Moment{Boot: boot, Tick: tick} }

// agentAt is process 777, a claude that was started for the conversation.
func agentAt(start uint64, id uuid.UUID) process.Verdict {
	return process.Verdict{SessionID: id, Writer: process.Yes, Source: process.SourceArgv,
		Process: process.Process{Identity: process.Identity{PID: 777, Start: start, Boot: boot}, Args: []string{"claude", "--resume", id.String()}}}
}

func TestP2_StandingOf(t *testing.T) {
	id := uuid.New()
	who := agentAt(tBefore, id).Process.Identity
	elsewhere := who
	elsewhere.Boot += "-3b9aca00"
	bound := func(ids ...process.Identity) func(*session.Record) { return func(r *session.Record) { r.Bound = ids } }
	told := func(r *session.Record) { r.SecondWriters = []process.Identity{who} }
	ended := func(tick uint64) func(*session.Record) {
		return func(r *session.Record) { r.EndedMoment = momentAt(tick) }
	}
	asked := func(tick uint64) func(*session.Record) {
		return func(r *session.Record) { r.RequestedMoment = momentAt(tick) }
	}
	since := func(tick uint64) func(*session.Record) {
		return func(r *session.Record) { r.SinceMoment = momentAt(tick) }
	}
	failed := func(r *session.Record) { r.Cleanup = &session.CleanupError{} }
	startedAt := func(tick uint64) func(*process.Verdict) {
		return func(v *process.Verdict) { v.Process.Start = tick }
	}
	args := func(line ...string) func(*process.Verdict) {
		return func(v *process.Verdict) { v.Process.Args = line }
	}
	answer := func(a process.Answer) func(*process.Verdict) { return func(v *process.Verdict) { v.Writer = a } }
	type rec = []func(*session.Record)
	type ver = []func(*process.Verdict)
	tests := []struct {
		name  string
		state session.State
		r     rec
		v     ver
		want  Standing
	}{
		{"the bound agent", session.Running, rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }}, nil, Agent},
		{"the bound agent, noted by another clock", session.Running,
			rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: elsewhere} }}, nil, Unclear},
		{"bound before, noted by another clock", session.Running, rec{bound(elsewhere)}, nil, Unclear},
		{"told, noted by another clock", session.Running, rec{func(r *session.Record) { r.SecondWriters = []process.Identity{elsewhere} }}, nil, Unclear},
		{"since a moment of another clock", session.Running,
			rec{func(r *session.Record) { r.SinceMoment = process.Moment{Boot: elsewhere.Boot, Tick: tBefore} }}, nil, Unclear},
		{"the bound agent, whatever the evidence says", session.Running,
			rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }}, ver{answer(process.Maybe)}, Agent},
		{"the bound agent of a cleanup that failed", session.CleanupFailed,
			rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }, bound(who), ended(tEnded)}, nil, Agent},
		{"an agent that was bound earlier", session.Archived, rec{bound(who), ended(tEnded)}, nil, Leftover},
		{"one that was bound earlier and does not say what it is", session.Archived, rec{bound(who)}, ver{args("claude")}, Leftover},
		{"one that was bound earlier, unclear", session.Archived, rec{bound(who), ended(tEnded)}, ver{answer(process.Maybe)}, Leftover},
		{"one that was bound earlier and told", session.CleanupFailed, rec{bound(who), told, ended(tEnded)}, nil, Leftover},
		{"one that was bound when the session was given up", session.Abandoned, rec{bound(who), ended(tEnded)}, nil, Second},
		{"one that was bound then, unclear", session.Abandoned, rec{bound(who), ended(tEnded)}, ver{answer(process.Maybe)}, Unclear},
		{"the same pid, another start, was bound", session.Archived, rec{bound(who), ended(tEnded)}, ver{startedAt(tAfter)}, Second},
		{"unclear", session.Archived, rec{ended(tEnded)}, ver{answer(process.Maybe)}, Unclear},
		{"unclear and told", session.Archived, rec{told, ended(tEnded)}, ver{answer(process.Maybe)}, Unclear},

		{"beside the running agent", session.Running, nil, nil, Leftover},
		{"beside the running agent, told", session.Running, rec{told}, nil, Second},
		{"came to it through /resume", session.Running, nil, ver{args("claude")}, Second},
		{"came to it from another session", session.Running, nil, ver{args("claude", "--resume", uuid.NewString())}, Second},
		{"a fork of it", session.Running, nil, ver{args("claude", "--resume", id.String(), "--fork-session")}, Second},

		{"archived: started before", session.Archived, rec{ended(tEnded)}, nil, Leftover},
		{"archived: started before, told", session.Archived, rec{ended(tEnded), told}, nil, Second},
		{"archived: a tick before", session.Archived, rec{ended(tEnded)}, ver{startedAt(tEnded - 1)}, Leftover},
		{"archived: in the same tick", session.Archived, rec{ended(tEnded)}, ver{startedAt(tEnded)}, Second},
		{"archived: after", session.Archived, rec{ended(tEnded)}, ver{startedAt(tAfter)}, Second},
		{"archived: nobody knows when", session.Archived, nil, nil, Second},
		{"archived before a reboot", session.Archived, rec{func(r *session.Record) { r.EndedMoment = process.Moment{Boot: "other", Tick: tAfter} }}, nil, Second},
		{"completed", session.Completed, rec{ended(tEnded)}, ver{startedAt(tAfter)}, Second},
		{"lost", session.Lost, rec{ended(tEnded)}, ver{startedAt(tAfter)}, Second},
		{"failed", session.Failed, rec{ended(tEnded)}, nil, Leftover},

		{"stopping: before it was asked for", session.Stopping, rec{asked(tAsked)}, nil, Leftover},
		{"stopping: after it was asked for", session.Stopping, rec{asked(tAsked)}, ver{startedAt(tAfter)}, Second},
		{"stopping: nobody knows when", session.Stopping, nil, nil, Second},
		{"was there before the session came to it", session.Running, rec{since(tAsked)}, nil, Second},
		{"came after the session had it", session.Running, rec{since(tAsked)}, ver{startedAt(tAfter)}, Leftover},
		{"another try: before the first", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, nil, Leftover},
		{"another try: after the first", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, ver{startedAt(tEnded)}, Second},
		{"another try after a restart", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, ver{startedAt(tEnded)}, Second},
		{"cleanup failed: before", session.CleanupFailed, rec{failed, ended(tEnded)}, nil, Leftover},
		{"cleanup failed: after", session.CleanupFailed, rec{failed, ended(tEnded)}, ver{startedAt(tAfter)}, Second},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := session.Record{ID: uuid.New(), State: tc.state, AgentSessionID: id}
			for _, change := range tc.r {
				change(&r)
			}
			v := agentAt(tBefore, id)
			for _, change := range tc.v {
				change(&v)
			}
			v.Named = process.AgentNames{Conversations: claude.Witness{}.Conversations}.StartedFor(v.Process, v.SessionID)
			assert.Equal(t, tc.want, StandingOf(r, v))
		})
	}
}

// anyTick is near the moments that decide, on both sides.
func anyTick(t *rapid.T, label string) uint64 {
	return rapid.SampledFrom([]uint64{0, tBefore, tAsked - 1, tAsked, tAsked + 1, tEnded - 1, tEnded, tEnded + 1, tAfter}).Draw(t, label)
}

func anyMoment(t *rapid.T, label string) process.Moment {
	return process.Moment{Boot: rapid.SampledFrom([]string{boot, boot, "other", ""}).Draw(t, label+" boot"), Tick: anyTick(t, label)}
}

func anyIdentity(t *rapid.T, label string) process.Identity {
	return process.Identity{PID: rapid.IntRange(1, 4).Draw(t, label+" pid"), Start: anyTick(t, label+" start"), Boot: boot}
}

func someIdentities(t *rapid.T, label string) []process.Identity {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) process.Identity { return anyIdentity(t, label) }), 0, 3).Draw(t, label)
}

// For any record and process: a process that was reported, came later or came through /resume is
// not a leftover, unless the record bound it; an unproven process is not ended.
func TestP2_OnlyTheSessionsOwnAreLeftovers(t *testing.T) {
	id, other := uuid.New(), uuid.New()
	rapid.Check(t, func(t *rapid.T) {
		r := session.Record{State: rapid.SampledFrom(session.States()).Draw(t, "state"), AgentSessionID: id,
			Bound: someIdentities(t, "bound"), SecondWriters: someIdentities(t, "told"),
			LastEnd: session.LastEnd{RequestedMoment: anyMoment(t, "asked"), EndedMoment: anyMoment(t, "ended")}, SinceMoment: anyMoment(t, "since")}
		if rapid.Bool().Draw(t, "is bound") {
			r.Binding = &session.Binding{Agent: anyIdentity(t, "agent")}
		}
		if rapid.Bool().Draw(t, "is another try") {
			r.Cleanup = &session.CleanupError{}
		}
		named := rapid.SampledFrom([]uuid.UUID{id, id, other}).Draw(t, "on the command line")
		v := process.Verdict{SessionID: id, Named: named == id, Writer: rapid.SampledFrom([]process.Answer{process.Yes, process.Maybe}).Draw(t, "writes"),
			Process: process.Process{Identity: anyIdentity(t, "process"), Args: []string{"claude", "--resume", named.String()}}}
		who := v.Process.Identity

		standing := StandingOf(r, v)
		if r.Binding != nil && r.Binding.Agent == who {
			assert.Equal(t, Agent, standing)
			return
		}
		if slices.Contains(r.Bound, who) {
			assert.Equal(t, r.State != session.Abandoned, standing == Leftover)
			return
		}
		assert.NotEqual(t, Agent, standing)
		assert.Equal(t, v.Writer != process.Yes, standing == Unclear)
		if standing == Leftover {
			assert.NotContains(t, r.SecondWriters, who, "it was told")
			assert.Equal(t, id, named, "it came later, in the process")
			if !r.State.Live() {
				assert.Equal(t, process.No, who.StartedAfter(r.EndedMoment), "it came after the end")
			}
			if r.State == session.Stopping && r.Cleanup != nil {
				assert.Equal(t, process.No, who.StartedAfter(r.EndedMoment), "it came after the first try")
			}
			if r.State == session.Stopping && r.Cleanup == nil {
				assert.Equal(t, process.No, who.StartedAfter(r.RequestedMoment), "it came after the end was asked for")
			}
			assert.NotEqual(t, process.No, who.StartedAfter(r.SinceMoment), "it was there before the session")
		}
	})
}
