package lifecycle

import (
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/agent/claude/presence"
	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

func TestP9_AgentAboveIsNearest(t *testing.T) {
	at := func(pid int, start uint64) process.Process {
		return process.Process{Identity: process.Identity{PID: pid, Start: start, Boot: boot}}
	}
	hook, sh, init := at(901, 91), at(902, 92), at(1, 1)
	nested := at(903, 93)
	ours := func(a *agent) process.Process { return process.Process{Identity: a.id} }
	tests := []struct {
		name  string
		world func(w *world, r session.Record, a *agent)
		chain func(a *agent) []process.Process
		found bool
		ours  bool // it is the session's
		agent func(a *agent) process.Identity
		fails bool
	}{
		{"our own agent", nil, func(a *agent) []process.Process { return []process.Process{hook, ours(a), init} }, true, true, nil, false},
		{"our own agent, two levels up", nil, func(a *agent) []process.Process { return []process.Process{hook, sh, ours(a), init} }, true, true, nil, false},
		{"the agent itself", nil, func(a *agent) []process.Process { return []process.Process{ours(a)} }, true, true, nil, false},
		{"our own agent without a presence file", func(_ *world, _ session.Record, a *agent) {
			a.set(func(a *agent) { a.silent = true })
		}, func(a *agent) []process.Process { return []process.Process{hook, ours(a)} }, true, true, nil, false},
		{"no agent", nil, func(*agent) []process.Process { return []process.Process{hook, sh, init} }, false, false, nil, false},
		{"an empty chain", nil, func(*agent) []process.Process { return nil }, false, false, nil, false},
		{"a nested agent of no record", func(w *world, _ session.Record, _ *agent) {
			w.presences.claim(presence.File{PID: nested.PID, ProcStart: nested.Start, SessionID: uuid.New()})
		}, func(a *agent) []process.Process { return []process.Process{hook, nested, sh, ours(a)} }, true, false,
			func(*agent) process.Identity { return nested.Identity }, false},
		{"a claude that is nobody's here", nil, func(a *agent) []process.Process { return []process.Process{hook, nested, sh, ours(a)} }, true, true, nil, false},
		{"a recycled pid", func(w *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.silent = true }) }, func(a *agent) []process.Process {
			return []process.Process{hook, at(a.id.PID, a.id.Start+1), init}
		}, false, false, nil, false},
		{"another boot", func(w *world, _ session.Record, a *agent) { a.set(func(a *agent) { a.silent = true }) }, func(a *agent) []process.Process {
			other := ours(a)
			other.Boot = "another"
			return []process.Process{hook, other, init}
		}, false, false, nil, false},
		{"a presence file of another start", func(w *world, _ session.Record, _ *agent) {
			w.presences.claim(presence.File{PID: nested.PID, ProcStart: nested.Start - 1, SessionID: uuid.New()})
		}, func(*agent) []process.Process { return []process.Process{hook, nested, init} }, false, false, nil, false},
		{"a presence file that names no start", func(w *world, _ session.Record, _ *agent) {
			w.presences.claim(presence.File{PID: nested.PID, SessionID: uuid.New()})
		}, func(*agent) []process.Process { return []process.Process{hook, nested, init} }, false, false, nil, false},
		{"the agent of a session that is over", func(w *world, r session.Record, _ *agent) {
			w.edit(r.ID, func(r *session.Record) { r.State = session.Lost })
		}, func(a *agent) []process.Process { return []process.Process{hook, ours(a), init} }, true, false,
			func(a *agent) process.Identity { return a.id }, false},
		{"the agent of a session that is not cleaned up", func(w *world, r session.Record, a *agent) {
			w.edit(r.ID, func(r *session.Record) { r.State = session.CleanupFailed })
			a.set(func(a *agent) { a.silent = true })
		}, func(a *agent) []process.Process { return []process.Process{hook, ours(a), init} }, true, true,
			func(a *agent) process.Identity { return a.id }, false},
		{"a presence file that cannot be read", func(w *world, r session.Record, a *agent) {
			w.edit(r.ID, func(r *session.Record) { r.State = session.Lost })
			a.set(func(a *agent) { a.unreadable = presence.ErrTorn })
		}, func(a *agent) []process.Process { return []process.Process{hook, ours(a), init} }, false, false, nil, true},
	}
	for _, tc := range tests {
		t.Run(tc.name, func(t *testing.T) {
			inWorld(t, func(t *testing.T, w *world) {
				r, a := w.started()
				w.stop()
				if tc.world != nil {
					tc.world(w, r, a)
				}
				above, err := w.Evidence.AgentAbove(w.ctx, tc.chain(a))
				if tc.fails {
					require.Error(t, err)
					assert.Equal(t, evidence.Above{}, above)
					return
				}
				require.NoError(t, err)
				want := evidence.Above{Found: tc.found}
				if tc.ours {
					want.Session, want.Agent, want.Hook = r.ID, a.id, hookDigest
				}
				if tc.agent != nil {
					want.Agent = tc.agent(a)
				}
				assert.Equal(t, want, above)
			})
		})
	}
}
