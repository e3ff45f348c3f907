package lifecycle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"ccbot/internal/process"
	"ccbot/internal/session"
	"ccbot/lifecycle/evidence"
)

func TestOutcomes(t *testing.T) {
	ended := func(how process.How) process.Outcome { return process.Outcome{How: how, Ended: true, Verified: true} }
	tests := []struct {
		name string
		out  process.Outcome
		err  error
		want string
	}{
		{"a hang-up was enough", ended(process.HowHangUp), nil, "hup"},
		{"after TERM", ended(process.HowTerm), nil, "term"},
		{"after KILL", ended(process.HowKill), nil, "kill"},
		{"it had ended before", ended(process.HowAlreadyGone), nil, ""},
		{"it survived", process.Outcome{How: process.HowKill}, process.ErrSurvived, "failed"},
		{"its end is not verified", process.Outcome{How: process.HowTerm, Ended: true}, nil, "failed"},
		{"it could not be read", process.Outcome{Spared: "it cannot be read", Reason: process.ReasonUnreadable}, assert.AnError, "failed"},
		{"nothing is known", process.Outcome{}, nil, "failed"},
		{"it is another's", process.Outcome{Spared: "it is another agent", Reason: evidence.ReasonOtherAgent}, nil, "spared"},
		{"it was protected from some step on", process.Outcome{How: process.HowTerm, Spared: "it is another agent"}, nil, "spared"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) { assert.Equal(t, tt.want, outcomeOf(tt.out, tt.err)) })
	}
}

// Each process is counted once: the agent of /kill, and what a retry ends after it has survived.
func TestOutcomesAreCounted(t *testing.T) {
	inWorld(t, func(t *testing.T, w *world) {
		var counted []string
		w.deps.Hears.Outcome = func(what string) { counted = append(counted, what) }
		r, _ := w.started()
		w.archive(r)
		assert.Equal(t, []string{"hup"}, counted)
		r, _ = w.started()
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Completed, Cause{Why: "done"}))
		assert.Equal(t, []string{"hup", "hup"}, counted)
	})
	inWorld(t, func(t *testing.T, w *world) {
		var counted []string
		w.deps.Hears.Outcome = func(what string) { counted = append(counted, what) }
		r, a := w.survived()
		assert.NotContains(t, w.logged(), "leftover_spared", "it was not left alone on purpose")
		counted = nil
		require.NoError(t, w.Archive(w.ctx, r.ID, session.Archived, Cause{Why: "again"}))
		assert.Equal(t, []string{"failed"}, counted)
		w.processes.exit(a.id.PID)
		w.pass(RetryMost)
		assert.Equal(t, []string{"failed"}, counted, "what had ended before is not counted")
	})
}
