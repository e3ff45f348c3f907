package lifecycle

import (
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"pgregory.net/rapid"

	"ccbot/internal/process"
	"ccbot/internal/session"
)

// ticks of the clock in these tests.
const (
	tBefore = 100 // before everything
	tSelf   = 200 // ccbot started
	tAsked  = 300
	tEnded  = 400
	tAfter  = 500
)

func momentAt(tick uint64) process.Moment { return process.Moment{Boot: boot, Tick: tick} }

func selfAt(tick uint64) process.Identity { return process.Identity{PID: me, Start: tick, Boot: boot} }

// agentAt is process 777, a claude that was started for the conversation.
func agentAt(start uint64, id uuid.UUID) process.Verdict {
	return process.Verdict{SessionID: id, Writer: process.Yes, Source: process.SourceArgv,
		Process: process.Process{Identity: process.Identity{PID: 777, Start: start, Boot: boot}, Args: []string{"claude", "--resume", id.String()}}}
}

func TestP2_StandingOf(t *testing.T) {
	id := uuid.New()
	who := agentAt(tBefore, id).Process.Identity
	bound := func(ids ...process.Identity) func(*session.Record) { return func(r *session.Record) { r.Bound = ids } }
	told := func(r *session.Record) { r.Seconds = []process.Identity{who} }
	ended := func(tick uint64) func(*session.Record) { return func(r *session.Record) { r.Ended = momentAt(tick) } }
	asked := func(tick uint64) func(*session.Record) { return func(r *session.Record) { r.Asked = momentAt(tick) } }
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
		self  uint64 // when ccbot started; 0: tSelf
		want  Standing
	}{
		{"the bound agent", session.Running, rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }}, nil, 0, Agent},
		{"the bound agent, whatever the evidence says", session.Running,
			rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }}, ver{answer(process.Maybe)}, 0, Agent},
		{"the bound agent of a cleanup that failed", session.CleanupFailed,
			rec{func(r *session.Record) { r.Binding = &session.Binding{Agent: who} }, bound(who), ended(tEnded)}, nil, 0, Agent},
		{"an agent that was bound earlier", session.Archived, rec{bound(who), ended(tEnded)}, nil, 0, Leftover},
		{"one that was bound earlier and does not say what it is", session.Archived, rec{bound(who)}, ver{args("claude")}, 0, Leftover},
		{"one that was bound earlier, unclear", session.Archived, rec{bound(who), ended(tEnded)}, ver{answer(process.Maybe)}, 0, Leftover},
		{"one that was bound earlier and told", session.CleanupFailed, rec{bound(who), told, ended(tEnded)}, nil, 0, Leftover},
		{"the same pid, another start, was bound", session.Archived, rec{bound(who), ended(tEnded)}, ver{startedAt(tAfter)}, 0, Second},
		{"unclear", session.Archived, rec{ended(tEnded)}, ver{answer(process.Maybe)}, 0, Unclear},
		{"unclear and told", session.Archived, rec{told, ended(tEnded)}, ver{answer(process.Maybe)}, 0, Unclear},

		{"beside the running agent", session.Running, nil, nil, 0, Leftover},
		{"beside the running agent, told", session.Running, rec{told}, nil, 0, Second},
		{"came to it through /resume", session.Running, nil, ver{args("claude")}, 0, Second},
		{"came to it from another session", session.Running, nil, ver{args("claude", "--resume", uuid.NewString())}, 0, Second},
		{"a fork of it", session.Running, nil, ver{args("claude", "--resume", id.String(), "--fork-session")}, 0, Second},

		{"archived: started before", session.Archived, rec{ended(tEnded)}, nil, 0, Leftover},
		{"archived: started before, told", session.Archived, rec{ended(tEnded), told}, nil, 0, Second},
		{"archived: a tick before", session.Archived, rec{ended(tEnded)}, ver{startedAt(tEnded - 1)}, 0, Leftover},
		{"archived: in the same tick", session.Archived, rec{ended(tEnded)}, ver{startedAt(tEnded)}, 0, Second},
		{"archived: after", session.Archived, rec{ended(tEnded)}, ver{startedAt(tAfter)}, 0, Second},
		{"archived: nobody knows when", session.Archived, nil, nil, 0, Second},
		{"archived before a reboot", session.Archived, rec{func(r *session.Record) { r.Ended = process.Moment{Boot: "other", Tick: tAfter} }}, nil, 0, Second},
		{"completed", session.Completed, rec{ended(tEnded)}, ver{startedAt(tAfter)}, 0, Second},
		{"lost", session.Lost, rec{ended(tEnded)}, ver{startedAt(tAfter)}, 0, Second},
		{"failed", session.Failed, rec{ended(tEnded)}, nil, 0, Leftover},

		{"stopping: before it was asked for", session.Stopping, rec{asked(tAsked)}, nil, 0, Leftover},
		{"stopping: after it was asked for", session.Stopping, rec{asked(tAsked)}, ver{startedAt(tAfter)}, 0, Leftover},
		{"taken up after a restart: before it was asked for", session.Stopping, rec{asked(tAsked)}, nil, tEnded, Leftover},
		{"taken up after a restart: after it was asked for", session.Stopping, rec{asked(tAsked)}, ver{startedAt(tAsked)}, tEnded, Second},
		{"taken up after a restart: nobody knows when", session.Stopping, nil, nil, tEnded, Second},
		{"another try: before the first", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, nil, 0, Leftover},
		{"another try: after the first", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, ver{startedAt(tEnded)}, 0, Second},
		{"another try after a restart", session.Stopping, rec{failed, ended(tEnded), asked(tAfter)}, ver{startedAt(tEnded)}, tAfter, Second},
		{"cleanup failed: before", session.CleanupFailed, rec{failed, ended(tEnded)}, nil, 0, Leftover},
		{"cleanup failed: after", session.CleanupFailed, rec{failed, ended(tEnded)}, ver{startedAt(tAfter)}, 0, Second},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			r := session.Record{ID: uuid.New(), State: tc.state, ClaudeSessionID: id}
			for _, change := range tc.r {
				change(&r)
			}
			v := agentAt(tBefore, id)
			for _, change := range tc.v {
				change(&v)
			}
			assert.Equal(t, tc.want, standingOf(r, v, selfAt(max(tc.self, tSelf))))
		})
	}
}

// anyTick is near the moments that decide, on both sides.
func anyTick(t *rapid.T, label string) uint64 {
	return rapid.SampledFrom([]uint64{0, tBefore, tSelf, tAsked - 1, tAsked, tAsked + 1, tEnded - 1, tEnded, tEnded + 1, tAfter}).Draw(t, label)
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

// Whatever the record and the process: nobody's leftover is who was told, came
// later or through /resume, unless the record bound it; what is not proven is
// not ended at all.
func TestP2_OnlyTheSessionsOwnAreLeftovers(t *testing.T) {
	id, other := uuid.New(), uuid.New()
	rapid.Check(t, func(t *rapid.T) {
		r := session.Record{State: rapid.SampledFrom(session.States()).Draw(t, "state"), ClaudeSessionID: id,
			Bound: someIdentities(t, "bound"), Seconds: someIdentities(t, "told"),
			Asked: anyMoment(t, "asked"), Ended: anyMoment(t, "ended")}
		if rapid.Bool().Draw(t, "is bound") {
			r.Binding = &session.Binding{Agent: anyIdentity(t, "agent")}
		}
		if rapid.Bool().Draw(t, "is another try") {
			r.Cleanup = &session.CleanupError{}
		}
		named := rapid.SampledFrom([]uuid.UUID{id, id, other}).Draw(t, "on the command line")
		v := process.Verdict{SessionID: id, Writer: rapid.SampledFrom([]process.Answer{process.Yes, process.Maybe}).Draw(t, "writes"),
			Process: process.Process{Identity: anyIdentity(t, "process"), Args: []string{"claude", "--resume", named.String()}}}
		self := selfAt(anyTick(t, "self"))
		who := v.Process.Identity

		standing := standingOf(r, v, self)
		if r.Binding != nil && r.Binding.Agent == who {
			assert.Equal(t, Agent, standing)
			return
		}
		if slices.Contains(r.Bound, who) {
			assert.Equal(t, Leftover, standing)
			return
		}
		assert.NotEqual(t, Agent, standing)
		assert.Equal(t, v.Writer != process.Yes, standing == Unclear)
		if standing == Leftover {
			assert.NotContains(t, r.Seconds, who, "it was told")
			assert.Equal(t, id, named, "it came later, in the process")
			if !r.State.Live() {
				assert.Equal(t, process.No, who.StartedAfter(r.Ended), "it came after the end")
			}
			if r.State == session.Stopping && r.Cleanup != nil {
				assert.Equal(t, process.No, who.StartedAfter(r.Ended), "it came after the first try")
			}
			if r.State == session.Stopping && r.Cleanup == nil && self.StartedAfter(r.Asked) != process.No {
				assert.Equal(t, process.No, who.StartedAfter(r.Asked), "it came while ccbot was away")
			}
		}
	})
}
